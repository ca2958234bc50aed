// A relay that answers some emails and leaves others hanging, greets late, or hangs while we stop:
// the rest flows, and nobody waits for what will not come. Each test waits for half a minute's
// patience with a relay and little else: beside each other.
import { describe, expect, it, type TestContext } from 'vitest';
import { createTestDatabase } from '../support/database.ts';
import {
  type FaultyRelay,
  type FaultyRelayOptions,
  startFaultyRelay,
} from '../support/faulty-relay.ts';
import { startProcess } from '../support/process.ts';
import {
  anEmail,
  makeAccount,
  request,
  startTestService,
  type TestService,
} from '../support/service.ts';
import { until } from '../support/until.ts';

async function startRelay(
  { onTestFinished }: TestContext,
  options?: FaultyRelayOptions,
): Promise<FaultyRelay> {
  const relay = await startFaultyRelay(options);
  onTestFinished(() => relay.stop());
  return relay;
}
async function startWith({ onTestFinished }: TestContext, relay: FaultyRelay) {
  const service = await startTestService({ RELAY_URL: relay.url });
  onTestFinished(() => service.stop());
  const { key } = await service.account();
  return { service, send: (to = 'ada@example.net') => service.send(key, anEmail({ to: [to] })) };
}
/** Twenty emails that do not hang, accepted and taken by the relay. */
async function othersFlow(send: Send, relay: FaultyRelay): Promise<void> {
  const good: string[] = [];
  await until(async () => {
    const answer = await send();
    if (answer.status === 202) good.push(answer.body.id);
    return good.length === 20;
  });
  await until(() => good.every((id) => relay.taken.includes(id)));
}
type Send = Awaited<ReturnType<typeof startWith>>['send'];

const metric = async (service: TestService, name: string): Promise<number> => {
  const text = await (await fetch(`${service.url}/metrics`)).text();
  return Number(new RegExp(`^${name}\\{.*\\} (\\S+)$`, 'm').exec(text)?.[1]);
};

