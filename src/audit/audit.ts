// The audit: every change of an account leaves a row: who, what, before and after without secrets.
// Written by operations/perform.ts in the transaction of the change, read by an operation, kept
// longer than messages.

import { bytesToUuid, newIdBytes, readUuid, showUuid } from '../ids.ts';
import type { Clock } from '../process/clock.ts';
import type { Queryable } from '../store/pool.ts';

/** What a change did, in the words of whoever reads the audit. */
export interface Change {
  /** What was changed: a slug, an address, an id. */
  target: string;
  /** Only what changed; never a secret. */
  before?: Record<string, unknown> | null;
  after?: Record<string, unknown> | null;
  /**
   * Whose audit it belongs in, if not the caller's own: an operator changed an account.
   */
  account?: number;
}

export type Actor =
  | { kind: 'key'; id: string }
  | { kind: 'person'; id: string; email: string }
  | { kind: 'command' };

export interface AuditRow extends Change {
  id: string;
  at: string;
  actor: { kind: Actor['kind']; id: string | null; name: string | null };
  door: string;
  action: string;
  requestId: string;
}

export interface NewAuditRow {
  /** 0: the service as a whole. */
  accountId: number;
  actor: Actor;
  door: string;
  /** The operation's name. */
  action: string;
  requestId: string;
  changes: readonly Change[];
}

export async function writeAudit(
  client: Queryable,
  clock: Clock,
  { accountId, actor, door, action, requestId, changes }: NewAuditRow,
): Promise<void> {
  if (changes.length === 0) return;
  await client.query(
    `INSERT INTO audit (actor_kind, actor_id, actor_name, door, action, request_id, account_id, id, target, before, after)
     SELECT $1, $2, $3, $4, $5, $6, c.*
     FROM unnest($7::bigint[], $8::uuid[], $9::text[], $10::jsonb[], $11::jsonb[]) AS c (account_id, id, target, before, after)`,
    [
      actor.kind,
      'id' in actor ? actor.id : null,
      actor.kind === 'person' ? actor.email : null,
      door,
      action,
      requestId.slice(0, 200),
      changes.map(({ account }) => account ?? accountId),
      changes.map(() => bytesToUuid(newIdBytes(clock.nowMs()))),
      changes.map(({ target }) => target.slice(0, 400)),
      changes.map(({ before }) => before && JSON.stringify(before)),
      changes.map(({ after }) => after && JSON.stringify(after)),
    ],
  );
}

export interface AuditQuery {
  action?: string | undefined;
  target?: string | undefined;
  cursor?: string | undefined;
  limit: number;
}

/** Newest first. */
export async function listAudit(
  database: Queryable,
  accountId: number,
  { action, target, cursor, limit }: AuditQuery,
): Promise<AuditRow[]> {
  const rows = await database.query<
    Omit<AuditRow, 'actor' | 'at'> & {
      at: Date;
      kind: Actor['kind'];
      actorId: string | null;
      actorName: string | null;
    }
  >(
    `SELECT a.id, a.at, a.actor_kind AS kind, a.actor_id AS "actorId", coalesce(a.actor_name, k.name, k.prefix) AS "actorName",
            a.door, a.action, a.target, a.before, a.after, a.request_id AS "requestId"
     FROM audit a
     LEFT JOIN api_keys k ON k.account_id = a.account_id AND a.actor_kind = 'key' AND k.id::text = a.actor_id
     WHERE a.account_id = $1 AND ($2::text IS NULL OR a.action = $2) AND ($3::text IS NULL OR a.target = $3)
       AND ($4::uuid IS NULL OR a.id < $4)
     ORDER BY a.id DESC LIMIT $5`,
    [
      accountId,
      action ?? null,
      target ?? null,
      cursor === undefined ? null : (readUuid('aud_', cursor) ?? null),
      limit,
    ],
  );
  return rows.map(({ id, at, kind, actorId, actorName, ...row }) => ({
    ...row,
    id: showUuid('aud_', id),
    at: at.toISOString(),
    actor: {
      kind,
      id: kind === 'key' && actorId !== null ? showUuid('key_', actorId) : actorId,
      name: actorName,
    },
  }));
}

/** Called by maintenance. */
export async function pruneAudit(database: Queryable, retentionDays: number): Promise<void> {
  await database.query(`DELETE FROM audit WHERE at < now() - $1 * interval '1 day'`, [
    retentionDays,
  ]);
}
