// What `npm run bench -- --against FILE` calls worse, with made-up results; and that
// docs/performance.md shows what was measured.
import { describe, expect, it } from 'vitest';
import {
  missedGoals,
  notMeasured,
  type Run,
  whatGotWorse,
} from '../../bench/support/comparison.ts';
import type { Result } from '../../bench/support/results.ts';
import { fillIn } from '../../scripts/describe-figures.ts';

const ratio = (median: number, spread = 0.1, changes: Partial<Result> = {}): Result => ({
  ...{ bench: 'accept', what: 'sends : INSERTs', unit: '×', better: 'higher', goal: null },
  ...{ median, low: median - spread, high: median + spread },
  ...changes,
});

const run = (results: Result[], machine = '2 × a core'): Run => ({
  ...{ at: '2026-11-17T00:00:00.000Z', version: '0.1.0', commit: 'abc1234', node: 'v24.0.0' },
  ...{ machine, results },
});

const worse = (then: Result[], now: Result[]) => whatGotWorse(run(then), run(now));

describe('beside an earlier run', () => {
  it('nothing is worse when nothing changed, or when it got better', () => {
    expect(worse([ratio(1)], [ratio(1)])).toEqual([]);
    expect(worse([ratio(1)], [ratio(2)])).toEqual([]);
  });

  it('a figure whose best round is below the worst of then is worse, and is named', () => {
    expect(worse([ratio(1)], [ratio(0.7)])).toEqual([
      'accept, sends : INSERTs: 0.70 (0.60–0.80) ×, was 1.00 (0.90–1.10) ×',
    ]);
  });

  it('what lies within the rounds of then is noise', () => {
    expect(worse([ratio(1, 0.3)], [ratio(0.7, 0.1)])).toEqual([]);
  });

  it('steady rounds are not worse by a hair', () => {
    expect(worse([ratio(1, 0.001)], [ratio(0.97, 0.001)])).toEqual([]);
    expect(worse([ratio(1, 0.001)], [ratio(0.94, 0.001)])).toHaveLength(1);
  });

  it('of what should be low, more is worse', () => {
    const seconds = { better: 'lower', unit: 's' } as const;
    expect(worse([ratio(1, 0.1, seconds)], [ratio(2, 0.1, seconds)])).toHaveLength(1);
    expect(worse([ratio(2, 0.1, seconds)], [ratio(1, 0.1, seconds)])).toEqual([]);
  });

  it('a figure that was taken once must be worse by a quarter', () => {
    expect(worse([ratio(1, 0)], [ratio(0.8, 0)])).toEqual([]);
    expect(worse([ratio(1, 0)], [ratio(0.7, 0)])).toHaveLength(1);
  });

  it('a figure that is no longer there is named too, and a new one is not', () => {
    expect(worse([ratio(1)], [])).toEqual([
      'accept, sends : INSERTs: no longer measured, was 1.00 (0.90–1.10) ×',
    ]);
    expect(worse([], [ratio(1)])).toEqual([]);
  });

  it('what this machine cannot measure is not worse; what vanished beside it is', () => {
    const byPgbench = ratio(1, 0.1, { what: 'timelines : the same query by pgbench' });
    const pages = ratio(1, 0.1, { bench: 'pages', what: 'the slowest page' });
    const before = run([ratio(1), byPgbench, pages]);
    const now: Run = {
      ...run([]),
      skipped: [
        { bench: 'accept', figures: 'by pgbench', why: 'pgbench is not installed' },
        { bench: 'pages', figures: null, why: 'there is no browser' },
        { bench: 'citus', figures: null, why: 'there is no Citus' },
      ],
    };
    expect(whatGotWorse(before, now)).toEqual([
      expect.stringContaining('accept, sends : INSERTs: no longer measured'),
    ]);
    expect(notMeasured(before, now)).toEqual([
      'accept, by pgbench: pgbench is not installed',
      'pages: there is no browser',
    ]);
  });

  it('of some benchmarks, the others are not missed', () => {
    const other = ratio(1, 0.1, { bench: 'smtp' });
    expect(whatGotWorse(run([ratio(1), other]), run([ratio(1)]), ['accept'])).toEqual([]);
    expect(whatGotWorse(run([ratio(1), other]), run([]), ['accept'])).toHaveLength(1);
  });

  it('the same figure of two benchmarks is two figures', () => {
    const other = { bench: 'smtp' };
    expect(worse([ratio(1), ratio(3, 0.1, other)], [ratio(1), ratio(1, 0.1, other)])).toHaveLength(
      1,
    );
  });

  it('on another machine only ratios are compared', () => {
    const then = [ratio(1), ratio(1, 0.1, { what: 'start', unit: 's', better: 'lower' })];
    const now = [ratio(0.5), ratio(9, 0.1, { what: 'start', unit: 's', better: 'lower' })];
    expect(whatGotWorse(run(then), run(now))).toHaveLength(2);
    expect(whatGotWorse(run(then), run(now, '64 × another'))).toEqual([
      expect.stringContaining('sends : INSERTs'),
    ]);
  });
});

it('a goal that was missed is named with what was reached', () => {
  const memory = { what: 'memory', unit: 'MB', better: 'lower', goal: 140 } as const;
  const results = [ratio(0.9, 0.1, { goal: 1 }), ratio(150, 0, memory), ratio(1, 0, { goal: 1 })];
  expect(missedGoals(run(results))).toEqual([
    'accept, sends : INSERTs: 0.90 (0.80–1.00) ×, goal ≥ 1',
    'accept, memory: 150 MB, goal ≤ 140',
  ]);
});

describe('the page about performance', () => {
  const page =
    '# Figures\n\n<!-- accept: made by npm run generate -->\nold\n<!-- end -->\n\nWhy.\n';

  it('shows the figures of the run, and what is missed', () => {
    expect(fillIn(page, run([ratio(0.9, 0.1, { goal: 1 })]), ['accept'])).toBe(
      `# Figures

<!-- accept: made by npm run generate -->
| figure | median | range | goal |
| --- | --- | --- | --- |
| sends : INSERTs | 0.90 × | 0.80–1.00 | ≥ 1, **missed** |
<!-- end -->

Why.
`,
    );
  });

  it('says so where nothing was measured', () => {
    expect(fillIn(page, undefined, ['accept'])).toContain('Not measured yet');
  });

  it('shows a long run under the last of all, with its own date', () => {
    const long = { ...run([ratio(0.8)]), at: '2026-10-01T00:00:00.000Z', commit: 'def5678' };
    const shown = fillIn(page, { ...run([ratio(0.9)]), long: { accept: long } }, ['accept']);
    expect(shown).toMatch(/0\.90 ×.+--long accept`. Measured 2026-10-01.+def5678.+0\.80 ×/s);
  });

  it('shows how long each benchmark took, and all of them', () => {
    const times = '<!-- all: made by npm run generate -->\n<!-- end -->\n';
    const all = ratio(950, 0, { bench: 'all', unit: 's', better: 'lower', goal: 900 });
    const measured = { ...run([all]), seconds: { accept: 45, smtp: 28 } };
    expect(fillIn(times, measured, [])).toContain('| accept | 45 s |  |');
    expect(fillIn(times, measured, [])).toContain('| all | 950 s | ≤ 900, **missed** |');
  });

  it('must explain every benchmark', () => {
    expect(() => fillIn(page, undefined, ['accept', 'drain'])).toThrow(/benchmark drain/);
  });
});
