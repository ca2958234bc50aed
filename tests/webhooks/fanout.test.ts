// Events commit together with their webhook rows, and every payload has the shape that is promised.
import type { Agent } from 'undici';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { EVENT_KINDS, type EventKindName } from '../../src/events/kinds.ts';
import { bytesToUuid, showId } from '../../src/ids.ts';
import { byShard } from '../../src/store/places.ts';
import type { Vault } from '../../src/store/vault.ts';
import { disableEndpoint } from '../../src/webhooks/endpoint.ts';
import { HOOK_TYPES, kindOf } from '../../src/webhooks/event-body.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { type Receiver, startReceiver } from '../support/https-receiver.ts';
import { until } from '../support/until.ts';
import {
  authority,
  DETAILS,
  deliveriesOf,
  event,
  newAccount,
  newEndpoint,
  newMessages,
  openVault,
  recordEvents,
  startTestWorker,
  trustingAgent,
} from './webhook-support.ts';

const clock = { nowMs: () => Date.now() };
const KINDS = HOOK_TYPES.map(kindOf);
let test: TestDatabase;
let vault: Vault;
let agent: Agent;
const cleanups: (() => Promise<unknown>)[] = [];

beforeAll(async () => {
  test = await createTestDatabase();
  vault = await openVault(test.database);
  agent = trustingAgent();
});
afterEach(async () => {
  for (const clean of cleanups.splice(0).reverse()) await clean();
});
afterAll(async () => {
  await agent.destroy();
  await test.drop();
});

const URL_OF_NOBODY = 'https://127.0.0.1:9999/hook';

async function hookedAccount(eventTypes: string[] | null = null) {
  const account = await newAccount(test.database);
  const endpoint = await newEndpoint(test.database, account, { url: URL_OF_NOBODY, eventTypes });
  const [message] = await newMessages(test.database, account, 1);
  return { account, endpoint, message: message! };
}

async function counts(account: number) {
  const [row] = await test.database.query(
    `SELECT (SELECT count(*) FROM events WHERE account_id = $1) AS events,
            (SELECT count(*) FROM webhook_deliveries WHERE account_id = $1) AS deliveries,
            (SELECT count(*) FROM webhook_due WHERE account_id = $1) AS due`,
    [account],
  );
  return row;
}

describe('recording an event', () => {
  it('makes a row for every enabled endpoint of the account that wants the type', async () => {
    const { account, endpoint, message } = await hookedAccount();
    const bounces = await newEndpoint(test.database, account, {
      url: URL_OF_NOBODY,
      eventTypes: ['bounce', 'complaint'],
    });
    const off = await newEndpoint(test.database, account, { url: URL_OF_NOBODY });
    await disableEndpoint(test.database, account, off.id, clock);
    const stranger = await hookedAccount();
    await recordEvents(
      test.database,
      KINDS.map((kind) => event(account, message, kind)),
    );
    const typesOf = async (uuid: string) =>
      (await deliveriesOf(test.database, uuid)).map((row) => row.event_type);
    expect(await typesOf(endpoint.uuid)).toEqual([
      'delivery',
      'open',
      'click',
      'bounce',
      'complaint',
    ]);
    expect(await typesOf(bounces.uuid)).toEqual(['bounce', 'complaint']);
    expect(await typesOf(off.uuid)).toEqual([]);
    expect(await typesOf(stranger.endpoint.uuid)).toEqual([]);
    expect(await counts(account)).toEqual({ events: 5, deliveries: 7, due: 7 });
  });

  it('that was recorded before makes none', async () => {
    const { account, message } = await hookedAccount();
    const told = event(account, message, 'delivered', { identity: 'report 1' });
    expect(await recordEvents(test.database, [told, told])).toBe(1);
    expect(await recordEvents(test.database, [told])).toBe(0);
    expect(await counts(account)).toEqual({ events: 1, deliveries: 1, due: 1 });
  });

  it('of kind sent makes none, also beside others', async () => {
    const { account, message } = await hookedAccount();
    await recordEvents(test.database, [
      event(account, message, 'sent', { relayMessageId: 'R' }),
      event(account, message, 'bounced'),
    ]);
    expect(await counts(account)).toEqual({ events: 2, deliveries: 1, due: 1 });
  });

  it('that is rolled back leaves no row', async () => {
    const { account, message } = await hookedAccount();
    await expect(
      test.database.transaction(async (client) => {
        await recordEvents(client, [event(account, message)]);
        throw new Error('later');
      }),
    ).rejects.toThrow('later');
    expect(await counts(account)).toEqual({ events: 0, deliveries: 0, due: 0 });
  });

  it('for many messages of many accounts keeps them apart', async () => {
    const both = [await hookedAccount(), await hookedAccount()];
    const events = both.flatMap(({ account, message }) => [
      event(account, message, 'delivered'),
      event(account, message, 'opened'),
    ]);
    for (const group of byShard(test.database, events, ({ accountId }) => accountId)) {
      await recordEvents(test.database, group);
    }
    for (const { account } of both) {
      expect(await counts(account)).toEqual({ events: 2, deliveries: 2, due: 2 });
    }
  });

  it('gives events of two emails two ids, though they say the same', async () => {
    const { account } = await hookedAccount();
    const messages = await newMessages(test.database, account, 2);
    await recordEvents(
      test.database,
      messages.map((messageId) =>
        event(account, messageId, 'bounced', { identity: 'suppressed ada@example.net' }),
      ),
    );
    const ids = await test.database.query('SELECT DISTINCT id FROM events WHERE account_id = $1', [
      account,
    ]);
    expect(ids).toHaveLength(2);
  });

  it('at the same time counts one message’s events without gaps, and dates them in that order', async () => {
    const { account, message } = await hookedAccount();
    await Promise.all(
      Array.from({ length: 30 }, () =>
        recordEvents(test.database, [event(account, message, 'opened')]),
      ),
    );
    const rows = await test.database.query<{ sequence: number }>(
      'SELECT sequence FROM events WHERE account_id = $1 ORDER BY at',
      [account],
    );
    expect(rows.map((row) => row.sequence)).toEqual(Array.from({ length: 30 }, (_, i) => i + 1));
  });
});

