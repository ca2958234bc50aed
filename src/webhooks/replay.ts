// Replays: deliveries sent again, with the same event id and the same body. Before: the CLI or the
// dashboard chose them. After: they are due, and worker.ts delivers them as usual.
import { Problem } from '../errors.ts';
import { firstUuidAt, readUuid, showUuid } from '../ids.ts';
import type { Database, Queryable } from '../store/pool.ts';
import { type Endpoint, getEndpoint, lockEndpoint, readTypes } from './endpoint.ts';
import { EVERY_HOOK_TYPE, HOOK_TYPES, kindOf } from './event-body.ts';

export type Selection =
  /** One delivery. While it is pending it is only brought forward. */
  | { deliveryId: string }
  /** All abandoned deliveries of the endpoint. */
  | { endpointId: string; abandoned: true }
  /**
   * Every event of that period that the endpoint wants, once: also those from while it was disabled
   * or before it was registered. `to` is not included.
   */
  | { endpointId: string; from: Date; to: Date; types?: readonly string[] };

export interface ReplayOptions {
  nowMs: number;
  /** Count only. */
  dryRun?: boolean;
}

/** Returns how many deliveries it affects. */
export async function replay(
  database: Database,
  accountId: number,
  selection: Selection,
  { nowMs, dryRun = false }: ReplayOptions,
): Promise<{ count: number }> {
  return await database.transaction(async (client) => {
    const endpointId =
      'deliveryId' in selection
        ? await endpointBehind(client, accountId, selection.deliveryId)
        : selection.endpointId;
    // Keeps two replays apart, and a removal.
    if (!dryRun) await lockEndpoint(client, accountId, endpointId);
    const endpoint = await getEndpoint(client, accountId, endpointId);
    if (!dryRun) await openFor(client, endpoint);
    const now = new Date(nowMs);
    if ('deliveryId' in selection) {
      return await again(client, endpoint, now, dryRun, ONE_SQL, [
        readUuid('whd_', selection.deliveryId),
      ]);
    }
    if ('abandoned' in selection) {
      return await again(client, endpoint, now, dryRun, ABANDONED_SQL, []);
    }
    const window = windowOf(endpoint, selection);
    const sent = await again(client, endpoint, now, dryRun, SENT_SQL, window);
    const missed = await again(client, endpoint, now, dryRun, MISSED_SQL, window);
    return { count: sent.count + missed.count };
  });
}

/** For operators, who have the id but perhaps not the account. */
export async function endpointOfDelivery(
  database: Queryable,
  id: string,
): Promise<{ account: number; endpointId: string }> {
  const [found] = await database.query<{ account: number; uuid: string }>(
    'SELECT account_id AS account, endpoint_id AS uuid FROM webhook_deliveries WHERE id = $1',
    [readUuid('whd_', id) ?? null],
  );
  if (found === undefined) noDelivery(id);
  return { account: found.account, endpointId: showUuid('whe_', found.uuid) };
}

/** Through the endpoints, because the key of deliveries begins with them. */
async function endpointBehind(client: Queryable, accountId: number, id: string): Promise<string> {
  const [found] = await client.query<{ uuid: string }>(
    `SELECT e.id AS uuid FROM webhook_endpoints e
     JOIN webhook_deliveries l ON l.account_id = e.account_id AND l.endpoint_id = e.id AND l.id = $2
     WHERE e.account_id = $1`,
    [accountId, readUuid('whd_', id) ?? null],
  );
  return found === undefined ? noDelivery(id) : showUuid('whe_', found.uuid);
}

function noDelivery(id: string): never {
  throw new Problem('not-found', `There is no webhook delivery ${id.slice(0, 64)}.`, {
    see: 'list_webhook_deliveries',
  });
}

/** A replay implies that the endpoint works again: a pause of the breaker ends. */
async function openFor(client: Queryable, endpoint: Endpoint): Promise<void> {
  if (endpoint.disabledAt === null) {
    await client.query(
      'UPDATE webhook_endpoints SET paused_until = NULL WHERE account_id = $1 AND id = $2',
      [endpoint.accountId, readUuid('whe_', endpoint.id)],
    );
    return;
  }
  throw new Problem('invalid', `${endpoint.id} is disabled. Enable it first.`, {
    see: 'update_webhook_endpoint',
  });
}

