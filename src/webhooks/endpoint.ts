// Endpoints: where an account wants its events, and how it is set up. Called by the CLI and the
// dashboard; the worker writes their health.

import { lockAccount } from '../accounts/accounts.ts';
import { Problem } from '../errors.ts';
import type { HookType } from '../events/kinds.ts';
import { bytesToUuid, newIdBytes, readUuid, showUuid } from '../ids.ts';
import type { Clock } from '../process/clock.ts';
import type { Database, Queryable } from '../store/pool.ts';
import type { Vault } from '../store/vault.ts';
import { type AddressGuard, checkUrl } from './address-guard.ts';
import { sealSecret } from './endpoint-secrets.ts';
import { EVERY_HOOK_TYPE } from './event-body.ts';
import type { DisabledReason } from './health.ts';
import { newSecret } from './sign.ts';

/** Each multiplies the account's rows and POSTs. */
const MOST_ENDPOINTS = 50;
/** Both secrets sign for this long after a rotation. */
const ROTATION_MS = 24 * 60 * 60_000;

export interface Endpoint {
  id: string;
  accountId: number;
  url: string;
  /** Null: all that are about messages. */
  eventTypes: HookType[] | null;
  fifo: boolean;
  createdAt: string;
  disabledAt: string | null;
  disabledReason: DisabledReason | null;
  /** In a row, up to now. */
  failures: number;
  /** Nothing but failures since then. */
  failingSince: string | null;
  /** Held back by the breaker until then. */
  pausedUntil: string | null;
  /** The secret before the newest signs too until then. */
  previousSecretUntil: string | null;
}

export interface EndpointChange {
  url?: string;
  /** Null or empty: all. */
  eventTypes?: readonly string[] | null;
  fifo?: boolean;
}

export interface EndpointDeps {
  guard: AddressGuard;
  clock: Clock;
  vault: Vault;
}

/** The secret is shown only once. */
export async function createEndpoint(
  database: Database,
  accountId: number,
  wanted: EndpointChange & { url: string },
  { guard, clock, vault }: EndpointDeps,
): Promise<{ id: string; secret: string; warning?: string }> {
  const { url, warning } = await checkUrl(guard, wanted.url);
  const uuid = bytesToUuid(newIdBytes(clock.nowMs()));
  const secret = newSecret();
  const types = readTypes(wanted.eventTypes);
  await database.transaction(async (client) => {
    await lockAccount(client, accountId);
    if ((await listEndpoints(client, accountId)).length >= MOST_ENDPOINTS) {
      throw new Problem(
        'invalid',
        `An account can have at most ${MOST_ENDPOINTS} webhook endpoints. Change one of them instead.`,
      );
    }
    await client.query(
      `INSERT INTO webhook_endpoints (account_id, id, url, event_types, fifo, secret)
       VALUES ($1, $2, $3, $4, $5, $6)`,
      [
        accountId,
        uuid,
        url.href,
        types,
        wanted.fifo ?? false,
        await sealSecret(client, vault, { accountId, endpointUuid: uuid }, secret),
      ],
    );
  });
  return {
    id: showUuid('whe_', uuid),
    secret,
    ...(warning === undefined ? {} : { warning }),
  };
}

export async function listEndpoints(database: Queryable, accountId?: number): Promise<Endpoint[]> {
  const rows = await database.query<EndpointRow>(
    `SELECT ${COLUMNS} FROM webhook_endpoints WHERE $1::bigint IS NULL OR account_id = $1 ORDER BY account_id, id`,
    [accountId ?? null],
  );
  return rows.map(toEndpoint);
}

export async function getEndpoint(
  database: Queryable,
  accountId: number,
  id: string,
): Promise<Endpoint> {
  const rows = await database.query<EndpointRow>(
    `SELECT ${COLUMNS} FROM webhook_endpoints WHERE account_id = $1 AND id = $2`,
    [accountId, readUuid('whe_', id) ?? null],
  );
  return onlyOne(rows, id);
}