describe.concurrent('a relay that hangs', () => {
  // Each of the first two is taken out of what was seen: 30 emails held all 8 connections for 583
  // s. 24 sessions may hang without a place; what hangs beyond them keeps its own.
  const ofOne: FaultyRelayOptions['hangs'] = ({ recipient }) => recipient.endsWith('@slow.example');
  const ofSome: FaultyRelayOptions['hangs'] = ({ recipient }) => recipient.startsWith('hang');
  it.for([
    ['of one destination', ofOne, 'slow.example', 8],
    ['of some people', ofSome, 'example.net', 8],
    ['of one destination, as many as may without a place,', ofOne, 'slow.example', 24],
    ['of some people, as many as may without a place,', ofSome, 'example.net', 24],
  ] as const)(
    '30 emails %s hang: the others flow, on few sockets',
    async ([, hangs, domain, most], test) => {
      const relay = await startRelay(test, { hangs });
      const { service, send } = await startWith(test, relay);
      let sent = 0;
      await until(async () => {
        if ((await send(`hang${sent}@${domain}`)).status === 202) sent++;
        return sent === 30;
      });
      await until(async () => (await metric(service, 'sandmartin_relay_hung_sessions')) >= most);
      await othersFlow(send, relay);
      // 8 places, three times as many that hang, and a probe.
      expect(relay.mostAtOnce()).toBeLessThanOrEqual(8 * 4 + 2);
    },
  );

  it('30 emails of a destination have all begun to hang before the first other one: it is tried anyway', async (test) => {
    let begun = 0;
    const relay = await startRelay(test, {
      hangs: ({ recipient }) => {
        const isOne = recipient.startsWith('hang');
        if (isOne) begun++;
        return isOne;
      },
    });
    const { send } = await startWith(test, relay);
    let sent = 0;
    await until(async () => {
      if ((await send(`hang${sent}@example.net`)).status === 202) sent++;
      return sent === 30;
    });
    await until(() => begun === 30);
    await othersFlow(send, relay);
  });

  it('30 emails hang on the connections that stand, new ones work: nothing waits for ten minutes', async (test) => {
    const relay = await startRelay(test, { hangs: ({ connection }) => connection < 12 });
    const { send } = await startWith(test, relay);
    const ids: string[] = [];
    await until(async () => {
      const answer = await send();
      if (answer.status === 202) ids.push(answer.body.id);
      return ids.length === 30;
    });
    // What hangs after its content was sent is never sent again behind the relay's back; all others
    // go.
    await until(() => ids.filter((id) => relay.taken.includes(id)).length >= 18);
    expect(new Set(relay.taken).size).toBe(relay.taken.length);
  });

  it('a relay that makes everyone wait for its greeting is not taken for dead once it is known', async (test) => {
    const relay = await startRelay(test, { greetingMs: () => 2_500 });
    const { service, send } = await startWith(test, relay);
    await until(async () => (await send()).status === 202);
    await until(() => relay.taken.length > 0);
    const before = relay.connects();
    // Every further look takes twice as long as silence may last with a relay that nobody knows.
    await until(async () => {
      expect(await metric(service, 'sandmartin_relay_state')).toBe(0);
      return relay.connects() >= before + 2;
    });
    expect((await send()).status).toBe(202);
  });

  it('an idle service notices an outage without an email', async (test) => {
    const relay = await startRelay(test);
    const { service } = await startWith(test, relay);
    await until(async () => (await metric(service, 'sandmartin_relay_state')) === 0);
    await relay.fail('silent');
    await until(async () => (await metric(service, 'sandmartin_relay_state')) > 0);
    await relay.heal();
    await until(async () => (await metric(service, 'sandmartin_relay_state')) === 0);
  });

  it('a wall clock that is set back an hour keeps nothing open', async (test) => {
    const relay = await startRelay(test);
    let offsetMs = 0;
    const service = await startTestService(
      { RELAY_URL: relay.url },
      { clock: { nowMs: () => Date.now() + offsetMs } },
    );
    test.onTestFinished(() => service.stop());
    const { key } = await service.account();
    const answers = (status: number) =>
      until(async () => (await service.send(key, anEmail())).status === status);
    await relay.fail('closes');
    await answers(502);
    offsetMs = -3_600_000;
    await relay.heal();
    await answers(202);
  });

  it.for(['hangs at MAIL', 'hangs after the email'] as const)(
    'SIGTERM while the relay %s: exit 0, and what was not begun is due at once',
    async (fault, test) => {
      const { url, database, drop } = await createTestDatabase();
      test.onTestFinished(drop);
      const relay = await startRelay(test);
      const { key } = await makeAccount(database);
      const env = { DATABASE_URL: url, RELAY_URL: relay.url, RELAY_CONNECTIONS: '2' };
      const process = await startProcess({ ...env, ROLES: 'api,delivery' });
      test.onTestFinished(async () => void (await process.end('SIGKILL')));
      await relay.fail(fault);
      const send = () =>
        request(`${process.url}/v1/send`, {
          method: 'POST',
          headers: { 'x-api-key': key, 'content-type': 'application/json' },
          body: JSON.stringify(anEmail()),
        });
      await Promise.all(Array.from({ length: 40 }, send));
      await until(() => relay.connects() >= 2);
      expect(await process.end('SIGTERM')).toBe(0);
      const [rows] = await database.query<{ all: number; due: number; leased: number }>(
        `SELECT count(*) AS all, count(*) FILTER (WHERE due_at <= now() AND attempts = 0) AS due,
              count(*) FILTER (WHERE lease IS NOT NULL) AS leased
       FROM due_messages`,
      );
      expect(rows).toMatchObject({ all: 40, leased: 0 });
      // All but those whose content the relay was sent.
      expect(rows!.due).toBeGreaterThanOrEqual(fault === 'hangs at MAIL' ? 38 : 30);
    },
  );
});