// What to send again. $1 account, $2 endpoint, $3 now; the selection's own values from $4 on.
const CHOSEN = 'l.account_id, l.endpoint_id, l.id, l.message_id, l.event_id, l.event_type';
const OF_ENDPOINT = 'l.account_id = $1 AND l.endpoint_id = $2';
const ONE_SQL = `SELECT ${CHOSEN} FROM webhook_deliveries l WHERE ${OF_ENDPOINT} AND l.id = $4`;
const ABANDONED_SQL = `SELECT ${CHOSEN} FROM webhook_deliveries l WHERE ${OF_ENDPOINT} AND l.state = 'abandoned'`;

// A period: $4 from, $5 to, $6 kinds, $7 and $8 the bounds that limit the planner to the partitions
// that can contain them.
const EVENTS_OF_TIME = `
  e.account_id = $1 AND e.sequence IS NOT NULL AND e.at >= $4 AND e.at < $5 AND e.kind = ANY ($6) AND e.message_id < $8`;
const SENT_SQL = `
  SELECT ${CHOSEN} FROM webhook_deliveries l
  JOIN events e ON e.account_id = l.account_id AND e.message_id = l.message_id AND e.id = l.event_id
  WHERE ${OF_ENDPOINT} AND l.id >= $7 AND l.state <> 'pending' AND ${EVENTS_OF_TIME}`;
const MISSED_SQL = `
  SELECT e.account_id, $2::uuid AS endpoint_id,
         uuid_at(clock_timestamp() + row_number() OVER (ORDER BY e.at) * interval '1 microsecond') AS id,
         e.message_id, e.id AS event_id, ${hookOfKind('e.kind')} AS event_type
  FROM events e
  WHERE ${EVENTS_OF_TIME} AND NOT EXISTS (
    SELECT FROM webhook_deliveries l
    WHERE ${OF_ENDPOINT} AND l.id >= $7 AND l.message_id = e.message_id AND l.event_id = e.id)`;

function hookOfKind(column: string): string {
  const cases = EVERY_HOOK_TYPE.map((type) => `WHEN '${kindOf(type)}' THEN '${type}'`);
  return `CASE ${column} ${cases.join(' ')} END`;
}

function windowOf(
  endpoint: Endpoint,
  selection: { from: Date; to: Date; types?: readonly string[] },
): unknown[] {
  if (selection.from >= selection.to) {
    throw new Problem('invalid', 'The period to replay must begin before it ends.', {
      at: 'until',
    });
  }
  const asked: readonly string[] = endpoint.eventTypes ?? HOOK_TYPES;
  const wanted = readTypes(selection.types) ?? EVERY_HOOK_TYPE;
  const types = wanted.filter((type) => asked.includes(type));
  return [
    selection.from,
    selection.to,
    types.map(kindOf),
    firstUuidAt(selection.from.getTime()),
    firstUuidAt(selection.to.getTime() + 1),
  ];
}

/** The attempts start over; the log keeps the last answer until the next. */
async function again(
  client: Queryable,
  endpoint: Endpoint,
  now: Date,
  dryRun: boolean,
  chosenSql: string,
  values: unknown[],
): Promise<{ count: number }> {
  const [row] = await client.query<{ count: number }>(
    `WITH chosen AS MATERIALIZED (SELECT *, $3::timestamptz AS due_at FROM (${chosenSql}) c)${dryRun ? '' : SEND_AGAIN}
     SELECT count(*) FROM chosen`,
    [endpoint.accountId, readUuid('whe_', endpoint.id), now, ...values],
  );
  return row!;
}

const SEND_AGAIN = `, logged AS (
    INSERT INTO webhook_deliveries AS l (account_id, endpoint_id, id, message_id, event_id, event_type)
    SELECT account_id, endpoint_id, id, message_id, event_id, event_type FROM chosen
    ON CONFLICT (account_id, endpoint_id, id) DO UPDATE SET state = 'pending', attempts = 0, finished_at = NULL
      WHERE l.state <> 'pending'
  ), queued AS (
    INSERT INTO webhook_due AS d (account_id, endpoint_id, delivery_id, message_id, event_id, due_at)
    SELECT account_id, endpoint_id, id, message_id, event_id, due_at FROM chosen
    ON CONFLICT (account_id, endpoint_id, delivery_id) DO UPDATE SET due_at = least(d.due_at, excluded.due_at)
  )`;