describe('a payload', () => {
  const worker = () => {
    const started = startTestWorker({ database: test.database, vault, clock, agent });
    cleanups.push(() => started.stop());
    return started;
  };

  async function receiver(): Promise<Receiver> {
    const started = await startReceiver({ authority });
    cleanups.push(() => started.close());
    return started;
  }

  const schemaOf = (kind: EventKindName) =>
    z.strictObject({
      event_type: z.literal(EVENT_KINDS[kind].hook!),
      user_id: z.int(),
      payload: z.strictObject({
        sm_mail_id: z.string().regex(/^msg_[0-7][0-9A-HJKMNP-TV-Z]{25}$/),
        message_id: z.string().min(1),
        recipients: z.array(z.email()).min(1),
        tags: z.array(z.string()),
        event_timestamp: z.string().regex(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/),
        sequence: z.int().min(1),
        ...EVENT_KINDS[kind].fields,
      }),
    });

  it('of every type has the promised fields and no other', async () => {
    const hook = await receiver();
    const account = await newAccount(test.database);
    await newEndpoint(test.database, account, { url: hook.url, fifo: true });
    const [message] = await newMessages(test.database, account, 1, ['welcome', 'größe']);
    const before = Date.now();
    await recordEvents(
      test.database,
      KINDS.map((kind) => event(account, message!, kind)),
    );
    worker();
    const requests = await hook.received(KINDS.length);
    for (const [index, kind] of KINDS.entries()) {
      const { body, headers } = requests[index]!;
      expect(headers['content-type']).toBe('application/json');
      expect(headers['x-sm-event-id']).toMatch(/^evt_[0-7][0-9A-HJKMNP-TV-Z]{25}$/);
      const parsed = schemaOf(kind).parse(JSON.parse(body.toString()));
      expect(parsed).toEqual({
        event_type: EVENT_KINDS[kind].hook,
        user_id: account,
        payload: {
          sm_mail_id: showId('msg_', message!),
          message_id: 'RELAY1',
          recipients: ['ada@example.net'],
          tags: ['welcome', 'größe'],
          event_timestamp: parsed.payload.event_timestamp,
          sequence: index + 1,
          ...DETAILS[kind],
        },
      });
      const happened = Date.parse(parsed.payload.event_timestamp);
      expect(Math.abs(happened - before)).toBeLessThan(60_000);
    }
  });

  it('keeps the relay’s id of the time of the event, and is empty where the relay had no email', async () => {
    const hook = await receiver();
    const account = await newAccount(test.database);
    await newEndpoint(test.database, account, { url: hook.url, fifo: true });
    const [message] = await newMessages(test.database, account, 1);
    const set = (value: string | null) =>
      test.database.query('UPDATE messages SET relay_message_id = $2, tags = NULL WHERE id = $1', [
        bytesToUuid(message!),
        value,
      ]);
    await set(null);
    await recordEvents(test.database, [event(account, message!, 'bounced')]);
    await recordEvents(test.database, [
      event(account, message!, 'sent', { relayMessageId: 'FIRST' }),
      event(account, message!, 'delivered'),
    ]);
    await set('SECOND');
    worker();
    const bodies = (await hook.received(2)).map(({ body }) => JSON.parse(body.toString()).payload);
    expect(bodies).toMatchObject([
      { message_id: '', tags: [] },
      { message_id: 'FIRST', tags: [] },
    ]);
    await until(async () => (await counts(account))!.due === 0);
  });
});
