// Whether emails use a domain's own return path: proved by probes that came back, and in doubt
// again when relays change. Before it: return-path-probes.ts and relays/ report both. After it:
// mail/senders.ts gives each email its return path.
import type { Database, Queryable } from '../store/pool.ts';
import { returnPathHost } from './domain-records.ts';
import { RAISE_VERSION, raiseVersion } from './version.ts';

/** Probes came back: emails use the domain's own return path, as long as its CNAME is seen. */
export async function proveReturnPath(
  client: Queryable,
  accountId: number,
  domain: string,
): Promise<void> {
  const toBeProved = `account_id = $1 AND domain = $2
       AND findings @> '[{"purpose": "return-path", "ok": true}]'`;
  // Processes remember the sender with its return path (mail/senders.ts).
  await client.query(
    `WITH raised AS (${RAISE_VERSION} AND EXISTS (
       SELECT FROM domains WHERE ${toBeProved} AND NOT return_path_seen))
     UPDATE domains SET return_path_proved_at = now(), return_path_seen = true,
       alignment = alignment || jsonb_build_object('spf', coalesce(alignment -> 'ownPathAligns', 'false'))
     WHERE ${toBeProved}`,
    [accountId, domain],
  );
}

/**
 * Other relays carry email from now on. What came back through the earlier ones says nothing about
 * a new one (`doubt`): until a probe has come back through it too, reports go to BOUNCE_DOMAIN.
 * Every domain whose CNAME was seen is checked next.
 */
export async function relaysChanged(
  client: Queryable,
  { doubt }: { doubt: boolean },
): Promise<void> {
  const changed = await client.query<{ accountId: number }>(
    `UPDATE domains SET checked_at = NULL, return_path_seen = return_path_seen AND NOT $1,
       return_path_proved_at = CASE WHEN $1 THEN NULL ELSE return_path_proved_at END
     WHERE findings @> '[{"purpose": "return-path", "ok": true}]'
     RETURNING account_id AS "accountId"`,
    [doubt],
  );
  if (!doubt) return;
  // In a fixed order, so that two changes of relays cannot deadlock.
  const accounts = [...new Set(changed.map(({ accountId }) => accountId))].sort((a, b) => a - b);
  for (const accountId of accounts) await raiseVersion(client, accountId);
}

/** Whether a host is the return path of one of the account's domains: reports may come to it. */
export async function isReturnPathOf(
  database: Database,
  accountId: number,
  host: string,
): Promise<boolean> {
  const rows = await database.prepared(
    'return-path-of',
    'SELECT FROM domains WHERE account_id = $1 AND $2 = $3 || domain',
    [accountId, host, returnPathHost('')],
  );
  return rows.length > 0;
}
