// Group commit: what goes together, and who waits for whom.
import { describe, expect, test } from 'vitest';
import { createGroupCommit } from '../../src/process/group-commit.ts';

function written(company?: { items: number; withinMs: () => number; moreToCome: () => boolean }) {
  const groups: number[][] = [];
  const group = createGroupCommit<number, number>({
    write: async (items) => {
      groups.push(items);
      return items;
    },
    ...{ mostItems: 100, mostInFlight: 2 },
    ...(company && { company }),
  });
  return { group, groups };
}

test('what comes in one turn goes together, and everyone hears of their own', async () => {
  const { group, groups } = written();
  expect(await Promise.all([1, 2, 3].map(group.add))).toEqual([1, 2, 3]);
  expect(groups).toEqual([[1, 2, 3]]);
});

test('those who expect company wait for it, until there are enough', async () => {
  const { group, groups } = written({
    items: 3,
    withinMs: () => 3_600_000,
    moreToCome: () => true,
  });
  const added = [group.add(1)];
  await new Promise(setImmediate);
  added.push(group.add(2));
  await new Promise(setImmediate);
  expect(groups).toEqual([]);
  added.push(group.add(3));
  await Promise.all(added);
  expect(groups).toEqual([[1, 2, 3]]);
});

test('they do not wait forever', async () => {
  const { group, groups } = written({ items: 3, withinMs: () => 1, moreToCome: () => true });
  await group.add(1);
  await group.add(2);
  expect(groups).toEqual([[1], [2]]);
});

test('whoever is the last waits for nobody', async () => {
  const { group, groups } = written({
    items: 3,
    withinMs: () => 3_600_000,
    moreToCome: () => false,
  });
  await group.add(1);
  expect(groups).toEqual([[1]]);
});

test('what is there at the end is written', async () => {
  const { group, groups } = written({ items: 3, withinMs: () => 1, moreToCome: () => true });
  void group.add(1);
  await group.drain();
  expect(groups).toEqual([[1]]);
});

test('each group apart waits for its own company, and is written when it is complete', async () => {
  const expected = new Map([
    ['even', 2],
    ['odd', 3],
  ]);
  const parity = (item: number) => (item % 2 === 0 ? 'even' : 'odd');
  const groups: number[][] = [];
  const group = createGroupCommit<number, number>({
    write: async (items) => {
      groups.push(items);
      return items;
    },
    ...{ mostItems: 100, mostInFlight: 2, apart: parity },
    company: {
      items: 64,
      withinMs: () => 3_600_000,
      moreToCome: (waiting, first) => expected.get(parity(first))! > waiting,
    },
  });
  const odd = [group.add(1), group.add(3)];
  await Promise.all([group.add(2), group.add(4)]);
  expect(groups).toEqual([[2, 4]]);
  await Promise.all([...odd, group.add(5)]);
  expect(groups).toEqual([
    [2, 4],
    [1, 3, 5],
  ]);
});

test.each([
  ['many go together', { mostItems: 100 }],
  ['they go by size', { mostItems: 1000, mostBytes: 100, sizeOf: () => 10 }],
  ['they go one by one', { mostItems: 1 }],
])('a flood keeps nobody from the next group, where %s', async (_, limits) => {
  const groups: string[][] = [];
  const group = createGroupCommit<string, string>({
    write: async (items) => {
      groups.push(items);
      return items;
    },
    ...{ ...limits, mostInFlight: 1, ownerOf: (item) => item[0] },
  });
  const flood = Array.from({ length: 3000 }, (_, n) => group.add(`a${n}`));
  await Promise.all(['b', 'c'].map(group.add));
  expect(groups.length).toBeLessThan(5);
  expect(await Promise.all(flood)).toEqual(flood.map((_, n) => `a${n}`));
  const ofFlood = groups.flat().filter((item) => item.startsWith('a'));
  expect(ofFlood).toEqual(flood.map((_, n) => `a${n}`));
});

describe('who has nothing in flight, beside a flood', () => {
  function held() {
    const groups: string[] = [];
    const ends: (() => void)[] = [];
    const group = createGroupCommit<string, string>({
      write: async (items) => {
        groups.push(items.join(' '));
        await new Promise<void>((resolve) => ends.push(resolve));
        return items;
      },
      ...{ mostItems: 100, mostInFlight: 2, worthAnother: 48, ownerOf: (item) => item[0] },
    });
    const add = async (...items: string[]) => {
      const added = Promise.all(items.map(group.add));
      await new Promise(setImmediate);
      await new Promise(setImmediate);
      return { added };
    };
    return { groups, ends, add, group };
  }
  const crowd = (count: number) => Array.from({ length: count }, () => 'a');

  test('does not wait for a crowd, and has its group to itself', async () => {
    const { groups, ends, add, group } = held();
    await add(...crowd(20));
    await add(...crowd(20));
    expect(groups).toHaveLength(1);
    const other = await add('b');
    expect(groups[1]).toBe('b');
    ends[1]!();
    expect(await other.added).toEqual(['b']);
    // The rest of the flood went on as it came.
    ends[0]!();
    await new Promise(setImmediate);
    await new Promise(setImmediate);
    expect(groups[2]).toBe(crowd(20).join(' '));
    ends[2]!();
    await group.drain();
  });

  test('finds a place even where the flood has all, but only one at a time', async () => {
    const { groups, add } = held();
    await add(...crowd(60));
    await add(...crowd(60));
    await add('b');
    expect(groups[2]).toBe('b');
    await add('c');
    expect(groups).toHaveLength(3);
  });

  test('waits for company where nobody has a crowd: every group costs the server', async () => {
    const { groups, ends, add } = held();
    await add(...crowd(7), 'b');
    await add('c');
    expect(groups).toHaveLength(1);
    ends[0]!();
    await new Promise(setImmediate);
    await new Promise(setImmediate);
    expect(groups[1]).toBe('c');
  });
});
