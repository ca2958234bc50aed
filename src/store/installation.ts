// The installation's secret: SECRET_KEY, or one generated once and stored in the database so that
// all processes share it. Keys for separate purposes are derived from it, so that a token of one
// kind is never valid as another.
//
//              SECRET_KEY set the first time              `secret rotate`
//   its own ──────────────────────────────▶ SECRET_KEY ──────────────────▶ another
//                  all is resealed                       all is resealed
//
// A verifier in the table says which secret is in force. A process with another one does not start;
// one that is running when the secret changes seals nothing more (vault.ts) and is told to end
// (watchSecret).
import { createHmac, hkdfSync, randomBytes } from 'node:crypto';
import { Problem } from '../errors.ts';
import { isPassing } from '../process/connection-fault.ts';
import { repeatedly } from '../process/repeatedly.ts';
import { type Database, joined, type Queryable } from './pool.ts';
import { findUnopenable, resealAll, type SealedColumn, sealPlain } from './sealed-columns.ts';
import { seal, unseal } from './sealing.ts';
import type { TokenKeys } from './token-keys.ts';
import { createVault, type Vault } from './vault.ts';

const SECRET_LOCK = 7_263_013;
const POLL_EVERY_MS = 2000;
/** As long as a link lives anyway (tracking/apply.ts). */
export const OLD_LINKS_DAYS = 730;

/** Their tokens stay valid after a change of the secret. */
const TOKEN_PURPOSES = ['return-path', 'tracking'] as const;
export type TokenPurpose = (typeof TOKEN_PURPOSES)[number];
export type Purpose = TokenPurpose | 'encryption' | 'session' | 'password-reset' | 'second-factor';

export type DeriveKey = (purpose: Purpose) => Buffer;

export interface Secret {
  deriveKey: DeriveKey;
  tokenKeys(purpose: TokenPurpose): TokenKeys;
  vault: Vault;
}

/** Keys of one secret, and the verifier that the table knows it by. */
interface Keys {
  derive: DeriveKey;
  verifier: Buffer;
}

interface InForce {
  secret: Buffer | null;
  verifier: Buffer | null;
}

type KeptTokenKeys = Record<TokenPurpose, string>;

/**
 * `start`: a SECRET_KEY that is set for the first time comes into force. `join`: a command must not
 * end running processes.
 */
export type Opening = 'start' | 'join';

/**
 * Opens the secret in force, after putting it in force if that is due. Processes that start at the
 * same time wait for each other.
 */
export async function openSecret(
  database: Database,
  secretKey: string | undefined,
  columns: readonly SealedColumn[],
  opening: Opening,
): Promise<Secret> {
  return await database.transaction(async (client) => {
    const inForce = await lockSecret(client);
    const keys =
      secretKey === undefined
        ? await settleOwn(client, inForce, columns)
        : await settleGiven(client, inForce, keysOf(Buffer.from(secretKey)), columns, opening);
    await sealWhatIsPlain(client, columns, keys);
    return await toSecret(client, keys);
  });
}

/** A node that is away does not prevent a start: a later start seals what it holds. */
async function sealWhatIsPlain(
  client: Queryable,
  columns: readonly SealedColumn[],
  { derive }: Keys,
): Promise<void> {
  try {
    await joined(client).transaction((it) => sealPlain(it, columns, derive('encryption')));
  } catch (error) {
    if (!isPassing(error)) throw error;
  }
}

async function settleOwn(
  client: Queryable,
  inForce: InForce | undefined,
  columns: readonly SealedColumn[],
): Promise<Keys> {
  if (inForce?.secret === null) throw refusal(NOT_SET);
  const secret = inForce?.secret ?? randomBytes(32);
  const keys = keysOf(secret);
  if (inForce?.verifier) return keys;
  // Created before there was a verifier, when a SECRET_KEY may have been set and removed again.
  const { stranded } = await resealAll(client, columns, keys.derive('encryption'), []);
  if (stranded.length > 0) throw refusal(`${NOT_SET} ${listing(stranded)}`);
  await putInForce(client, { secret, verifier: keys.verifier });
  return keys;
}

async function settleGiven(
  client: Queryable,
  inForce: InForce | undefined,
  given: Keys,
  columns: readonly SealedColumn[],
  opening: Opening,
): Promise<Keys> {
  if (inForce?.verifier?.equals(given.verifier)) return given;
  if (inForce?.secret === null) throw refusal(await describeWrong(client, given));
  if (inForce !== undefined && opening === 'join') throw refusal(NOT_YET);
  const own = inForce?.secret ? [keysOf(inForce.secret)] : [];
  const { stranded } = await replace(client, columns, given, own, OLD_LINKS_DAYS);
  if (stranded.length > 0) throw refusal(`${WRONG} ${listing(stranded)}`);
  return given;
}

