// Emails that were set aside because they could not be read, composed or recorded.
// Before: delivery/worker.ts or tend_queue set them aside. After: a person fixed the cause and
// releases them, or resolves them (delivery/resolve.ts).
import { Problem } from '../errors.ts';
import { readUuid, showUuid } from '../ids.ts';
import type { Database } from '../store/pool.ts';

export interface SetAside {
  id: string;
  accountId: number;
  since: string;
  reason: string;
  attempts: number;
  /** Recipients still to be handed over; null: all. */
  remaining: string[] | null;
}

/** Oldest first; `after` is `since id` of the last one on the previous page. */
export async function listSetAside(
  database: Database,
  { limit, after }: { limit: number; after?: string | undefined },
): Promise<SetAside[]> {
  const [since = '', id = ''] = after?.split(' ') ?? [];
  const rows = await database.query<Omit<SetAside, 'id' | 'since'> & { uuid: string; since: Date }>(
    `SELECT account_id AS "accountId", message_id AS uuid, set_aside_at AS since, reason, attempts, remaining
     FROM due_messages WHERE state = 'set aside' AND ($2::timestamptz IS NULL
       OR (date_trunc('milliseconds', set_aside_at), message_id) > ($2, $3::uuid))
     ORDER BY date_trunc('milliseconds', set_aside_at), message_id LIMIT $1`,
    [limit, after === undefined ? null : new Date(since), readUuid('msg_', id) ?? NOBODY],
  );
  return rows.map(({ uuid, since, ...row }) => ({
    id: showUuid('msg_', uuid),
    ...row,
    since: since.toISOString(),
  }));
}

/** Before every id. */
const NOBODY = '00000000-0000-0000-0000-000000000000';

/** Any other text would return the first page again and again. */
export function isPlaceInList(after: string): boolean {
  const [since = '', id = '', ...rest] = after.split(' ');
  const isTime = !Number.isNaN(Date.parse(since));
  return isTime && readUuid('msg_', id) !== undefined && rest.length === 0;
}

/** Puts one back into its lane, or all. Returns how many. */
export async function releaseSetAside(database: Database, uuid: string | 'all'): Promise<number> {
  const rows = await database.query(
    `UPDATE due_messages SET state = 'ready', reason = NULL, set_aside_at = NULL, deaths = 0, claims = claims + 1
     WHERE state = 'set aside' AND ($1::uuid IS NULL OR message_id = $1) RETURNING message_id`,
    [uuid === 'all' ? null : uuid],
  );
  if (uuid !== 'all' && rows.length === 0) {
    throw new Problem('not-found', `${showUuid('msg_', uuid)} is not set aside.`, {
      see: 'list_quarantine',
    });
  }
  return rows.length;
}
