// Probes of a return path: an email to ourselves through each relay. Only if all of one batch came
// back do reports reach us, and only then do emails use that return path. Before: relays/probing.ts
// sends them, after a check of the domain and for `doctor`. After: inbound/feedback-smtp.ts takes
// them.
import { randomUUID } from 'node:crypto';
import { proveReturnPath } from '../accounts/return-path-proof.ts';
import type { Database, Queryable } from '../store/pool.ts';

/** What a probe is about: a domain of an account, or (null) BOUNCE_DOMAIN. */
export interface ProbedHost {
  host: string;
  of: { accountId: number; domain: string } | null;
}

export interface SentProbe {
  relay: string;
  fault: string | null;
  returned: boolean;
}

const PREFIX = 'probe+';

/** Returns the address to which the probe is sent. */
export async function noteProbe(
  database: Database,
  batch: string,
  { host, of }: ProbedHost,
  relay: string,
): Promise<{ id: string; address: string }> {
  const id = randomUUID();
  await database.query(
    `INSERT INTO return_path_probes (id, batch, host, relay, of_account, of_domain)
     VALUES ($1, $2, $3, $4, $5, $6)`,
    [id, batch, host, relay, of?.accountId ?? null, of?.domain ?? null],
  );
  return { id, address: `${PREFIX}${id.replaceAll('-', '')}@${host}` };
}

export async function noteProbeFault(database: Database, id: string, fault: string): Promise<void> {
  await database.query('UPDATE return_path_probes SET fault = $2 WHERE id = $1', [id, fault]);
}

export async function readProbes(database: Database, batch: string): Promise<SentProbe[]> {
  return await database.query<SentProbe>(
    `SELECT relay, fault, returned_at IS NOT NULL AS returned FROM return_path_probes
     WHERE batch = $1 ORDER BY relay`,
    [batch],
  );
}

/** The probe that was sent to this address; undefined: none was. */
export async function findProbe(
  database: Database,
  local: string,
  host: string,
): Promise<string | undefined> {
  if (!local.startsWith(PREFIX) || !/^[0-9a-f]{32}$/.test(local.slice(PREFIX.length))) {
    return undefined;
  }
  const [row] = await database.query<{ id: string }>(
    'SELECT id FROM return_path_probes WHERE id = $1 AND host = $2',
    [local.slice(PREFIX.length), host],
  );
  return row?.id;
}

/** The return of the last one of a batch proves the domain's return path. */
export async function noteReturn(database: Database, id: string): Promise<void> {
  await database.transaction(async (client) => {
    // If two come back at once, the later one must see the first.
    await client.query(
      `SELECT FROM return_path_probes
       WHERE batch = (SELECT batch FROM return_path_probes WHERE id = $1) ORDER BY id FOR UPDATE`,
      [id],
    );
    const [probe] = await client.query<{ accountId: number | null; domain: string; all: boolean }>(
      `WITH back AS (
         UPDATE return_path_probes SET returned_at = coalesce(returned_at, now()) WHERE id = $1
         RETURNING batch, of_account, of_domain
       )
       SELECT b.of_account AS "accountId", b.of_domain AS domain,
              NOT EXISTS (SELECT FROM return_path_probes o
                          WHERE o.batch = b.batch AND o.id <> $1 AND o.returned_at IS NULL) AS all
       FROM back b`,
      [id],
    );
    if (!probe?.all || probe.accountId === null) return;
    await proveReturnPath(client, probe.accountId, probe.domain);
  });
}

/** A probe that comes back late went through earlier relays, and proves nothing. */
export async function disregardProbes(client: Queryable): Promise<void> {
  await client.query(
    `UPDATE return_path_probes SET of_account = NULL, of_domain = NULL WHERE of_account IS NOT NULL`,
  );
}

export async function pruneProbes(database: Database): Promise<void> {
  await database.query(`DELETE FROM return_path_probes WHERE sent_at < now() - interval '7 days'`);
}
