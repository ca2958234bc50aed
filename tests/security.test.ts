// SECURITY.md names a test for every threat, and each of these tests exists.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';

const ROOT = join(import.meta.dirname, '..');
const threats = readFileSync(join(ROOT, 'SECURITY.md'), 'utf8')
  .split('\n')
  .filter((line) => line.startsWith('|'))
  .map((line) => line.split('|').slice(1, -1))
  .map((cells) => cells.map((cell) => cell.trim()))
  .filter(([threat]) => threat !== 'threat' && !/^-+$/.test(threat ?? ''));

it('lists threats', () => expect(threats.length).toBeGreaterThan(60));

it.each(threats)('%s', (...cells) => {
  expect(cells).toHaveLength(3);
  const tests = [...cells[2]!.matchAll(/`([^`]+)`/g)].map(([, name]) => name!);
  expect(tests.length).toBeGreaterThan(0);
  const missing = tests.filter((name) => !existsSync(join(ROOT, 'tests', `${name}.test.ts`)));
  expect(missing).toEqual([]);
});
