// Notices that the service owes its people: a sign-in from a new place, a new API key, an email
// that waits for their approval, a second factor that was added or removed. Written in the
// transaction of the change they are about (sign-in-places.ts, keys.ts, approvals/, factors.ts),
// whichever door made it; notices/deliver-notices.ts emails them.
import { showUuid } from '../ids.ts';
import type { Database, Queryable } from '../store/pool.ts';

export type Notice = {
  id: string;
  user: { id: string; email: string; name: string };
  at: Date;
} & (
  | { kind: 'new-sign-in'; detail: { device: string; ipAddress: string } }
  | { kind: 'new-key'; detail: NewKeyDetail }
  | { kind: 'approval'; detail: { accountId: number; uuid: string } }
  | { kind: 'factor-added'; detail: { factor: string } }
  | { kind: 'factor-removed'; detail: { factor: string } }
  | { kind: 'recovery-code-used'; detail: { left: number } }
);

export interface NewKeyDetail {
  accountId: number;
  keyName: string | null;
  prefix: string;
  scopes: string[];
  /** Null: a command run by the operator. */
  createdBy: string | null;
}

/** Takes what is due, for a minute; whoever emailed a notice finishes it. */
export async function claimNotices(database: Database): Promise<Notice[]> {
  const rows = await database.query<
    Pick<Notice, 'id' | 'kind' | 'at'> & {
      detail: unknown;
      uuid: string;
      email: string;
      name: string;
    }
  >(
    `WITH due AS (
       SELECT id FROM notices WHERE due_at <= now() ORDER BY due_at LIMIT 20 FOR UPDATE SKIP LOCKED
     )
     UPDATE notices n SET due_at = now() + interval '1 minute' FROM due, users u
     WHERE n.id = due.id AND u.id = n.user_id
     RETURNING n.id, n.kind, n.detail, n.created_at AS at, u.id AS uuid, u.email, u.name`,
  );
  return rows.map(
    ({ uuid, email, name, ...notice }) =>
      ({ ...notice, user: { id: showUuid('usr_', uuid), email, name } }) as Notice,
  );
}

export async function finishNotice(database: Queryable, id: string): Promise<void> {
  await database.query('DELETE FROM notices WHERE id = $1', [id]);
}

/** A day later nobody needs it. */
export async function pruneNotices(database: Database): Promise<void> {
  await database.query(`DELETE FROM notices WHERE created_at < now() - interval '1 day'`);
}
