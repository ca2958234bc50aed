// API keys: `sm_live_` (or `sm_test_`, when its email never leaves the sandbox) + the account's
// number + 28 random characters + a checksum of all that. Shown once; only a SHA-256 is kept. The
// checksum lets scanners of source code tell a real key from what only looks like one, without
// asking us.
import { hash, randomInt } from 'node:crypto';
import { crc32 } from 'node:zlib';
import { Problem } from '../errors.ts';
import { bytesToUuid, newIdBytes, readUuid, showUuid } from '../ids.ts';
import type { Clock } from '../process/clock.ts';
import type { Database, Queryable } from '../store/pool.ts';
import { type AgentLimits, LIMIT_COLUMNS, limitsOf, readLimits } from './agent-limits.ts';
import { type KeyBounds, readBounds } from './key-bounds.ts';
import type { NewKeyDetail } from './notices.ts';
import { ALL_SCOPES, type Scope } from './scopes.ts';
import { RAISE_VERSION, raising } from './version.ts';

export interface ApiKey {
  id: string;
  accountId: number;
  name: string | null;
  prefix: string;
  scopes: Scope[];
  limits: AgentLimits | null;
  /** Null: it does not expire. */
  expiresAt: string | null;
  /** Addresses and networks it may be used from; null: anywhere. */
  networks: string[] | null;
  createdAt: string;
  lastUsedAt: string | null;
  revokedAt: string | null;
}

const KEY_SHAPE = /^sm_(?:live|test)_([0-9A-Za-z]{6})[0-9A-Za-z]{34}$/;
const DIGITS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

/** The key carries its account, so that looking it up asks that account's shard only. */
export function accountOfKey(key: string): number | undefined {
  const account = KEY_SHAPE.exec(key)?.[1];
  if (account === undefined) return undefined;
  let id = 0;
  for (const digit of account) id = id * 62 + DIGITS.indexOf(digit);
  return id;
}

export const hashOfKey = (key: string): string => hash('sha256', key, 'hex');

function newKey(accountId: number, { sandboxOnly }: AgentLimits): string {
  const random = Array.from({ length: 28 }, () => DIGITS[randomInt(62)]).join('');
  const kind = sandboxOnly ? 'test' : 'live';
  const body = `sm_${kind}_${inSixDigits(accountId)}${random}`;
  return body + checksumOf(body);
}

/** Whether it may be one of ours: scanners use it, and made-up keys cost no query. */
export const hasChecksum = (key: string): boolean =>
  KEY_SHAPE.test(key) && key.endsWith(checksumOf(key.slice(0, -6)));

/** CRC-32 as six base-62 digits, the way GitHub writes it. */
const checksumOf = (body: string): string => inSixDigits(crc32(body));

function inSixDigits(number: number): string {
  let digits = '';
  for (let rest = number; digits.length < 6; rest = Math.floor(rest / 62)) {
    digits = DIGITS[rest % 62] + digits;
  }
  return digits;
}

export async function createKey(
  database: Database,
  clock: Clock,
  wanted: {
    accountId: number;
    scopes: readonly Scope[];
    name?: string;
    limits?: Partial<AgentLimits>;
    bounds?: Partial<KeyBounds>;
    /** Who creates it, for the notice; absent: a command. */
    by?: string;
  },
): Promise<{ id: string; key: string }> {
  if (wanted.scopes.length === 0) {
    const detail = `A key needs at least one scope: ${ALL_SCOPES.join(', ')}.`;
    throw new Problem('invalid', detail, { at: 'scopes' });
  }
  const limits = await readLimits(database, wanted.accountId, wanted.limits ?? {});
  const bounds = readBounds(wanted.bounds ?? {}, clock.nowMs());
  const key = newKey(wanted.accountId, limits);
  const prefix = key.slice(0, 18);
  const scopes = [...new Set(wanted.scopes)];
  const notice: NewKeyDetail = {
    ...{ accountId: wanted.accountId, prefix, scopes },
    keyName: wanted.name ?? null,
    createdBy: wanted.by ?? null,
  };
  const uuid = bytesToUuid(newIdBytes(clock.nowMs()));
  await database.transaction(async (client) => {
    const made = await client.query(
      `WITH made AS (${RAISE_VERSION} RETURNING id)
       INSERT INTO api_keys (account_id, id, name, hash, prefix, scopes, allowed_recipients, templates_only, no_bcc, daily_cap,
                             sandbox_only, expires_at, networks, approval, own_messages, senders, reply_to, link_hosts)
       SELECT id, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18 FROM made RETURNING account_id`,
      [
        wanted.accountId,
        uuid,
        wanted.name ?? null,
        Buffer.from(hashOfKey(key), 'hex'),
        prefix,
        scopes,
        limits.allowedRecipients,
        limits.templatesOnly,
        limits.noBcc,
        limits.dailyCap,
        limits.sandboxOnly,
        bounds.expiresAt,
        bounds.networks,
        limits.approval,
        limits.ownMessages,
        limits.senders,
        limits.replyTo,
        limits.linkHosts,
      ],
    );
    if (made.length === 0) {
      throw new Problem('not-found', `There is no account ${wanted.accountId}.`, {
        see: 'list_accounts',
      });
    }
    await client.query(
      `INSERT INTO notices (user_id, kind, detail)
       SELECT user_id, 'new-key', $2::jsonb FROM members WHERE account_id = $1 AND role = 'owner'`,
      [wanted.accountId, JSON.stringify(notice)],
    );
  });
  return { id: showUuid('key_', uuid), key };
}

