// Section 3: states and transitions. Whatever order events arrive in, status is the highest rank
// seen and never goes down.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { EVENT_KINDS, type EventKindName } from '../../src/events/kinds.ts';
import { type NewEvent, recordEvents } from '../../src/events/record.ts';
import { readId, readUuid } from '../../src/ids.ts';
import { STATUSES } from '../../src/messages/status.ts';
import {
  anEmail,
  startTestService,
  type TestAccount,
  type TestService,
} from '../support/service.ts';

let service: TestService;
let account: TestAccount;
beforeAll(async () => {
  // No delivery: the test alone decides what happens to an email.
  service = await startTestService({ ROLES: 'api' });
  account = await service.account();
});
afterAll(() => service.stop());

async function queued(): Promise<string> {
  return (await service.send(account.key, anEmail())).body.id;
}

async function record(id: string, kind: EventKindName, identity?: string) {
  return await recordTogether([event(id, kind, identity === undefined ? {} : { identity })]);
}

const recordTogether = (events: NewEvent[]) => recordEvents(service.database, events, Date.now());

const event = (
  id: string,
  kind: EventKindName,
  more: Pick<NewEvent, 'identity' | 'raisesStatus'> = {},
) =>
  ({
    accountId: account.id,
    messageId: readId('msg_', id)!,
    kind,
    recipients: ['ada@example.net'],
    detail: {},
    ...more,
  }) as unknown as NewEvent;

const read = async (id: string) => (await service.get(account.key, `/v1/messages/${id}`)).body;

it('rule 1: a successful send is queued, without events', async () => {
  expect(await read(await queued())).toMatchObject({ status: 'queued', events: [] });
});

it('rule 2: queued, sent, delivered, opened, clicked', async () => {
  const id = await queued();
  for (const kind of ['sent', 'delivered', 'opened', 'clicked'] as const) {
    await record(id, kind);
    expect((await read(id)).status).toBe(kind);
  }
});

describe('rule 3: a negative status wins', () => {
  it.each([
    ['opened', 'bounced'],
    ['opened', 'complained'],
    ['clicked', 'bounced'],
    ['clicked', 'complained'],
    ['bounced', 'complained'],
  ] as const)('%s, then %s', async (before, after) => {
    const id = await queued();
    await record(id, before);
    await record(id, after);
    expect((await read(id)).status).toBe(after);
  });
});

it('status never goes down, in any order of any two events', async () => {
  const kinds = Object.keys(EVENT_KINDS) as EventKindName[];
  for (const first of kinds) {
    for (const second of kinds) {
      const id = await queued();
      await record(id, first);
      await record(id, second);
      const higher = STATUSES.indexOf(first) > STATUSES.indexOf(second) ? first : second;
      expect((await read(id)).status, `${first}, ${second}`).toBe(higher);
    }
  }
});

it('the database ranks statuses as the program does', async () => {
  const rows = await service.database.query<{ status: string }>(
    'SELECT unnest(enum_range(NULL::message_status))::text AS status',
  );
  expect(rows.map((row) => row.status)).toEqual([...STATUSES]);
});

it('the same report is recorded once, however often it comes', async () => {
  const id = await queued();
  const recorded = await Promise.all(
    Array.from({ length: 8 }, () => record(id, 'delivered', 'report 1')),
  );
  expect(recorded.flat()).toHaveLength(1);
  expect((await read(id)).events).toHaveLength(1);
});

it('so is one that leaves the status as it is, and one that comes twice in a batch with others', async () => {
  const [id, other] = [await queued(), await queued()];
  const scan = event(id, 'clicked', { identity: 'scan', raisesStatus: false });
  expect(await recordTogether([scan, scan])).toHaveLength(1);
  expect(await read(id)).toMatchObject({ status: 'queued' });
  const sent = event(id, 'sent', { identity: 'attempt 1' });
  const delivered = event(id, 'delivered', { identity: 'report 1' });
  expect(await recordTogether([delivered, event(other, 'sent'), scan, sent, delivered])).toEqual(
    expect.arrayContaining([delivered, sent]),
  );
  expect(await recordTogether([sent, delivered, scan])).toEqual([]);
  expect((await read(id)).events).toHaveLength(3);
  expect(await read(id)).toMatchObject({ status: 'delivered' });
  expect(await read(other)).toMatchObject({ status: 'sent' });
  expect(
    await service.database.query(
      'SELECT last_sequence FROM messages WHERE account_id = $1 AND id = $2',
      [account.id, readUuid('msg_', id)],
    ),
  ).toEqual([{ last_sequence: 2 }]);
});

it('sequence counts 1, 2, 3 over what webhooks carry, also when events come at once', async () => {
  const id = await queued();
  await record(id, 'sent');
  await Promise.all([
    record(id, 'delivered'),
    record(id, 'opened'),
    record(id, 'opened'),
    record(id, 'clicked'),
  ]);
  const rows = await service.database.query<{ sequence: number | null }>(
    'SELECT sequence FROM events WHERE account_id = $1 ORDER BY sequence NULLS FIRST, at',
    [account.id],
  );
  expect(rows.map((row) => row.sequence).slice(-5)).toContain(4);
  const own = await service.database.query<{ sequence: number }>(
    `SELECT sequence FROM events WHERE message_id = (SELECT max(id::text)::uuid FROM messages) AND sequence IS NOT NULL ORDER BY sequence`,
  );
  expect(own.map((row) => row.sequence)).toEqual([1, 2, 3, 4]);
});
