// Why emails bounced, for lists that say it beside their status.
import type { Queryable } from '../store/pool.ts';
import type { Reason } from './reasons.ts';

/** By message, for those of these that have one: the newest. */
export async function bounceReasons(
  database: Queryable,
  accountId: number,
  uuids: readonly string[],
): Promise<ReadonlyMap<string, Reason>> {
  if (uuids.length === 0) return new Map();
  const rows = await database.query<{ uuid: string; reason: Reason }>(
    `SELECT DISTINCT ON (message_id) message_id AS uuid, detail->>'reason' AS reason FROM events
     WHERE account_id = $1 AND message_id = ANY ($2::uuid[]) AND kind = 'bounced'
       AND detail->>'reason' IS NOT NULL
     ORDER BY message_id, at DESC`,
    [accountId, uuids],
  );
  return new Map(rows.map(({ uuid, reason }) => [uuid, reason]));
}