/** Until the transaction ends, the worker's verdict on it waits. */
export async function lockEndpoint(
  client: Queryable,
  accountId: number,
  id: string,
): Promise<void> {
  await client.query('SELECT FROM webhook_endpoints WHERE account_id = $1 AND id = $2 FOR UPDATE', [
    accountId,
    readUuid('whe_', id) ?? null,
  ]);
}

/** Counting stops here; a page says "10,000 and more". */
const MOST_COUNTED = 10_000;

/** Waiting deliveries, by endpoint. */
export async function countWaiting(
  database: Queryable,
  accountId: number,
): Promise<Map<string, number>> {
  const rows = await database.query<{ uuid: string; waiting: number }>(
    `SELECT w.id AS uuid, (SELECT count(*) FROM (
        SELECT FROM webhook_due d WHERE d.account_id = $1 AND d.endpoint_id = w.id LIMIT ${MOST_COUNTED}) c) AS waiting
     FROM webhook_endpoints w WHERE w.account_id = $1`,
    [accountId],
  );
  return new Map(rows.map(({ uuid, waiting }) => [showUuid('whe_', uuid), waiting]));
}

/** For operators, who have the id but perhaps not the account. */
export async function accountOfEndpoint(database: Queryable, id: string): Promise<number> {
  const rows = await database.query<EndpointRow>(
    `SELECT ${COLUMNS} FROM webhook_endpoints WHERE id = $1`,
    [readUuid('whe_', id) ?? null],
  );
  return onlyOne(rows, id).accountId;
}

/**
 * A clean record. It takes the endpoint from the worker that serves it, whose late answers are
 * about the old one; the next look takes it again.
 */
const CLEAN = 'failures = 0, failing_since = NULL, paused_until = NULL, lease = NULL';

/** A new URL starts with a clean record; waiting deliveries go there. */
export async function changeEndpoint(
  database: Queryable,
  accountId: number,
  id: string,
  change: EndpointChange,
): Promise<Endpoint> {
  const uuid = readUuid('whe_', id) ?? null;
  const rows = await database.query<EndpointRow>(
    `UPDATE webhook_endpoints SET fifo = coalesce($3, fifo),
       event_types = CASE WHEN $4 THEN $5 ELSE event_types END
     WHERE account_id = $1 AND id = $2 RETURNING ${COLUMNS}`,
    [
      accountId,
      uuid,
      change.fifo ?? null,
      change.eventTypes !== undefined,
      readTypes(change.eventTypes),
    ],
  );
  if (change.url === undefined) return onlyOne(rows, id);
  const moved = await database.query<EndpointRow>(
    `UPDATE webhook_endpoints SET url = $3, ${CLEAN}
     WHERE account_id = $1 AND id = $2 AND url <> $3 RETURNING ${COLUMNS}`,
    [accountId, uuid, new URL(change.url).href],
  );
  return onlyOne(moved.length > 0 ? moved : rows, id);
}

/** The newest two secrets sign for a day, then the new one alone. */
export async function rotateSecret(
  database: Database,
  accountId: number,
  id: string,
  { clock, vault }: Pick<EndpointDeps, 'clock' | 'vault'>,
): Promise<{ id: string; secret: string; previousSecretUntil: string }> {
  const secret = newSecret();
  const until = new Date(clock.nowMs() + ROTATION_MS);
  const endpointUuid = readUuid('whe_', id);
  const rows = await database.transaction(async (client) =>
    endpointUuid === undefined
      ? []
      : client.query<EndpointRow>(
          `UPDATE webhook_endpoints SET secret = $3, previous_secret = secret, previous_until = $4
           WHERE account_id = $1 AND id = $2 RETURNING ${COLUMNS}`,
          [
            accountId,
            endpointUuid,
            await sealSecret(client, vault, { accountId, endpointUuid }, secret),
            until,
          ],
        ),
  );
  return { id: onlyOne(rows, id).id, secret, previousSecretUntil: until.toISOString() };
}

