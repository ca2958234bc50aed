// What an operator allows a relay: so many emails a second and a day, over all delivery processes.
// The relays are real SMTP servers of the test, the processes real services on one database.
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { createDailyShare } from '../../src/relays/limits.ts';
import { emails, postBatch } from '../sending/batch-support.ts';
import { createTestDatabase } from '../support/database.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { startSink } from '../support/smtp-sink.ts';
import { until } from '../support/until.ts';
import { addRelay, changeRelays, haveRelays } from './support.ts';

type Stage = Awaited<ReturnType<typeof startProcesses>>;

/** Delivery processes and their relays, for a group of tests; the groups run beside each other. */
async function startProcesses(count: number) {
  const on = await createTestDatabase();
  /** When each email came to the limited one. */
  const cameAtMs: number[] = [];
  const limited = await startSink({ onEmail: () => void cameAtMs.push(performance.now()) });
  const other = await startSink();
  const env = { RELAY_URL: other.url, RELAY_CONNECTIONS: '4' };
  const processes: TestService[] = [];
  for (let n = 0; n < count; n++) processes.push(await startTestService(env, { on }));
  const first = processes[0]!;
  const account = await first.account();

  async function send(count: number, changes: Record<string, unknown> = {}): Promise<void> {
    for (let sent = 0; sent < count; sent += 100) {
      const batch = emails(Math.min(100, count - sent), changes);
      const { status } = await postBatch(first, account.key, { emails: batch });
      expect(status).toBe(202);
    }
  }
  /**
   * No more than the rate allows came since, from before the first was sent: a busy machine can
   * only make it less.
   */
  function expectNoMoreThan(ratePerSecond: number, sinceMs: number): void {
    const came = cameAtMs.filter((atMs) => atMs > sinceMs).length;
    // What was not used for a tenth of a second is made up for, by every process.
    const atOnce = processes.length * (1 + ratePerSecond / 10);
    const seconds = (performance.now() - sinceMs) / 1000;
    expect(came).toBeLessThanOrEqual(ratePerSecond * seconds + atOnce);
  }
  return {
    ...{ on, cameAtMs, limited, other, first, account, send, expectNoMoreThan },
    left: async () => (await on.database.query('SELECT FROM due_messages')).length,
    async stop() {
      await Promise.all(processes.map((it) => it.stop()));
      await limited.stop();
      await other.stop();
      await on.drop();
    },
  };
}

describe.concurrent.each([1, 2])('%i delivery processes', (count) => {
  let stage: Stage;
  beforeAll(async () => {
    stage = await startProcesses(count);
  });
  afterAll(() => stage.stop());
  afterEach(() => {
    stage.cameAtMs.length = 0;
    stage.limited.emails.length = 0;
    stage.other.emails.length = 0;
  });

  it.sequential('a rate a second holds over all of them', async () => {
    const { cameAtMs, limited, first, send, expectNoMoreThan } = stage;
    await addRelay(first, { name: 'limited', url: limited.url, ratePerSecond: 20 });
    await changeRelays(first, { default: { enabled: false } });
    await haveRelays(first, ['limited']);
    const sinceMs = performance.now();
    await send(100);
    await until(() => cameAtMs.length === 100);
    expectNoMoreThan(20, sinceMs);
  });

  it.sequential('a day’s emails are never passed; the rest goes through the other', async () => {
    const { limited, other, first, send, left } = stage;
    await changeRelays(first, {
      limited: { ratePerSecond: null, dailyLimit: 150 },
      default: { enabled: true, weight: 0 },
    });
    await haveRelays(first, ['default', 'limited']);
    await send(400);
    await until(() => limited.emails.length + other.emails.length === 400);
    const { key } = await first.account({ scopes: ['accounts:read'] });
    // What one process took and had no email for is used by its next.
    const shown = await until(async () => {
      await send(1);
      const { body } = await first.get(key, '/v1/relays');
      const relay = body.data.find((it: { name: string }) => it.name === 'limited');
      return limited.emails.length === 150 && relay.state === 'down' && relay;
    });
    expect(shown).toMatchObject({ used_today: 150, daily_limit: 150 });
    expect(shown.detail).toContain('daily limit');
    await until(async () => (await left()) === 0);
    expect(limited.emails.length).toBe(150);
  });

  it.sequential('where the day is used up everywhere, 502 says so, and more allowed is used', async () => {
    const { on, limited, other, first, account, left } = stage;
    await changeRelays(first, { default: { enabled: false } });
    await until(async () => {
      const { status } = await postBatch(first, account.key, { emails: emails(1) });
      return status === 502;
    });
    const waiting = await left();
    await changeRelays(first, { limited: { dailyLimit: 1000 } });
    await until(async () => {
      await on.database.query('UPDATE due_messages SET due_at = now() WHERE due_at > now()');
      return (await left()) === 0;
    });
    expect(limited.emails.length).toBe(waiting);
    expect(other.emails).toEqual([]);
  });
});

it.concurrent('what a process has left of a day is worth nothing on the next', async () => {
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

describe.concurrent('a relay that is slow by its limit', () => {
  let stage: Stage;
  beforeAll(async () => {
    stage = await startProcesses(1);
  });
  afterAll(() => stage.stop());

  it.sequential('holds up only what is meant for it', async () => {
    const { cameAtMs, limited, other, first, send } = stage;
    await addRelay(first, {
      ...{ name: 'limited', url: limited.url, ratePerSecond: 1, weight: 0 },
      rules: [{ tag: 'slow' }],
    });
    await haveRelays(first, ['default', 'limited']);
    // More than a process has in hand.
    await send(400, { tags: ['slow'] });
    await until(() => cameAtMs.length > 0);
    await send(10);
    await until(() => other.emails.length === 10);
    // Before half of what a process has in hand was through, 64 of them, nothing else was claimed.
    expect(cameAtMs.length).toBeLessThan(60);
  });

  it.sequential('takes by weight what it may, and the others take the rest', async () => {
    const { other, first, send, expectNoMoreThan } = stage;
    await changeRelays(first, { limited: { rules: [], weight: 1 } });
    const [before, sinceMs] = [other.emails.length, performance.now()];
    await send(200);
    await until(() => other.emails.length - before > 150);
    expectNoMoreThan(1, sinceMs);
  });

  it.sequential('keeps none of those that wait for it when it is disabled', async () => {
    const { on, limited, other, first, left } = stage;
    await changeRelays(first, { limited: { enabled: false } });
    await haveRelays(first, ['default']);
    const limitedHas = limited.emails.length;
    await until(async () => {
      // Those that were told when to try again are due now.
      await on.database.query('UPDATE due_messages SET due_at = now() WHERE due_at > now()');
      return (await left()) === 0;
    });
    expect(limited.emails.length).toBe(limitedHas);
    expect(limitedHas + other.emails.length).toBe(610);
  });
});
