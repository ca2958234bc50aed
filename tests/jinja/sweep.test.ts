// Nothing in the engine works or grows without being charged: every filter, test, method, operator
// and global, called 2,000 times on large values and its answers kept, ends within 100 ms in a heap
// of 200 MB (the values themselves take 40).
// A new filter is in it without anyone thinking of it.
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { draw, LONGER } from '../support/longer.ts';

/** Of 10,700 calls `npm test` makes one part in 36, `npm run test:search` any two. */
const PARTS = Math.max(1, Math.round(36 / LONGER));

it('charges everything it does', { timeout: 300_000 }, async () => {
  const runner = fileURLToPath(new URL('sweep-runner.ts', import.meta.url));
  const flags = ['--max-old-space-size=200', '--max-semi-space-size=2', '--import', 'tsx'];
  const part = draw(PARTS);
  const child = spawn(process.execPath, [...flags, runner, String(part), String(PARTS)], {
    stdio: ['ignore', 'pipe', 'inherit', 'pipe'],
  });
  let last = '';
  const watching = (async () => {
    const progress = child.stdio[3] as NodeJS.ReadableStream;
    for await (const line of createInterface({ input: progress })) last = line;
  })();
  const ended = new Promise<number | null>((done) => child.on('close', done));
  const said: Record<string, unknown>[] = [];
  for await (const line of createInterface({ input: child.stdout! })) said.push(JSON.parse(line));
  const exitCode = await ended;
  await watching;
  expect({ exitCode, last: exitCode === 0 ? '' : last }).toEqual({ exitCode: 0, last: '' });
  expect(said.at(-1)?.done).toBeGreaterThan(8_000);
  // Part of the message: run `sweep-runner.ts <part> <parts>` to see it again.
  const which = { part, parts: PARTS };
  expect({ ...which, said: said.slice(0, -1) }).toEqual({ ...which, said: [] });
});
