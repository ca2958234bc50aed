// Turns at reading stored emails whole: how many run, which comes next, and which is cut off.
import { expect, it } from 'vitest';
import { createWholeEmails } from '../../src/operations/whole-emails.ts';
import { until } from '../support/until.ts';

const LIMITS = {
  ...{ most: 3, mostOfAccount: 2, beatMs: 5 },
  ...{ giveWayAfterBeats: 1_000_000, refuseAfterBeats: 1_000_000 },
};

/**
 * Calls that keep what they are given until the test says otherwise, and in which order they began.
 */
function callers(limits: Partial<typeof LIMITS> = {}) {
  const emails = createWholeEmails({ ...LIMITS, ...limits });
  const begun: string[] = [];
  return {
    begun,
    call(name: string, accountId: number) {
      const leaving: (() => void)[] = [];
      const leave = (): void => {
        for (const stop of leaving) stop();
      };
      const reader = { onGone: (stop: () => void) => void leaving.push(stop), hangUp: leave };
      const answered = emails.inTurn(accountId, reader, async () => {
        begun.push(name);
        if (name.includes('fails')) throw new Error('on purpose');
        return name;
      });
      answered.catch(() => undefined);
      return { answered, leave };
    },
  };
}

const soon = () => new Promise((resolve) => setImmediate(resolve));

it('an account has its share, and others come first when a turn is free', async () => {
  const { begun, call } = callers();
  const first = call('a1', 1);
  call('a2', 1);
  call('a3', 1);
  call('b1', 2);
  call('b2', 2);
  await soon();
  expect(begun).toEqual(['a1', 'a2', 'b1']);
  first.leave();
  await soon();
  expect(begun).toEqual(['a1', 'a2', 'b1', 'a3']);
});

it('one that fails, or hangs up while it waits, keeps no turn', async () => {
  const { begun, call } = callers();
  await expect(call('a fails', 1).answered).rejects.toThrow('on purpose');
  const first = call('a1', 1);
  call('a2', 1);
  const gone = call('a3', 1);
  call('a4', 1);
  gone.leave();
  await expect(gone.answered).rejects.toThrow('Too many');
  first.leave();
  await soon();
  expect(begun).toEqual(['a fails', 'a1', 'a2', 'a4']);
});

it('an answer that nobody reads gives way to whoever waits for it, and not before', async () => {
  const { begun, call } = callers({ giveWayAfterBeats: 3 });
  for (const [name, account] of [['a1', 1] as const, ['a2', 1] as const, ['b1', 2] as const]) {
    call(name, account);
  }
  await soon();
  expect(begun).toEqual(['a1', 'a2', 'b1']);
  call('c1', 3);
  await until(() => begun.includes('c1'));
});

it('one that waits too long is refused, and the rest goes on', async () => {
  const { call } = callers({ refuseAfterBeats: 3 });
  call('a1', 1);
  call('a2', 1);
  await expect(call('a3', 1).answered).rejects.toMatchObject({ code: 'unavailable' });
  await expect(call('b1', 2).answered).resolves.toBe('b1');
});

it('of one request, what would wait for its own other calls is refused at once', async () => {
  const emails = createWholeEmails(LIMITS);
  const leaving: (() => void)[] = [];
  const reader = { onGone: (stop: () => void) => void leaving.push(stop) };
  const calls = [1, 2, 3].map((n) => emails.inTurn(1, reader, async () => n));
  expect(await Promise.all(calls.slice(0, 2))).toEqual([1, 2]);
  await expect(calls[2]).rejects.toMatchObject({ code: 'unavailable' });
  const next = emails.inTurn(1, { onGone: () => undefined }, async () => 4);
  for (const leave of leaving) leave();
  expect(await next).toBe(4);
});

it('of two requests, neither is cut off because it keeps its own second call waiting', async () => {
  const emails = createWholeEmails({ ...LIMITS, most: 2, giveWayAfterBeats: 3 });
  const cutOff: string[] = [];
  const readerOf = (name: string) => {
    let leave: (() => void)[] = [];
    const hangUp = () => {
      cutOff.push(name);
      for (const stop of leave) stop();
      leave = [];
    };
    return { onGone: (stop: () => void) => void leave.push(stop), hangUp };
  };
  const [batch, other] = [readerOf('batch'), readerOf('other')];
  await Promise.all([emails.inTurn(1, batch, soon), emails.inTurn(2, other, soon)]);
  await emails.inTurn(1, batch, soon);
  expect(cutOff).toEqual(['other']);
});