const COLUMNS = `id, account_id AS "accountId", name, prefix, scopes, ${LIMIT_COLUMNS},
  expires_at AS "expiresAt", networks, created_at AS "createdAt", last_used_at AS "lastUsedAt", revoked_at AS "revokedAt"`;

/** Of all accounts, or of one. */
export async function listKeys(database: Queryable, accountId?: number): Promise<ApiKey[]> {
  const rows = await database.query<KeyRow>(
    `SELECT ${COLUMNS} FROM api_keys WHERE $1::bigint IS NULL OR account_id = $1 ORDER BY account_id, id`,
    [accountId ?? null],
  );
  return rows.map(toKey);
}

/** Newest first; `before` is the last id on the previous page. */
export async function pageOfKeys(
  database: Queryable,
  accountId: number,
  { before, limit }: { before?: string | undefined; limit: number },
): Promise<ApiKey[]> {
  const rows = await database.query<KeyRow>(
    `SELECT ${COLUMNS} FROM api_keys WHERE account_id = $1 AND ($2::uuid IS NULL OR id < $2)
     ORDER BY id DESC LIMIT $3`,
    [accountId, before === undefined ? null : (readUuid('key_', before) ?? null), limit],
  );
  return rows.map(toKey);
}

export async function getKey(database: Queryable, accountId: number, id: string): Promise<ApiKey> {
  const [row] = await database.query<KeyRow>(
    `SELECT ${COLUMNS} FROM api_keys WHERE account_id = $1 AND id = $2`,
    [accountId, readUuid('key_', id) ?? null],
  );
  return toKey(row ?? noKey(id));
}

const toKey = (row: KeyRow): ApiKey => ({
  id: showUuid('key_', row.id),
  accountId: row.accountId,
  name: row.name,
  prefix: row.prefix,
  scopes: row.scopes,
  limits: limitsOf(row),
  expiresAt: row.expiresAt?.toISOString() ?? null,
  networks: row.networks,
  createdAt: row.createdAt.toISOString(),
  lastUsedAt: row.lastUsedAt?.toISOString() ?? null,
  revokedAt: row.revokedAt?.toISOString() ?? null,
});

interface KeyRow extends AgentLimits {
  id: string;
  accountId: number;
  name: string | null;
  prefix: string;
  scopes: Scope[];
  expiresAt: Date | null;
  networks: string[] | null;
  createdAt: Date;
  lastUsedAt: Date | null;
  revokedAt: Date | null;
}

/** Within a second the key is unknown in every process. */
export async function revokeKey(
  database: Queryable,
  accountId: number,
  id: string,
): Promise<ApiKey> {
  const [row] = await database.query<KeyRow>(
    raising(`UPDATE api_keys SET revoked_at = least(revoked_at, now()) WHERE account_id = $1 AND id = $2
             RETURNING ${COLUMNS}`),
    [accountId, readUuid('key_', id) ?? null],
  );
  return toKey(row ?? noKey(id));
}

/** For operators, who have the id but perhaps not the account. */
export async function accountOfKeyId(database: Queryable, id: string): Promise<number> {
  const [row] = await database.query<{ accountId: number }>(
    'SELECT account_id AS "accountId" FROM api_keys WHERE id = $1',
    [readUuid('key_', id) ?? null],
  );
  return (row ?? noKey(id)).accountId;
}

function noKey(id: string): never {
  throw new Problem('not-found', `There is no key ${id.slice(0, 64)}.`, { see: 'list_keys' });
}
