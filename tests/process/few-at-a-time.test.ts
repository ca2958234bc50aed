// Work that arrives together starts a few items at a time, and nobody waits for all of another's.
import { expect, test } from 'vitest';
import { fewAtATime } from '../../src/process/few-at-a-time.ts';

function watched() {
  const start = fewAtATime(4);
  const started: string[] = [];
  const call = async (owner: string) => {
    await start(owner);
    started.push(owner);
  };
  return { call, started };
}

const turn = () => new Promise(setImmediate);

test('who comes behind a crowd starts in the next turn of the loop', async () => {
  const { call, started } = watched();
  const crowd = Array.from({ length: 100 }, () => call('a'));
  const others = ['b', 'c'].map(call);
  await Promise.resolve();
  expect(started.join('')).toBe('aaaa');
  await Promise.all(others);
  expect(started.join('')).toBe('aaaaabca');
  await Promise.all(crowd);
  expect(started).toHaveLength(102);
});

test('who comes while a crowd waits starts in the next turn too', async () => {
  const { call, started } = watched();
  const crowd = Array.from({ length: 100 }, () => call('a'));
  for (let n = 0; n < 5; n++) await turn();
  const before = started.length;
  await call('b');
  expect(started.length - before).toBeLessThanOrEqual(5);
  await Promise.all(crowd);
});

test('nobody waits where there are few', async () => {
  const start = fewAtATime(4);
  for (let n = 0; n < 3; n++) {
    expect(['a', 'a', 'b', 'a'].map(start)).toEqual(Array(4).fill(undefined));
    await turn();
    await turn();
  }
});
