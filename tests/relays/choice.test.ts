// Which relay takes a copy: rules first, then weights; a relay that cannot take it is chosen only
// if none can.
import { describe, expect, it } from 'vitest';
import { type Candidate, choose, type Routed } from '../../src/relays/choice.ts';

const relay = (name: string, wish: Partial<Candidate> = {}): Candidate => ({
  ...{ name, weight: 1, rules: [], canTake: () => true, isFull: () => false },
  ...wish,
});
const email: Routed = {
  accountId: 4,
  fromDomain: 'example.com',
  stream: 'news',
  tags: ['welcome', 'eu'],
  recipient: 'ada@example.net',
};
const chosen = (relays: Candidate[], about: Partial<Routed> = {}, staysWith?: string) =>
  new Set(
    Array.from({ length: 200 }, () => choose(relays, { ...email, ...about }, staysWith)?.name),
  );

describe('by weight', () => {
  it.each([[[1, 1]], [[1, 2, 7]], [[50, 30, 20]]])(
    '%j: within 2 % over 10,000 emails',
    (weights) => {
      const relays = weights.map((weight, at) => relay(String(at), { weight }));
      const counts = new Map<string, number>();
      for (let n = 0; n < 10_000; n++) {
        const { name } = choose(relays, email, undefined)!;
        counts.set(name, (counts.get(name) ?? 0) + 1);
      }
      const total = weights.reduce((sum, weight) => sum + weight, 0);
      for (const [at, weight] of weights.entries()) {
        expect(Math.abs(counts.get(String(at))! / 10_000 - weight / total)).toBeLessThan(0.02);
      }
    },
  );

  it('a relay without weight is the last resort', () => {
    const spare = relay('spare', { weight: 0 });
    expect(chosen([relay('one'), spare])).toEqual(new Set(['one']));
    expect(chosen([relay('one', { canTake: () => false }), spare])).toEqual(new Set(['spare']));
  });

  it('one whose limit is reached for the moment leaves it to the others', () => {
    const full = relay('full', { weight: 100, isFull: () => true });
    expect(chosen([full, relay('one')])).toEqual(new Set(['one']));
    expect(chosen([full, relay('spare', { weight: 0 })])).toEqual(new Set(['full']));
    const meant = { ...full, rules: [{ account_id: 4 }] };
    expect(chosen([meant, relay('one')])).toEqual(new Set(['full']));
  });

  it('where none can take it, one is chosen anyway, and says why', () => {
    const down = { canTake: () => false };
    expect(chosen([relay('one', down), relay('two', down)]).size).toBe(2);
    expect(choose([], email, undefined)).toBeUndefined();
  });
});

describe('by rule', () => {
  const other = relay('other', { weight: 1000 });
  it.each([
    [{ account_id: 4 }, { accountId: 5 }],
    [{ stream: 'news' }, { stream: 'transactional' }],
    [{ from_domain: 'example.com' }, { fromDomain: 'mail.example.com' }],
    [{ tag: 'eu' }, { tags: ['us'] }],
    [{ recipient_domain: 'example.net' }, { recipient: 'ada@sub.example.net' }],
    [{ account_id: 4, tag: 'eu' }, { tags: [] }],
  ])('%j', (rule, differs) => {
    const meant = relay('meant', { weight: 0, rules: [rule] });
    expect(chosen([other, meant])).toEqual(new Set(['meant']));
    expect(chosen([other, meant], differs)).toEqual(new Set(['other']));
  });

  it('the most conditions win, and equal ones share', () => {
    const wide = relay('wide', { rules: [{ account_id: 4 }] });
    const close = relay('close', { rules: [{ tag: 'no' }, { account_id: 4, stream: 'news' }] });
    const equal = relay('equal', { rules: [{ stream: 'news' }] });
    expect(chosen([wide, close, other])).toEqual(new Set(['close']));
    expect(chosen([wide, equal, other])).toEqual(new Set(['wide', 'equal']));
  });

  it('what it is meant for goes elsewhere only when it cannot take it', () => {
    const meant = relay('meant', { rules: [{ account_id: 4 }], canTake: () => false });
    expect(chosen([other, meant])).toEqual(new Set(['other']));
  });
});

it('what was deferred stays with its relay, unless that is down', () => {
  const [one, two] = [relay('one'), relay('two', { weight: 100 })];
  expect(chosen([one, two], {}, 'one')).toEqual(new Set(['one']));
  const down = relay('one', { canTake: () => false });
  expect(chosen([down, two], {}, 'one')).toEqual(new Set(['two']));
  expect(chosen([one, two], {}, 'gone').has('two')).toBe(true);
});
