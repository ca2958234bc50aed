// The relays that operators added, as stored: the URL is sealed, because it contains the password.
// Written by operations/relays.ts; read by relay-list.ts, once a second in every process.
import { relaysChanged } from '../accounts/return-path-proof.ts';
import { Problem } from '../errors.ts';
import { disregardProbes } from '../feedback/return-path-probes.ts';
import { parseRelayUrl } from '../smtp/relay-url.ts';
import type { Database, Queryable } from '../store/pool.ts';
import type { SealedColumn } from '../store/sealed-columns.ts';
import type { Vault } from '../store/vault.ts';

/** Which email a relay is for. All given conditions must match. */
export interface RelayRule {
  from_domain?: string | undefined;
  stream?: string | undefined;
  account_id?: number | undefined;
  tag?: string | undefined;
  recipient_domain?: string | undefined;
}

export interface RelaySettings {
  name: string;
  /** Null: the value of RELAY_URL, for the relay named `default`. */
  url: string | null;
  /** Its share of the email that no rule assigns; 0: only by rule, or if no other can accept it. */
  weight: number;
  /** Per delivery process; null: RELAY_CONNECTIONS. */
  connections: number | null;
  /** Over all delivery processes; null: no limit. */
  ratePerSecond: number | null;
  /** Emails per UTC day, over all delivery processes; null: no limit. */
  dailyLimit: number | null;
  enabled: boolean;
  rules: RelayRule[];
}

/** The relay of RELAY_URL; its row holds any other settings by an operator. */
export const DEFAULT_RELAY = 'default';

export const PLAIN_SETTINGS: Omit<RelaySettings, 'name' | 'url'> = {
  weight: 1,
  connections: null,
  ratePerSecond: null,
  dailyLimit: null,
  enabled: true,
  rules: [],
};

/** By name. */
export async function loadRelays(database: Queryable, vault: Vault): Promise<RelaySettings[]> {
  const rows = await database.query<Omit<RelaySettings, 'url'> & { url: Buffer | null }>(
    `SELECT name, url, weight, connections, rate_per_second AS "ratePerSecond",
            daily_limit AS "dailyLimit", enabled, rules
     FROM relays ORDER BY name`,
  );
  return rows.map((row) => ({ ...row, url: row.url && openUrl(vault, row.name, row.url) }));
}

export async function saveRelay(
  client: Queryable,
  vault: Vault,
  relay: RelaySettings,
): Promise<void> {
  const { name, url, weight, connections, ratePerSecond, dailyLimit, enabled, rules } = relay;
  const before = (await loadRelays(client, vault)).find((it) => it.name === name);
  const sealed = url === null ? null : await vault.seal(client, labelOf(name), Buffer.from(url));
  await client.query(
    `INSERT INTO relays (name, url, weight, connections, rate_per_second, daily_limit, enabled, rules)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
     ON CONFLICT (name) DO UPDATE SET url = excluded.url, weight = excluded.weight,
       connections = excluded.connections, rate_per_second = excluded.rate_per_second,
       daily_limit = excluded.daily_limit, enabled = excluded.enabled, rules = excluded.rules`,
    [name, sealed, weight, connections, ratePerSecond, dailyLimit, enabled, JSON.stringify(rules)],
  );
  const was = before ?? (name === DEFAULT_RELAY ? { url: null, enabled: true } : undefined);
  const isNew = enabled && (!was?.enabled || was.url !== url);
  if (isNew) await disregardProbes(client);
  if (isNew || was?.enabled !== enabled) await relaysChanged(client, { doubt: isNew });
}

export async function deleteRelay(client: Queryable, name: string): Promise<void> {
  await client.query('DELETE FROM relays WHERE name = $1', [name]);
  await relaysChanged(client, { doubt: false });
}

/**
 * RELAY_URL changes by a restart, which no operation sees: the processes that hand email over
 * record where it leads. Returns whether return paths must be proved again. What was proved before
 * the first record stays proved.
 */
export async function noteRelayUrl(
  database: Database,
  relayUrl: string | undefined,
): Promise<boolean> {
  const place = placeOf(relayUrl);
  return await database.transaction(async (client) => {
    await lockRelays(client);
    const before = await readPlace(client);
    if (before === place) return false;
    await client.query(
      `INSERT INTO relay_url (place) VALUES ($1)
       ON CONFLICT (only_one) DO UPDATE SET place = excluded.place`,
      [place],
    );
    if (before === undefined) return false;
    await disregardProbes(client);
    await relaysChanged(client, { doubt: place !== null });
    return true;
  });
}

/** Whether email is handed to the RELAY_URL of this process, as far as recorded. */
export async function isRelayUrlInUse(
  database: Queryable,
  relayUrl: string | undefined,
): Promise<boolean> {
  const place = await readPlace(database);
  return place === undefined || place === placeOf(relayUrl);
}

/** Undefined: not recorded yet. */
async function readPlace(client: Queryable): Promise<string | null | undefined> {
  const [row] = await client.query<{ place: string | null }>('SELECT place FROM relay_url');
  return row?.place;
}

/** Another login at the same server is the same place. */
function placeOf(relayUrl: string | undefined): string | null {
  if (relayUrl === undefined) return null;
  const { host, port } = parseRelayUrl(relayUrl);
  return `${host}:${port}`;
}

/** Two operators who change relays at the same time wait for each other. */
export async function lockRelays(client: Queryable): Promise<void> {
  await client.query('LOCK TABLE relays IN SHARE ROW EXCLUSIVE MODE');
}

const labelOf = (name: string): string => `relay ${name}`;

function openUrl(vault: Vault, name: string, sealed: Buffer): string {
  const url = vault.open(labelOf(name), sealed);
  if (url !== undefined) return url.toString();
  throw new Problem(
    'unavailable',
    `The address of the relay ${name} cannot be decrypted with this SECRET_KEY: it was encrypted with another one, or changed since. Remove the relay and add it again.`,
    { see: 'remove_relay' },
  );
}

/** All their sealed values (roles/secrets.ts). */
export const RELAY_COLUMNS: readonly SealedColumn[] = [
  {
    table: 'relays',
    column: 'url',
    key: ['name'],
    label: (row) => labelOf(String(row.name)),
    name: (row) => `The address of the relay ${row.name}`,
  },
];
