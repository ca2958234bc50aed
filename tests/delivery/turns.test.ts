// Turns at a relay: accounts alternate whatever each has claimed, classes go in order, and nothing
// begins that may not.
import { expect, it } from 'vitest';
import { createTurns, type StillWanted, type Turns } from '../../src/delivery/turns.ts';
import type { ClaimedMessage } from '../../src/queue/due.ts';
import { until } from '../support/until.ts';

/** A relay with one session that takes an email whenever the test says so. */
function oneSession(turns: Turns) {
  const offered: { name: string; stillWanted: StillWanted; settle: (name: string) => void }[] = [];
  const begun: string[] = [];
  return {
    offered,
    begun,
    hand: (
      name: string,
      accountId: number,
      emailClass: ClaimedMessage['class'] = 'normal',
      mayBegin = () => true,
    ) =>
      turns.take({ accountId, class: emailClass }, mayBegin, (stillWanted) => {
        return new Promise<string>((settle) => offered.push({ name, stillWanted, settle }));
      }),
    async takeNext(): Promise<boolean> {
      const { name, stillWanted, settle } = await until(() => offered.shift());
      const wanted = stillWanted();
      if (wanted) begun.push(name);
      settle(name);
      return wanted;
    },
  };
}

it('an account with one email is soon next, behind another with many', async () => {
  const session = oneSession(createTurns(2));
  const all = Array.from({ length: 20 }, (_, n) => session.hand(`a${n}`, 1));
  all.push(session.hand('b', 2));
  for (let n = 0; n < 21; n++) await session.takeNext();
  expect(await Promise.all(all)).toHaveLength(21);
  expect(session.begun.indexOf('b')).toBeLessThan(4);
});

it('an account that has no turn waits for nobody, however many turns others have', async () => {
  const session = oneSession(createTurns(2));
  const all = Array.from({ length: 5 }, (_, n) => session.hand(`a${n}`, 1));
  all.push(...[2, 3].flatMap((account) => ['x', 'y'].map((n) => session.hand(n, account))));
  await until(() => session.offered.length === 4);
  expect(session.offered.map(({ name }) => name)).toEqual(['a0', 'a1', 'x', 'x']);
  for (let n = 0; n < all.length; n++) await session.takeNext();
  expect(await Promise.all(all)).toHaveLength(9);
});

it('within an account urgent goes first, and the others get their turns', async () => {
  const session = oneSession(createTurns(1));
  const classes = ['bulk', 'normal', 'urgent'] as const;
  const all = classes.flatMap((name) =>
    Array.from({ length: 16 }, (_, n) => session.hand(`${name} ${n}`, 1, name)),
  );
  for (let n = 0; n < 48; n++) await session.takeNext();
  await Promise.all(all);
  const first = session.begun.slice(1, 17);
  const count = (name: string) => first.filter((it) => it.startsWith(name)).length;
  expect(count('urgent')).toBeGreaterThan(10);
  expect(count('normal')).toBeGreaterThan(0);
  expect(count('bulk')).toBeGreaterThan(0);
});

it('what may not begin any more does not, although it waited at the relay', async () => {
  const session = oneSession(createTurns(2));
  let holds = true;
  const all = ['x', 'y', 'z'].map((name) => session.hand(name, 1, 'normal', () => holds));
  expect(await session.takeNext()).toBe(true);
  holds = false;
  expect(await session.takeNext()).toBe(false);
  expect(await Promise.all(all)).toEqual(['x', undefined, undefined]);
});

it('closed: what has not begun is given back at once, what has goes on', async () => {
  const turns = createTurns(2);
  const session = oneSession(turns);
  const [first, ...others] = ['x', 'y', 'z', 'w'].map((name) => session.hand(name, 1));
  const taken = await until(() => session.offered.shift());
  expect(taken.stillWanted()).toBe(true);
  turns.close();
  expect(await Promise.all(others)).toEqual([undefined, undefined, undefined]);
  expect(await session.hand('late', 1)).toBeUndefined();
  taken.settle('x');
  expect(await first).toBe('x');
});

it('emails that no session takes do not keep others from being offered', async () => {
  const session = oneSession(createTurns(1));
  const all = ['hangs', 'flows'].map((name) => session.hand(name, 1));
  await until(() => session.offered.length === 2);
  session.offered.reverse();
  await session.takeNext();
  await session.takeNext();
  await Promise.all(all);
  expect(session.begun).toEqual(['flows', 'hangs']);
});

it('an email that cannot be made gives its turn on', async () => {
  const turns = createTurns(1);
  const session = oneSession(turns);
  const fails = turns.take(
    { accountId: 1, class: 'normal' },
    () => true,
    async () => {
      throw new Error('it cannot be made');
    },
  );
  const next = session.hand('next', 1);
  await expect(fails).rejects.toThrow('it cannot be made');
  await session.takeNext();
  expect(await next).toBe('next');
});
