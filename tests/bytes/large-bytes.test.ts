// Room for many bytes: the system has it back when they are freed, however often that happens.
import { expect, it } from 'vitest';
import { freeBytes } from '../../src/bytes/free-bytes.ts';
import { allocateBytes, isWhole } from '../../src/bytes/large-bytes.ts';

const MB = 1024 * 1024;

it('nothing of it is kept', async () => {
  const before = process.memoryUsage.rss();
  for (let n = 0; n < 3; n++) {
    const those = [24, 20].map((mb) => allocateBytes(mb * MB).fill(1));
    // Behind both, so that a heap with them could not simply become shorter.
    const later = Buffer.alloc(100_000, 1);
    for (const bytes of those) freeBytes(bytes);
    expect([...those.map(({ length }) => length), later.length]).toEqual([0, 0, 100_000]);
  }
  await expect.poll(() => (process.memoryUsage.rss() - before) / MB).toBeLessThan(16);
});

it('takes no memory before something is written to it', () => {
  const before = process.memoryUsage.rss();
  const those = Array.from({ length: 10 }, () => allocateBytes(24 * MB));
  expect((process.memoryUsage.rss() - before) / MB).toBeLessThan(16);
  for (const bytes of those) freeBytes(bytes);
});

it('is told from a part of something larger', () => {
  for (const mb of [1, 4, 20, 40]) {
    const whole = allocateBytes(mb * MB);
    expect(whole).toHaveLength(mb * MB);
    expect([whole, whole.subarray(1)].map(isWhole)).toEqual([true, false]);
    freeBytes(whole);
  }
});
