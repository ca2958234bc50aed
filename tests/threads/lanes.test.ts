// Whose work a thread gets next: a flood of costly work fills no thread for long, however many
// orders wait.
import { expect, it } from 'vitest';
import { createLanes } from '../../src/threads/lanes.ts';

const order = (share: string) => ({ share, size: 100, sinceMs: 0, alone: false });

function flooded(ms: number) {
  const lanes = createLanes<ReturnType<typeof order>>();
  for (let n = 0; n < 50; n++) lanes.note('flood', ms);
  for (let n = 0; n < 200; n++) lanes.add(order('flood'));
  const take = (...running: string[]) =>
    lanes.take({ alsoSlow: true, running: new Set(running) }).map(({ share }) => share);
  return { lanes, take };
}

it('ordinary emails go in batches', () => {
  const { lanes, take } = flooded(0.5);
  expect(take()).toHaveLength(24);
  // A pause of the machine changes little.
  lanes.note('flood', 10);
  expect(take().length).toBeGreaterThan(10);
});

it('costly ones go by what they usually take, and another account waits for one of them', () => {
  const { lanes, take } = flooded(15);
  expect(take()).toEqual(['flood']);
  lanes.add(order('other'));
  expect(take()).toEqual(['flood']);
  expect(take()).toEqual(['other']);
  expect(take()).toEqual(['flood']);
});

it.each([15, 0.5])('who has nothing in a thread goes first, beside orders of %d ms', (ms) => {
  const { lanes, take } = flooded(ms);
  lanes.add(order('other'));
  expect(take('flood')[0]).toBe('other');
  lanes.add(order('other'));
  // Nobody is passed over forever: now the others have something there.
  expect(take('other')[0]).toBe('flood');
});

it('what takes longer than a batch goes one by one', () => {
  expect(flooded(24).take()).toEqual(['flood']);
});

it('what was costly once is ordinary again later', () => {
  const { lanes, take } = flooded(15);
  for (let n = 0; n < 100; n++) lanes.note('flood', 0.5);
  expect(take()).toHaveLength(24);
});

it('who has one order is answered after one turn of everyone, not after a whole batch', () => {
  const { lanes, take } = flooded(0.5);
  lanes.add(order('other'));
  expect(take()).toEqual(['flood', 'other']);
  for (let n = 0; n < 20; n++) lanes.add(order('busy'));
  expect(take()).toHaveLength(24);
});
