// Messages: reading one account's messages. Written by sending (accepted) and events (status),
// never here.

import { showUuid } from '../ids.ts';
import type { Database } from '../store/pool.ts';
import type { Door } from './door.ts';
import type { MessageStatus } from './status.ts';
import { DEFAULT_STREAM } from './stream.ts';

export interface Message {
  id: string;
  accountId: number;
  status: MessageStatus;
  from: string;
  recipients: string[];
  subject: string;
  tags: string[];
  template: string | null;
  stream: string;
  door: Door;
  createdAt: string;
  /** Not handed over before then; null: at once. */
  scheduledAt: string | null;
  /** Cancelled before any of it was handed over; null: it was not. */
  cancelledAt: string | null;
}

export interface MessageRow
  extends Omit<Message, 'id' | 'tags' | 'stream' | 'createdAt' | 'scheduledAt' | 'cancelledAt'> {
  uuid: string;
  tags: string[] | null;
  stream: string | null;
  scheduledAt: Date | null;
  cancelledAt: Date | null;
}

export const MESSAGE_COLUMNS =
  'id AS uuid, account_id AS "accountId", status, from_email AS "from", recipients, subject, tags, template, stream, door, scheduled_at AS "scheduledAt", cancelled_at AS "cancelledAt"';

/** Newest first; `before` is the last id on the previous page. */
export async function listMessages(
  database: Database,
  filter: { accountId?: number; before?: string; limit: number },
): Promise<Message[]> {
  const rows = await database.query<MessageRow>(
    `SELECT ${MESSAGE_COLUMNS} FROM messages
     WHERE ($1::bigint IS NULL OR account_id = $1) AND ($2::uuid IS NULL OR id < $2)
     ORDER BY id DESC LIMIT $3`,
    [filter.accountId ?? null, filter.before ?? null, filter.limit],
  );
  return rows.map(toMessage);
}

/**
 * Whether the account itself ever sent anything; the service's own emails about it do not count.
 */
export async function hasSent(database: Database, accountId: number): Promise<boolean> {
  const rows = await database.query(
    `SELECT FROM messages WHERE account_id = $1 AND door <> 'system' LIMIT 1`,
    [accountId],
  );
  return rows.length > 0;
}

export async function findOwnMessage(
  database: Database,
  accountId: number,
  uuid: string,
): Promise<Message | undefined> {
  const rows = await database.prepared<MessageRow>(
    'find-own-message',
    `SELECT ${MESSAGE_COLUMNS} FROM messages WHERE account_id = $1 AND id = $2`,
    [accountId, uuid],
  );
  return rows.map(toMessage)[0];
}

/** Whether it came in through this key. */
export async function cameThrough(
  database: Database,
  accountId: number,
  uuid: string,
  keyId: string | null,
): Promise<boolean> {
  const rows = await database.query(
    'SELECT FROM messages WHERE account_id = $1 AND id = $2 AND key_id = $3',
    [accountId, uuid, keyId],
  );
  return rows.length > 0;
}

/** Those of these that were sent with keys of the sandbox. */
export async function sentWithSandboxKeys(
  database: Database,
  accountId: number,
  uuids: readonly string[],
): Promise<ReadonlySet<string>> {
  const rows = await database.query<{ uuid: string }>(
    `SELECT m.id AS uuid FROM messages m
     JOIN api_keys k ON k.account_id = m.account_id AND k.id = m.key_id
     WHERE m.account_id = $1 AND m.id = ANY ($2::uuid[]) AND k.sandbox_only`,
    [accountId, uuids],
  );
  return new Set(rows.map(({ uuid }) => uuid));
}

/** For operators, who have the id but perhaps not the account. */
export async function findAccountOfMessage(
  database: Database,
  uuid: string,
): Promise<number | undefined> {
  const [row] = await database.query<{ id: number }>(
    'SELECT account_id AS id FROM messages WHERE id = $1',
    [uuid],
  );
  return row?.id;
}

export function toMessage({ uuid, ...row }: MessageRow): Message {
  return {
    id: showUuid('msg_', uuid),
    ...row,
    tags: row.tags ?? [],
    scheduledAt: row.scheduledAt?.toISOString() ?? null,
    cancelledAt: row.cancelledAt?.toISOString() ?? null,
    stream: row.stream ?? DEFAULT_STREAM,
    createdAt: new Date(Number.parseInt(uuid.replaceAll('-', '').slice(0, 12), 16)).toISOString(),
  };
}
