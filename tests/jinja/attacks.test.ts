// Every attack ends in an error or a normal result, within 100 ms and 64 MB, in a process that
// survives them all.
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, it } from 'vitest';
import { attacks } from './attacks.ts';

interface Outcome {
  name: string;
  ms: number;
  grownMb: number;
  output?: string;
  error?: string;
}

const outcomes: Outcome[] = [];
let exitCode: number | null = null;

beforeAll(async () => {
  const runner = fileURLToPath(new URL('attack-runner.ts', import.meta.url));
  // A small young generation: what is measured is what a render holds, not garbage that a busy
  // machine has not collected yet.
  const flags = ['--expose-gc', '--max-semi-space-size=2', '--import', 'tsx'];
  const child = spawn(process.execPath, [...flags, runner], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = new Promise<number | null>((done) => child.on('close', done));
  for await (const line of createInterface({ input: child.stdout }))
    outcomes.push(JSON.parse(line) as Outcome);
  exitCode = await ended;
}, 600_000);

describe('attacks', () => {
  it('are at least sixty, and the process answers every one', () => {
    expect(attacks.length).toBeGreaterThanOrEqual(60);
    expect(outcomes.map((outcome) => outcome.name)).toEqual(attacks.map((attack) => attack.name));
    expect(exitCode).toBe(0);
  });

  it('stay within 100 ms', () => {
    expect(outcomes.filter((outcome) => outcome.ms > 100)).toEqual([]);
  });

  it('stay within 64 MB', () => {
    expect(outcomes.filter((outcome) => outcome.grownMb > 64)).toEqual([]);
  });

  it.each(attacks)('$name', ({ name, expect: wanted }) => {
    const outcome = outcomes.find((candidate) => candidate.name === name)!;
    expect(outcome.error ?? '').not.toMatch(/^UNEXPECTED/);
    if (wanted?.output !== undefined) expect(outcome.output).toBe(wanted.output);
    if (wanted?.error !== undefined) expect(outcome.error).toMatch(wanted.error);
  });
});
