// What an operator allows a relay: so many emails a second and a day, over all delivery processes.
// The relays are real SMTP servers of the test, the processes real services on one database.
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { createDailyShare } from '../../src/relays/limits.ts';
import { emails, postBatch } from '../sending/batch-support.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { startTestService, type TestAccount, type TestService } from '../support/service.ts';
import { type SmtpSink, startSink } from '../support/smtp-sink.ts';
import { until } from '../support/until.ts';
import { addRelay, changeRelays, haveRelays } from './support.ts';

let on: TestDatabase;
let processes: TestService[];
let account: TestAccount;
let limited: SmtpSink;
let other: SmtpSink;
/** When each email came to the limited one. */
let cameAtMs: number[];

const first = (): TestService => processes[0]!;

async function startProcesses(count: number): Promise<void> {
  on = await createTestDatabase();
  cameAtMs = [];
  limited = await startSink({ onEmail: () => void cameAtMs.push(performance.now()) });
  other = await startSink();
  const env = { RELAY_URL: other.url, RELAY_CONNECTIONS: '4' };
  processes = [];
  for (let n = 0; n < count; n++) processes.push(await startTestService(env, { on }));
  account = await first().account();
}
async function stopProcesses(): Promise<void> {
  await Promise.all(processes.map((it) => it.stop()));
  await limited.stop();
  await other.stop();
  await on.drop();
}
async function send(count: number, changes: Record<string, unknown> = {}): Promise<void> {
  for (let sent = 0; sent < count; sent += 100) {
    const batch = emails(Math.min(100, count - sent), changes);
    const { status } = await postBatch(first(), account.key, { emails: batch });
    expect(status).toBe(202);
  }
}
/**
 * No more than the rate allows came since, from before the first was sent: a busy machine can only
 * make it less.
 */
function expectNoMoreThan(ratePerSecond: number, sinceMs: number): void {
  const came = cameAtMs.filter((atMs) => atMs > sinceMs).length;
  // What was not used for a tenth of a second is made up for, by every process.
  const atOnce = processes.length * (1 + ratePerSecond / 10);
  expect(came).toBeLessThanOrEqual(ratePerSecond * secondsSince(sinceMs) + atOnce);
}
const secondsSince = (sinceMs: number): number => (performance.now() - sinceMs) / 1000;
const left = () => on.database.query('SELECT FROM due_messages').then(({ length }) => length);

describe.each([1, 2])('%i delivery processes', (count) => {
  beforeAll(() => startProcesses(count));
  afterAll(stopProcesses);
  afterEach(async () => {
    cameAtMs = [];
    limited.emails.length = 0;
    other.emails.length = 0;
  });

  it('a rate a second holds over all of them', async () => {
    await addRelay(first(), { name: 'limited', url: limited.url, ratePerSecond: 20 });
    await changeRelays(first(), { default: { enabled: false } });
    await haveRelays(first(), ['limited']);
    const sinceMs = performance.now();
    await send(100);
    await until(() => cameAtMs.length === 100);
    expectNoMoreThan(20, sinceMs);
  });

  it('a day’s emails are never passed; the rest goes through the other', async () => {
    await changeRelays(first(), {
      limited: { ratePerSecond: null, dailyLimit: 150 },
      default: { enabled: true, weight: 0 },
    });
    await haveRelays(first(), ['default', 'limited']);
    await send(400);
    await until(() => limited.emails.length + other.emails.length === 400);
    const { key } = await first().account({ scopes: ['accounts:read'] });
    // What one process took and had no email for is used by its next.
    const shown = await until(async () => {
      await send(1);
      const { body } = await first().get(key, '/v1/relays');
      const relay = body.data.find((it: { name: string }) => it.name === 'limited');
      return limited.emails.length === 150 && relay.state === 'down' && relay;
    });
    expect(shown).toMatchObject({ used_today: 150, daily_limit: 150 });
    expect(shown.detail).toContain('daily limit');
    await until(async () => (await left()) === 0);
    expect(limited.emails.length).toBe(150);
  });

  it('where the day is used up everywhere, 502 says so, and more allowed is used', async () => {
    await changeRelays(first(), { default: { enabled: false } });
    await until(async () => {
      const { status } = await postBatch(first(), account.key, { emails: emails(1) });
      return status === 502;
    });
    const waiting = await left();
    await changeRelays(first(), { limited: { dailyLimit: 1000 } });
    await until(async () => {
      await on.database.query('UPDATE due_messages SET due_at = now() WHERE due_at > now()');
      return (await left()) === 0;
    });
    expect(limited.emails.length).toBe(waiting);
    expect(other.emails).toEqual([]);
  });
});

it('what a process has left of a day is worth nothing on the next', async () => {
  const test = await createTestDatabase();
  let now = 0;
  const share = createDailyShare(
    test.database,
    'x',
    1000,
    () => undefined,
    () => now,
  );
  const used = async () =>
    (await test.database.query<{ used: number }>('SELECT used FROM relay_usage'))[0]!.used;
  expect(await share.take()).toBe(true);
  expect(await share.take()).toBe(true);
  expect(await used()).toBe(10);
  now = 24 * 3_600_000;
  share.giveBack();
  expect(await share.take()).toBe(true);
  expect(await used()).toBe(20);
  await share.close();
  expect(await used()).toBe(11);
  await test.drop();
});

describe('a relay that is slow by its limit', () => {
  beforeAll(() => startProcesses(1));
  afterAll(stopProcesses);

  it('holds up only what is meant for it', async () => {
    await addRelay(first(), {
      ...{ name: 'limited', url: limited.url, ratePerSecond: 1, weight: 0 },
      rules: [{ tag: 'slow' }],
    });
    await haveRelays(first(), ['default', 'limited']);
    // More than a process has in hand.
    await send(400, { tags: ['slow'] });
    await until(() => cameAtMs.length > 0);
    await send(10);
    await until(() => other.emails.length === 10);
    // Before half of what a process has in hand was through, 64 of them, nothing else was claimed.
    expect(cameAtMs.length).toBeLessThan(60);
  });

  it('takes by weight what it may, and the others take the rest', async () => {
    await changeRelays(first(), { limited: { rules: [], weight: 1 } });
    const [before, sinceMs] = [other.emails.length, performance.now()];
    await send(200);
    await until(() => other.emails.length - before > 150);
    expectNoMoreThan(1, sinceMs);
  });

  it('keeps none of those that wait for it when it is disabled', async () => {
    await changeRelays(first(), { limited: { enabled: false } });
    await haveRelays(first(), ['default']);
    const limitedHas = limited.emails.length;
    await until(async () => {
      // Those that were told when to come again are due now.
      await on.database.query('UPDATE due_messages SET due_at = now() WHERE due_at > now()');
      return (await left()) === 0;
    });
    expect(limited.emails.length).toBe(limitedHas);
    expect(limitedHas + other.emails.length).toBe(610);
  });
});