export interface Rotation {
  /** Sealed again. */
  resealed: number;
  /** Names of values that neither the old nor the new secret opens; left as they are. */
  stranded: string[];
  /** Until when links and return paths of the old secret still work; null: not at all. */
  oldLinksUntil: string | null;
}

export interface RotationWish {
  /** Of SECRET_KEY. */
  to: string;
  /** The previous one; undefined: the installation's own, or lost. */
  from: string | undefined;
  /** The old secret is gone: what only it can open is lost. */
  lost: boolean;
  oldLinksDays: number;
  dryRun: boolean;
}

/** Puts another secret in force: all in one transaction, or nothing. */
export async function rotateSecret(
  database: Database,
  columns: readonly SealedColumn[],
  { to, from, lost, oldLinksDays, dryRun }: RotationWish,
): Promise<Rotation> {
  return await database.transaction(async (client) => {
    const inForce = await lockSecret(client);
    const next = keysOf(Buffer.from(to));
    if (inForce?.verifier?.equals(next.verifier)) throw refusal(IN_FORCE_ALREADY);
    const known = [from === undefined ? undefined : Buffer.from(from), inForce?.secret]
      .filter((secret) => secret != null)
      .map(keysOf);
    const old = known.filter(({ verifier }) => inForce?.verifier?.equals(verifier) ?? true);
    if (inForce?.verifier && old.length === 0 && !lost) {
      throw refusal(from === undefined ? OLD_NOT_SET : OLD_WRONG);
    }
    await client.query('SAVEPOINT before');
    const done = await replace(client, columns, next, old, oldLinksDays);
    if (done.stranded.length > 0 && !lost) throw refusal(`${OLD_WRONG} ${listing(done.stranded)}`);
    if (dryRun) await client.query('ROLLBACK TO SAVEPOINT before');
    return done;
  });
}

/**
 * The row is written first, which locks it: a process about to seal with the old secret waits, and
 * is then refused.
 */
async function replace(
  client: Queryable,
  columns: readonly SealedColumn[],
  next: Keys,
  old: readonly Keys[],
  oldLinksDays: number,
): Promise<Rotation> {
  await putInForce(client, { secret: null, verifier: next.verifier });
  // Without the previous secret, nobody can open what was kept of those before it.
  if (oldLinksDays === 0 || old.length === 0) await client.query('DELETE FROM previous_secrets');
  const to = next.derive('encryption');
  const from = old.map((keys) => keys.derive('encryption'));
  const done = await resealAll(client, [...columns, PREVIOUS_TOKEN_KEYS], to, from);
  let oldLinksUntil: string | null = null;
  for (const keys of oldLinksDays > 0 ? old : []) {
    oldLinksUntil = await keepTokenKeys(client, keys, to, oldLinksDays);
  }
  return { ...done, oldLinksUntil };
}

const PREVIOUS_TOKEN_KEYS: SealedColumn = {
  table: 'previous_secrets',
  column: 'token_keys',
  key: ['verifier'],
  label: ({ verifier }) => labelOf(verifier as Buffer),
  name: () => 'The keys of old links and return paths',
};

const labelOf = (verifier: Buffer): string => `token keys of ${verifier.toString('hex')}`;

async function keepTokenKeys(
  client: Queryable,
  old: Keys,
  sealWith: Buffer,
  days: number,
): Promise<string> {
  const tokenKeys = Object.fromEntries(
    TOKEN_PURPOSES.map((purpose) => [purpose, old.derive(purpose).toString('base64')]),
  );
  const plain = Buffer.from(JSON.stringify(tokenKeys));
  const [kept] = await client.query<{ until: Date }>(
    `INSERT INTO previous_secrets (verifier, token_keys, valid_until) VALUES ($1, $2, now() + $3 * interval '1 day')
     ON CONFLICT (verifier) DO UPDATE SET token_keys = excluded.token_keys, replaced_at = now(), valid_until = excluded.valid_until
     RETURNING valid_until AS until`,
    [old.verifier, seal(sealWith, labelOf(old.verifier), plain), days],
  );
  return kept!.until.toISOString();
}

