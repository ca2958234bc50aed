// Whatever people, mail servers and the account did before: a few lines decide who gets an email,
// compared here with the database.
import fc from 'fast-check';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { byShard } from '../../src/store/places.ts';
import {
  type AskedRecipient,
  suppress,
  suppressedAmong,
  suppressionKey,
} from '../../src/suppressions/suppressions.ts';
import {
  ALL_STREAMS,
  choosePreferences,
  resubscribe,
  unsubscribe,
} from '../../src/suppressions/unsubscribes.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { makeAccount } from '../support/service.ts';

let test: TestDatabase;
beforeAll(async () => {
  test = await createTestDatabase();
});
afterAll(() => test.drop());

const STREAMS = ['transactional', 'news', 'offers'];
const PEOPLE = ['ada@example.net', 'bob@example.net'];

const person = fc.constantFrom(...PEOPLE);
const stream = fc.constantFrom(...STREAMS);
const deed = fc.oneof(
  fc.record({ what: fc.constant('leaves' as const), person, stream }),
  fc.record({ what: fc.constant('leaves all' as const), person }),
  fc.record({ what: fc.constant('is taken back' as const), person, stream }),
  fc.record({
    ...{ what: fc.constant('chooses' as const), person },
    asked: fc.subarray(STREAMS),
    wanted: fc.subarray(STREAMS),
  }),
  fc.record({
    ...{ what: fc.constant('is suppressed' as const), person },
    reason: fc.constantFrom('bounce' as const, 'complaint' as const, 'manual' as const),
  }),
);
type Deed = typeof deed extends fc.Arbitrary<infer It> ? It : never;

/** What must hold, without a database. */
class Model {
  readonly #suppressed = new Set<string>();
  readonly #left = new Set<string>();

  apply(it: Deed): void {
    const left = (name: string) => `${it.person} ${name}`;
    switch (it.what) {
      case 'leaves':
        this.#left.add(left(it.stream));
        break;
      case 'leaves all':
        this.#left.add(left(ALL_STREAMS));
        break;
      case 'is taken back':
        this.#left.delete(left(it.stream));
        break;
      case 'chooses':
        for (const name of it.asked) if (!it.wanted.includes(name)) this.#left.add(left(name));
        if (it.wanted.length === 0) break;
        for (const name of [ALL_STREAMS, ...it.wanted]) this.#left.delete(left(name));
        break;
      case 'is suppressed':
        this.#suppressed.add(it.person);
    }
  }

  /** Null: about signing in or danger, which nobody can leave. */
  reaches(who: string, name: string | null, leavable: boolean): boolean {
    if (this.#suppressed.has(who)) return false;
    if (name === null) return true;
    const leftAll = leavable && this.#left.has(`${who} ${ALL_STREAMS}`);
    return !leftAll && !this.#left.has(`${who} ${name}`);
  }
}

it('an unsubscribe holds for its stream, a bounce or complaint for all, and what is about access for nobody who left', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(deed, { maxLength: 12 }), async (deeds) => {
      const { id } = await makeAccount(test.database);
      const neighbour = await makeAccount(test.database);
      const model = new Model();
      for (const it of deeds) {
        model.apply(it);
        await apply(id, it);
      }
      const asked: AskedRecipient[] = [id, neighbour.id].flatMap((accountId) =>
        PEOPLE.flatMap((address) =>
          [...STREAMS, null].flatMap((name) => [
            { accountId, address, stream: name, leavable: name !== 'transactional' },
          ]),
        ),
      );
      const held = new Set<string>();
      for (const group of byShard(test.database, asked, (recipient) => recipient.accountId)) {
        for (const key of await suppressedAmong(test.database, group)) held.add(key);
      }
      const none = new Model();
      for (const recipient of asked) {
        const { accountId, address, stream: name, leavable } = recipient;
        expect(!held.has(suppressionKey(recipient)), JSON.stringify([recipient, deeds])).toBe(
          (accountId === id ? model : none).reaches(address, name, leavable),
        );
      }
    }),
    { numRuns: 60 },
  );
});

async function apply(accountId: number, it: Deed): Promise<void> {
  const { database } = test;
  const messageUuid = '01900000-0000-7000-8000-000000000000';
  // However it is written: one address is one address.
  const address = it.person.toUpperCase();
  const leaving = (name: string) =>
    unsubscribe(database, [{ accountId, address, stream: name, messageUuid }], 'recipient');
  switch (it.what) {
    case 'leaves':
      await leaving(it.stream);
      break;
    case 'leaves all':
      await leaving(ALL_STREAMS);
      break;
    case 'is taken back':
      await resubscribe(database, accountId, address, [it.stream], 'preferences');
      break;
    case 'chooses': {
      const { asked, wanted } = it;
      await choosePreferences(database, accountId, address, { asked, wanted, messageUuid });
      break;
    }
    case 'is suppressed':
      await suppress(
        database,
        [{ accountId, address, reason: it.reason, messageUuid: null }],
        'command',
      );
  }
}
