// The shared cases, answered by real Jinja2 3.1, against our engine: every one byte for byte.
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { answer } from '../../src/cli/jinja.ts';

interface Case {
  name: string;
  group: string;
  expected?: string;
  error?: string;
  message?: string;
  sandbox?: { expected?: string; error?: string };
}

/** Cases that differ on purpose; each is explained in src/jinja/README.md. */
const KNOWN_DIFFERENCES = new Set(['str-methods-417']);

function read(file: string): { line: string; test: Case }[] {
  const url = new URL(`../fixtures/jinja/${file}`, import.meta.url);
  const lines = readFileSync(url, 'utf8').split('\n').filter(Boolean);
  return lines.map((line) => ({ line, test: JSON.parse(line) as Case }));
}

function difference({ line, test }: { line: string; test: Case }): string | null {
  const got = JSON.parse(answer(line)) as { output?: string; error?: string };
  if (test.error === undefined)
    return got.output === test.expected
      ? null
      : `${test.name}: expected ${JSON.stringify(test.expected)}, got ${JSON.stringify(got)}`;
  return got.error?.startsWith(`${test.error}: `)
    ? null
    : `${test.name}: expected ${test.error}, got ${JSON.stringify(got)}`;
}

describe.each(['cases.jsonl', 'expressions.jsonl'])('fixtures of %s', (file) => {
  const cases = read(file);
  it('render as Jinja2 does', () => {
    const differences = cases
      .filter(({ test }) => !KNOWN_DIFFERENCES.has(test.name))
      .map(difference)
      .filter((found) => found !== null);
    expect(differences).toEqual([]);
  });

  it('give the same error messages', () => {
    const wrong = cases
      .filter(({ test }) => test.error !== undefined && test.error !== 'RecursionError')
      .map(({ line, test }) => [
        `${test.error}: ${test.message}`,
        (JSON.parse(answer(line)) as { error?: string }).error,
      ])
      .filter(([expected, got]) => expected !== got);
    expect(wrong).toEqual([]);
  });
});
