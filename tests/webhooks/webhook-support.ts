// What the tests of webhooks over a real database share: messages, events, a clock that stands
// still, and workers.
import type { Agent } from 'undici';
import { createAccount } from '../../src/accounts/accounts.ts';
import { EVENT_KINDS, type EventKindName } from '../../src/events/kinds.ts';
import { type NewEvent, recordEvents as record } from '../../src/events/record.ts';
import { bytesToUuid, newIdBytes, readUuid } from '../../src/ids.ts';
import { createLog } from '../../src/process/log.ts';
import { createMetrics } from '../../src/process/metrics.ts';
import { openSecret } from '../../src/roles/secrets.ts';
import type { Database, Queryable } from '../../src/store/pool.ts';
import type { Vault } from '../../src/store/vault.ts';
import { addressGuard, guardedAgent } from '../../src/webhooks/address-guard.ts';
import { createEndpoint, type EndpointChange } from '../../src/webhooks/endpoint.ts';
import {
  startWebhookWorker,
  type WebhookWorker,
  type WebhookWorkerDeps,
} from '../../src/webhooks/worker.ts';
import { createAuthority } from '../support/https-receiver.ts';

export const authority = createAuthority();
export const guard = addressGuard(['127.0.0.0/8'], async () => ['127.0.0.1']);

export const trustingAgent = (): Agent => guardedAgent(guard, { ca: authority.ca });

export interface TestClock {
  nowMs(): number;
  advance(ms: number): void;
}

/** Stands a minute ahead, so that what the database dates during the test is due. */
export function testClock(): TestClock {
  let nowMs = Date.now() + 60_000;
  return {
    nowMs: () => nowMs,
    advance(ms) {
      nowMs += ms;
    },
  };
}

/** Goes on by itself, and can be sent ahead. */
export function movingClock(): TestClock {
  let aheadMs = 1000;
  return {
    nowMs: () => Date.now() + aheadMs,
    advance(ms) {
      aheadMs += ms;
    },
  };
}

export async function newAccount(database: Database): Promise<number> {
  return (await createAccount(database, { name: 'Test', plan: 'paid' })).id;
}

export async function newEndpoint(
  database: Database,
  accountId: number,
  wanted: EndpointChange & { url: string },
): Promise<{ id: string; uuid: string; secret: string }> {
  const clock = { nowMs: () => Date.now() };
  const vault = await openVault(database);
  const made = await createEndpoint(database, accountId, wanted, { guard, clock, vault });
  return { ...made, uuid: readUuid('whe_', made.id)! };
}

/** Of the secret that the database made for itself. */
export const openVault = async (database: Database): Promise<Vault> =>
  (await openSecret(database, undefined)).vault;

/** Messages as if the relay had taken them. */
export async function newMessages(
  database: Queryable,
  accountId: number,
  count: number,
  tags: string[] = ['welcome'],
): Promise<Buffer[]> {
  const ids = Array.from({ length: count }, () => newIdBytes(Date.now()));
  await database.query(
    `INSERT INTO messages (account_id, id, status, from_email, recipients, subject, tags, door, relay_message_id)
     SELECT $1, id, 'sent', 'a@example.com', '{ada@example.net}', 'Hello', $3, 'rest', 'RELAY1' FROM unnest($2::uuid[]) id`,
    [accountId, ids.map(bytesToUuid), tags],
  );
  return ids;
}

const examples = Object.fromEntries(
  Object.entries<{ example: Record<string, unknown> }>(EVENT_KINDS).map(([kind, { example }]) => [
    kind,
    example,
  ]),
) as Record<EventKindName, Record<string, unknown>>;

/** As each kind's example has it, with texts that must be escaped. */
export const DETAILS: Record<EventKindName, Record<string, unknown>> = {
  ...examples,
  delivered: { smtp_response: '250 2.0.0 größe 😀', reporting_mta: 'mx.example.net' },
  clicked: {
    ...EVENT_KINDS.clicked.example,
    url: 'https://example.com/?a=1&b="2"',
    ip_address: '2001:db8::1',
    machine: true,
  },
};

export function event(
  accountId: number,
  messageId: Buffer,
  kind: EventKindName = 'delivered',
  changes: Partial<NewEvent> = {},
): NewEvent {
  return {
    accountId,
    messageId,
    kind,
    recipients: ['ada@example.net'],
    detail: DETAILS[kind],
    ...changes,
  } as NewEvent;
}

/** Answers how many were new. */
export async function recordEvents(database: Queryable, events: NewEvent[]): Promise<number> {
  return (await record(database, events, Date.now())).length;
}

/** Messages of their own with one event each. */
export async function newEvents(
  database: Queryable,
  accountId: number,
  count: number,
  kind: EventKindName = 'delivered',
): Promise<Buffer[]> {
  const messages = await newMessages(database, accountId, count);
  await recordEvents(
    database,
    messages.map((messageId) => event(accountId, messageId, kind)),
  );
  return messages;
}

export function startTestWorker(
  deps: Pick<WebhookWorkerDeps, 'database' | 'vault' | 'clock' | 'agent'> &
    Partial<WebhookWorkerDeps>,
): WebhookWorker {
  const log = createLog(process.env.LOG_LEVEL ?? 'silent');
  return startWebhookWorker({ log, metrics: createMetrics(), ...deps });
}

export interface DeliveryRow {
  state: string;
  attempts: number;
  status: number | null;
  response: string | null;
  response_truncated: boolean;
  error: string | null;
  event_type: string;
  finished_at: Date | null;
  due_at: Date | null;
}

/** Oldest first. */
export async function deliveriesOf(
  database: Database,
  endpointUuid: string,
): Promise<DeliveryRow[]> {
  return await database.query<DeliveryRow>(
    `SELECT l.*, d.due_at FROM webhook_deliveries l LEFT JOIN webhook_due d
       ON d.account_id = l.account_id AND d.endpoint_id = l.endpoint_id AND d.delivery_id = l.id
     WHERE l.endpoint_id = $1 ORDER BY l.id`,
    [endpointUuid],
  );
}

export interface EndpointRow {
  failures: number;
  failing_since: Date | null;
  paused_until: Date | null;
  disabled_at: Date | null;
  disabled_reason: string | null;
  lease: string | null;
}

export async function endpointRow(database: Database, uuid: string): Promise<EndpointRow> {
  const [row] = await database.query<EndpointRow>('SELECT * FROM webhook_endpoints WHERE id = $1', [
    uuid,
  ]);
  return row!;
}
