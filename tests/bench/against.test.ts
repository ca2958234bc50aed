// `npm run bench -- --against FILE`, over a benchmark that really runs: the comparison of template
// engines with a template of one line. What an earlier run found is made up.
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, describe, expect, it } from 'vitest';
import type { Run } from '../../bench/support/comparison.ts';
import type { Result } from '../../bench/support/results.ts';

const folder = mkdtempSync(join(tmpdir(), 'sandmartin-against-'));
afterAll(() => rmSync(folder, { recursive: true }));

const RATIO = '1 lines, ours : nunjucks';
const PYTHON = '1 lines, ours : CPython Jinja2';

describe('beside an earlier run', () => {
  it.concurrent('code 1, and what got worse or vanished is named', async () => {
    const { code, said } = await benchAgainst({ [RATIO]: 1000, 'ours : Mustache': 1 }, 'jinja');
    expect(said).toMatch(/worse: jinja, 1 lines, ours : nunjucks: [\d.]+ ×, was 1000 ×/);
    expect(said).toContain('worse: jinja, ours : Mustache: no longer measured, was 1.00 ×');
    expect(code).toBe(1);
  });

  it.concurrent('code 0 if nothing did, even where this machine has no Python', async () => {
    const bare = { PATH: join(folder, 'nothing') };
    const { code, said } = await benchAgainst({ [RATIO]: 0.001, [PYTHON]: 1 }, 'jinja', bare);
    expect(said).toContain('not measured: jinja, CPython Jinja2: python3 has no Jinja2');
    expect(said).toContain('Nothing got worse beyond noise.');
    expect(code).toBe(0);
  });

  it.concurrent('a benchmark that does not exist is refused', async () => {
    const { code, said } = await benchAgainst({}, 'jinjer');
    expect(said).toContain('There is no benchmark "jinjer".');
    expect(code).toBe(1);
  });
});

/** A run that found these ratios of jinja, and one of a benchmark that is not asked for. */
function earlier(ratios: Record<string, number>): Run {
  const result = (bench: string, what: string, median: number): Result => ({
    ...{ bench, what, median, low: median, high: median },
    ...{ unit: '×', better: 'higher', goal: null },
  });
  return {
    ...{ at: '2026-11-17T00:00:00.000Z', version: '0.1.0', commit: 'abc1234', node: 'v24.0.0' },
    machine: 'another',
    results: [
      ...Object.entries(ratios).map(([what, median]) => result('jinja', what, median)),
      result('drain', 'unsigned', 1),
    ],
  };
}

let files = 0;

async function benchAgainst(
  ratios: Record<string, number>,
  name: string,
  env: Record<string, string> = {},
) {
  const file = join(folder, `${files++}.json`);
  writeFileSync(file, JSON.stringify(earlier(ratios)));
  const words = ['--import', 'tsx', 'scripts/bench.ts', '--', '--against', file, name];
  const running = promisify(execFile)(process.execPath, words, {
    env: { ...process.env, SIZES: '1', ROUNDS: '1', MS: '5', ...env },
  });
  return await running.then(
    ({ stdout, stderr }) => ({ code: 0, said: stdout + stderr }),
    ({ code, stdout, stderr }) => ({ code: code as number, said: `${stdout}${stderr}` }),
  );
}