/** It gets no further events; what waits stays until it is enabled again. */
export async function disableEndpoint(
  database: Queryable,
  accountId: number,
  id: string,
  clock: Clock,
): Promise<Endpoint> {
  const rows = await database.query<EndpointRow>(
    `UPDATE webhook_endpoints SET
       disabled_at = coalesce(disabled_at, $3), disabled_reason = coalesce(disabled_reason, 'owner')
     WHERE account_id = $1 AND id = $2 RETURNING ${COLUMNS}`,
    [accountId, readUuid('whe_', id) ?? null, new Date(clock.nowMs())],
  );
  return onlyOne(rows, id);
}

/**
 * With a clean record. Waiting deliveries continue; for events of the meantime, replay that period.
 */
export async function enableEndpoint(
  database: Queryable,
  accountId: number,
  id: string,
): Promise<Endpoint> {
  const rows = await database.query<EndpointRow>(
    `UPDATE webhook_endpoints SET disabled_at = NULL, disabled_reason = NULL, ${CLEAN}
     WHERE account_id = $1 AND id = $2 RETURNING ${COLUMNS}`,
    [accountId, readUuid('whe_', id) ?? null],
  );
  return onlyOne(rows, id);
}

/**
 * Permanently, with its waiting deliveries. The log of past deliveries stays until its retention
 * ends.
 */
export async function removeEndpoint(
  database: Queryable,
  accountId: number,
  id: string,
): Promise<Endpoint> {
  const uuid = readUuid('whe_', id) ?? null;
  const rows = await database.query<EndpointRow>(
    `WITH waiting AS (DELETE FROM webhook_due WHERE account_id = $1 AND endpoint_id = $2)
     DELETE FROM webhook_endpoints WHERE account_id = $1 AND id = $2 RETURNING ${COLUMNS}`,
    [accountId, uuid],
  );
  return onlyOne(rows, id);
}

/** Null: all. */
export function readTypes(types: readonly string[] | null | undefined): HookType[] | null {
  if (types == null || types.length === 0) return null;
  const known = types.map((type, index) => {
    const one = EVERY_HOOK_TYPE.find((known) => known === type);
    if (one !== undefined) return one;
    throw new Problem(
      'invalid',
      `"${type}" is not a webhook event type. Use one of ${EVERY_HOOK_TYPE.join(', ')}.`,
      { at: `event_types[${index}]` },
    );
  });
  return [...new Set(known)];
}

const COLUMNS = `id AS uuid, account_id AS "accountId", url, event_types AS "eventTypes", fifo, created_at AS "createdAt",
  disabled_at AS "disabledAt", disabled_reason AS "disabledReason", failures, failing_since AS "failingSince",
  paused_until AS "pausedUntil", previous_until AS "previousSecretUntil"`;

type Moments = 'createdAt' | 'disabledAt' | 'failingSince' | 'pausedUntil' | 'previousSecretUntil';
type EndpointRow = Omit<Endpoint, 'id' | Moments> & { uuid: string } & Record<Moments, Date | null>;

function onlyOne(rows: EndpointRow[], id: string): Endpoint {
  if (rows[0] !== undefined) return toEndpoint(rows[0]);
  throw new Problem(
    'not-found',
    `There is no webhook endpoint ${id.slice(0, 64)} in this account.`,
    { see: 'list_webhook_endpoints' },
  );
}

function toEndpoint({ uuid, ...row }: EndpointRow): Endpoint {
  return {
    id: showUuid('whe_', uuid),
    ...row,
    createdAt: row.createdAt!.toISOString(),
    disabledAt: row.disabledAt?.toISOString() ?? null,
    failingSince: row.failingSince?.toISOString() ?? null,
    pausedUntil: row.pausedUntil?.toISOString() ?? null,
    previousSecretUntil: row.previousSecretUntil?.toISOString() ?? null,
  };
}