async function toSecret(client: Queryable, keys: Keys): Promise<Secret> {
  const rows = await client.query<{ verifier: Buffer; sealed: Buffer }>(
    `SELECT verifier, token_keys AS sealed FROM previous_secrets WHERE valid_until > now() ORDER BY replaced_at DESC`,
  );
  const before = rows.flatMap(({ verifier, sealed }) => {
    const plain = unseal(keys.derive('encryption'), labelOf(verifier), sealed);
    return plain === undefined ? [] : [JSON.parse(plain.toString()) as KeptTokenKeys];
  });
  return {
    deriveKey: keys.derive,
    tokenKeys: (purpose) => [
      keys.derive(purpose),
      ...before.map((kept) => Buffer.from(kept[purpose], 'base64')),
    ],
    vault: createVault(keys.derive('encryption'), keys.verifier),
  };
}

/** Names of values that the secret does not open; for `doctor`. */
export async function checkSealed(
  database: Database,
  { deriveKey }: Secret,
  columns: readonly SealedColumn[],
): Promise<{ total: number; stranded: string[] }> {
  return await database.transaction((client) =>
    findUnopenable(client, [...columns, PREVIOUS_TOKEN_KEYS], deriveKey('encryption')),
  );
}

/**
 * Checks every other second whether the secret is still in force, and reports once when it is not.
 */
export function watchSecret(
  database: Database,
  { vault }: Secret,
  onChanged: (why: string) => void,
): { close(): Promise<void> } {
  const watch = repeatedly(
    POLL_EVERY_MS,
    async () => {
      if (await vault.isInForce(database)) return;
      void watch.stop();
      onChanged(CHANGED);
    },
    // While the database is away, other parts report it.
    () => undefined,
  );
  return { close: watch.stop };
}

export async function pruneSecrets(database: Queryable): Promise<void> {
  await database.query('DELETE FROM previous_secrets WHERE valid_until < now()');
}

export function keysOf(secret: Buffer): Keys {
  const derive = (purpose: string): Buffer =>
    Buffer.from(hkdfSync('sha256', secret, '', `sandmartin ${purpose}`, 32));
  return {
    derive,
    verifier: createHmac('sha256', derive('verifier')).update('in force').digest(),
  };
}

async function lockSecret(client: Queryable): Promise<InForce | undefined> {
  await client.query('SELECT pg_advisory_xact_lock($1)', [SECRET_LOCK]);
  const [row] = await client.query<InForce>('SELECT secret, verifier FROM installation');
  return row;
}

async function putInForce(client: Queryable, { secret, verifier }: InForce): Promise<void> {
  await client.query(
    `INSERT INTO installation (secret, verifier) VALUES ($1, $2)
     ON CONFLICT (only_one) DO UPDATE SET secret = $1, verifier = $2, secret_since = now()`,
    [secret, verifier],
  );
}

// ---- What is said when it does not match --------------------------------------------------------

const IF_LOST =
  'If it is lost, "sandmartin secret rotate --lost" continues with a new one: DKIM keys and webhook secrets must then be created again.';
const NOT_SET = `SECRET_KEY is not set, but this installation has one: its private keys and webhook secrets are sealed with it. Set it as it was. ${IF_LOST}`;
const WRONG = `SECRET_KEY is not the one this installation uses. Set the right one, or make this one valid with "sandmartin secret rotate" (docs/operations.md). ${IF_LOST}`;
const NOT_YET =
  'SECRET_KEY is set here, but this installation still uses a secret of its own. Start the service with SECRET_KEY first: what is sealed is then resealed. Or run this command without it.';
const IN_FORCE_ALREADY =
  'SECRET_KEY is already the one in force. Put the new one into SECRET_KEY and the old one into OLD_SECRET_KEY, then run this again.';
const OLD_NOT_SET = `The secret in force is needed to open what it sealed. Put it into OLD_SECRET_KEY, or name another variable with --from-env. ${IF_LOST}`;
const OLD_WRONG = `The old secret is not the one this installation uses. ${IF_LOST}`;
const CHANGED =
  'The secret of this installation was changed while this process ran. It ends now: start it again with the new SECRET_KEY.';

const refusal = (detail: string): Problem => new Problem('unavailable', detail);

async function describeWrong(client: Queryable, given: Keys): Promise<string> {
  const [before] = await client.query<{ at: Date }>(
    'SELECT replaced_at AS at FROM previous_secrets WHERE verifier = $1',
    [given.verifier],
  );
  return before === undefined
    ? WRONG
    : `SECRET_KEY is the one from before ${before.at.toISOString()}, when it was rotated. Give this process the new one.`;
}

const MOST_NAMED = 5;

/** "A, B and 3 more cannot be opened." */
export function listing(names: readonly string[]): string {
  const more = names.length - MOST_NAMED;
  const shown = names.slice(0, MOST_NAMED).join(', ');
  return `${shown}${more > 0 ? ` and ${more} more` : ''} cannot be opened.`;
}
