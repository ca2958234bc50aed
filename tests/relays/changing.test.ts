// Operators change a running pool: shares by weight over real emails, more connections, a relay
// disabled, removed or moved while it is handing emails over. Nothing is lost, nothing arrives
// twice.
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { emails, postBatch } from '../sending/batch-support.ts';
import { type FaultyRelay, startFaultyRelay } from '../support/faulty-relay.ts';
import { LONGER } from '../support/longer.ts';
import { startTestService, type TestAccount, type TestService } from '../support/service.ts';
import { until } from '../support/until.ts';
import { addRelay, changeRelays, haveRelays, removeRelay } from './support.ts';

const NAMES = ['default', 'two', 'three'] as const;
/** So long the slow one takes for every email; well below what counts as hanging. */
const SLOW_MS = 300;

let service: TestService;
let account: TestAccount;
let relays: FaultyRelay[];
let slow: FaultyRelay;

beforeAll(async () => {
  relays = await Promise.all(NAMES.map(() => startFaultyRelay()));
  slow = await startFaultyRelay({ answersAfterMs: SLOW_MS });
  service = await startTestService({ RELAY_URL: relays[0]!.url, RELAY_CONNECTIONS: '4' });
  account = await service.account();
  for (const at of [1, 2]) await addRelay(service, { name: NAMES[at]!, url: relays[at]!.url });
  await haveRelays(service, [...NAMES]);
});
afterAll(async () => {
  await service.stop();
  for (const relay of [...relays, slow]) await relay.stop();
});
beforeEach(() => {
  for (const { taken } of [...relays, slow]) taken.length = 0;
});

const counts = () => relays.map(({ taken }) => taken.length);
const taken = () => [...relays, slow].flatMap((relay) => relay.taken);
/** Every recipient gets an email of their own. */
async function send(messages: number, recipients = 1): Promise<void> {
  const to = Array.from({ length: recipients }, (_, n) => `person-${n}@example.net`);
  for (let left = messages; left > 0; left -= 100) {
    const batch = { emails: emails(Math.min(100, left), { to }) };
    expect((await postBatch(service, account.key, batch)).status).toBe(202);
  }
}
/** Each email once, whichever relay took it. */
async function expectEachOnce(messages: number, recipients = 1): Promise<void> {
  await until(async () => {
    const rows = await service.database.query('SELECT FROM due_messages LIMIT 1');
    return rows.length === 0;
  });
  const times = new Map<string, number>();
  for (const id of taken()) times.set(id, (times.get(id) ?? 0) + 1);
  expect(times.size).toBe(messages);
  for (const [, emails] of times) expect(emails).toBe(recipients);
}
/** All email goes to the slow one; `default` would take what it does not. */
async function onlySlow(connections: number): Promise<void> {
  await addRelay(service, { name: 'slow', url: slow.url, connections });
  await changeRelays(service, { default: { weight: 0, enabled: true } });
  await haveRelays(service, ['default', 'slow']);
}

// What choice.test.ts shows over 10,000 draws, here over real emails. Chance alone takes 1,000 of
// them further off than that once in 100,000 runs.
const [EMAILS, PERCENT] = LONGER > 1 ? [10_000, 2] : [1_000, 7];
it(`by weight, within ${PERCENT} % over ${EMAILS} emails`, async () => {
  const shares = [0.5, 0.3, 0.2];
  await changeRelays(
    service,
    Object.fromEntries(shares.map((share, at) => [NAMES[at]!, { weight: share * 10 }])),
  );
  await send(EMAILS / 50, 50);
  await expectEachOnce(EMAILS / 50, 50);
  for (const [at, share] of shares.entries()) {
    expect(Math.abs(counts()[at]! / EMAILS - share)).toBeLessThan(PERCENT / 100);
  }
}, 200_000);

it('fewer and more connections, without a restart', async () => {
  for (const name of ['two', 'three']) await removeRelay(service, name);
  await onlySlow(2);
  await send(20);
  await until(() => slow.taken.length > 4);
  // The one that looks whether the relay is there has a connection of its own.
  expect(slow.mostAtOnce()).toBeLessThanOrEqual(3);
  await changeRelays(service, { slow: { connections: 7 } });
  await send(80);
  await until(() => slow.mostAtOnce() >= 7);
  await expectEachOnce(100);
  // Those of the pool of before may still stand.
  expect(slow.mostAtOnce()).toBeLessThanOrEqual(10);
  expect(slow.taken).toHaveLength(100);
});

it.each(['disabled', 'removed', 'moved'])(
  '%s with emails in hand: they end there, the rest goes on',
  async (how) => {
    const connections = 5;
    await onlySlow(connections);
    await send(200);
    await until(() => slow.taken.length > 4);
    if (how === 'removed') await removeRelay(service, 'slow');
    else if (how === 'disabled') await changeRelays(service, { slow: { enabled: false } });
    else await changeRelays(service, { slow: { url: relays[0]!.url } });
    if (how !== 'moved') await haveRelays(service, ['default']);
    const then = slow.taken.length;
    await expectEachOnce(200);
    expect(slow.taken.length).toBeLessThanOrEqual(then + connections);
    expect(counts()[0]).toBe(200 - slow.taken.length);
  },
);
