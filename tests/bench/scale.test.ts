// The capacity in docs/scale.md: measured figures are shown as they are, the rest is calculated
// from them.
import { expect, it } from 'vitest';
import type { Run } from '../../bench/support/comparison.ts';
import { COSTS } from '../../bench/support/scale.ts';
import { fillInCapacity } from '../../scripts/describe-scale.ts';

const place = (name: string) => `<!-- ${name}: made by npm run generate -->\n<!-- end -->\n`;
const PAGE = ['measured', 'carried', 'needed'].map(place).join('\n');

it('computes what nodes carry, and what so many emails a day need', () => {
  const page = fillInCapacity(PAGE, runWith(Object.values(COSTS)));
  expect(page).toContain('| CPU of the servers with the data | 1,000 µs | 1,000 µs |');
  // 16 cores, busy to 60 %, 1 ms each; a third of that on average.
  expect(page).toContain('| 1 | 9,600 | 280 million | 16 | 9.6 |');
  expect(page).toContain('| 64 | 610,000 | 18,000 million |');
  expect(page).toContain('| emails a second, at the peak | 350 | 3,500 | 35,000 |');
  // 1,000 bytes for 30 days and 1,000 for 90.
  expect(page).toContain('| stored, all nodes | 1.2 TB | 12 TB | 120 TB |');
});

it('says so where nothing was measured', () => {
  expect(fillInCapacity(PAGE, undefined)).toContain('Not measured yet');
  expect(fillInCapacity(PAGE, runWith([COSTS.service]))).toContain('Not measured yet');
});

const runWith = (measured: readonly string[]): Run => ({
  ...{ at: '2026-11-17T00:00:00.000Z', version: '0.1.0', commit: 'abc', node: 'v20', machine: 'm' },
  results: measured.map((what) => ({
    ...{ bench: 'citus', what, median: 1000, low: 1000, high: 1000 },
    ...{ unit: 'µs', better: 'lower', goal: null },
  })),
});
