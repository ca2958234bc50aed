// Throttling of attempts to sign in and of links for a new password, counted in PostgreSQL so that
// it is exact across processes. Each rule allows some tries without a wait and then doubles the
// wait for each further one. Tries are counted by address and network together: a stranger who
// tries an address from elsewhere does not keep its owner out at home. A browser that its owner has
// signed in with before (known-browser.ts) is counted separately, so nobody at home keeps them out
// either. A try counts before the password is checked: many at once cannot slip through while the
// first is being checked.
import { addressKey } from '../addresses.ts';
import { Problem } from '../errors.ts';
import { readUuid } from '../ids.ts';
import { networkOf } from '../networks.ts';
import type { Database, Queryable } from '../store/pool.ts';
import type { KnownBrowser } from './known-browser.ts';

interface Rule {
  /** Tries without a wait between them. */
  free: number;
  firstWait: number;
  longestWait: number;
  /** Seconds without a try after which the count resets. */
  forgottenAfter: number;
}

const MINUTE = 60;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

const RULES = {
  /** An address from one network. */
  place: { free: 5, firstWait: 1, longestWait: 15 * MINUTE, forgottenAfter: DAY },
  /** The browser of the address's owner, which replaces all other counts. */
  browser: { free: 5, firstWait: 1, longestWait: 15 * MINUTE, forgottenAfter: DAY },
  'code-browser': { free: 5, firstWait: 1, longestWait: 15 * MINUTE, forgottenAfter: DAY },
  /** A network, over all addresses. */
  client: { free: 50, firstWait: 1, longestWait: 15 * MINUTE, forgottenAfter: 20 * MINUTE },
  /**
   * An address from all networks its owner never signed in from: many attackers guessing together.
   */
  address: { free: 100, firstWait: 2, longestWait: MINUTE, forgottenAfter: DAY },
  /**
   * Codes for a person whose password is known, from one network and from all they never signed in
   * from: 20, then about a hundred a day, and one in 300,000 guesses is right.
   */
  'code-place': { free: 5, firstWait: 1, longestWait: 15 * MINUTE, forgottenAfter: DAY },
  code: { free: 20, firstWait: 2, longestWait: 15 * MINUTE, forgottenAfter: DAY },
  'reset-place': { free: 5, firstWait: MINUTE, longestWait: 15 * MINUTE, forgottenAfter: HOUR },
  'reset-client': { free: 20, firstWait: MINUTE, longestWait: 15 * MINUTE, forgottenAfter: HOUR },
  /**
   * Emails to one address. Their links work for an hour: whenever one is held back, another is
   * still valid in the mailbox.
   */
  'reset-mail': { free: 6, firstWait: 5 * MINUTE, longestWait: 30 * MINUTE, forgottenAfter: DAY },
} as const satisfies Record<string, Rule>;

type Kind = keyof typeof RULES;

export interface SignInTry {
  email: string;
  /** IP address of the client. */
  client: string;
  /** Undefined: nobody has signed in with it. */
  browser?: KnownBrowser | undefined;
}

/**
 * Counts a try; a Problem if it comes too early. From a place where a person has signed in before,
 * only tries for their own address count: a stranger guessing from the same network keeps nobody
 * else out.
 */
export async function countTry(database: Database, attempt: SignInTry): Promise<void> {
  const own = await ownBrowser(database, attempt);
  if (own !== undefined) return await mustBeFree(database, 'browser', own);
  const { client, place, address } = subjectsOf(attempt);
  const known = await isKnownThere(database, attempt);
  // The client first: an attacker who tries many addresses must not use up the tries of their
  // owners.
  if (!known) await mustBeFree(database, 'client', client);
  await mustBeFree(database, 'place', place);
  if (!known) await mustBeFree(database, 'address', address);
}

/** Counts a code given as a second factor. */
export async function countCode(database: Database, attempt: SignInTry): Promise<void> {
  const own = await ownBrowser(database, attempt);
  if (own !== undefined) return await mustBeFree(database, 'code-browser', own);
  const { place, address } = subjectsOf(attempt);
  await mustBeFree(database, 'code-place', place);
  if (!(await isKnownThere(database, attempt))) await mustBeFree(database, 'code', address);
}

/** The right code resets the count. */
export async function forgiveCode(database: Queryable, attempt: SignInTry): Promise<void> {
  const { place, address } = subjectsOf(attempt);
  const own = await ownBrowser(database, attempt);
  const counted =
    own === undefined ? [`code-place ${place}`, `code ${address}`] : [`code-browser ${own}`];
  await forget(database, counted);
}

type PasskeyTry = Omit<SignInTry, 'email'>;

/** Counts a passkey, no matter whose: nobody guesses one. */
export async function countPasskey(database: Database, attempt: PasskeyTry): Promise<void> {
  const { client, browser } = attempt;
  if (browser !== undefined) await mustBeFree(database, 'browser', browser.id);
  else await mustBeFree(database, 'client', networkOf(client));
}

/** Counts a request for a link, no matter whose the address is. */
export async function countReset(database: Database, attempt: SignInTry): Promise<void> {
  const { client, place } = subjectsOf(attempt);
  await mustBeFree(database, 'reset-client', client);
  await mustBeFree(database, 'reset-place', place);
}

/** Whether the address may get one more link: nobody may flood another person's mailbox. */
export async function mayEmailReset(database: Database, email: string): Promise<boolean> {
  return (await count(database, 'reset-mail', keyOf(email))) === 0;
}

/** The right password resets the count of the place and gives the other counts their try back. */
export async function forgiveTry(database: Queryable, attempt: SignInTry): Promise<void> {
  const own = await ownBrowser(database, attempt);
  if (own !== undefined) return await forget(database, [`browser ${own}`]);
  const { client, place, address } = subjectsOf(attempt);
  await forget(database, [`place ${place}`]);
  // Nothing else was counted at a known place: what others used up there stays used.
  if (await isKnownThere(database, attempt)) return;
  await giveBack(database, [`client ${client}`, `address ${address}`]);
}

/** The right passkey. */
export const forgivePasskey = (
  database: Queryable,
  { client, browser }: PasskeyTry,
): Promise<void> =>
  browser === undefined
    ? giveBack(database, [`client ${networkOf(client)}`])
    : forget(database, [`browser ${browser.id}`]);

async function forget(database: Queryable, subjects: string[]): Promise<void> {
  await database.query('DELETE FROM sign_in_tries WHERE subject = ANY ($1)', [subjects]);
}

async function giveBack(database: Queryable, subjects: string[]): Promise<void> {
  await database.query(
    `UPDATE sign_in_tries SET tries = greatest(0, tries - 1), free_at = least(free_at, clock_timestamp())
     WHERE subject = ANY ($1)`,
    [subjects],
  );
}

export async function pruneTries(database: Database): Promise<void> {
  await database.query(`DELETE FROM sign_in_tries WHERE tried_at < now() - interval '1 day'`);
}

const keyOf = (email: string): string => addressKey(email.trim()).slice(0, 320);

function subjectsOf(attempt: SignInTry): { client: string; place: string; address: string } {
  const client = networkOf(attempt.client);
  const address = keyOf(attempt.email);
  return { client, place: `${client} ${address}`, address };
}

/** The browser's id, if it belongs to the person whose address is tried. */
async function ownBrowser(
  database: Queryable,
  { email, browser }: SignInTry,
): Promise<string | undefined> {
  if (browser === undefined) return undefined;
  const rows = await database.query('SELECT FROM users WHERE id = $1 AND email = $2', [
    readUuid('usr_', browser.userId) ?? null,
    keyOf(email),
  ]);
  return rows.length > 0 ? browser.id : undefined;
}

async function isKnownThere(database: Queryable, { email, client }: SignInTry): Promise<boolean> {
  const rows = await database.query(
    `SELECT FROM sign_in_places p JOIN users u ON u.id = p.user_id
     WHERE u.email = $1 AND p.network = $2 LIMIT 1`,
    [keyOf(email), networkOf(client)],
  );
  return rows.length > 0;
}

async function mustBeFree(database: Database, kind: Kind, name: string): Promise<void> {
  const wait = await count(database, kind, name);
  if (wait === 0) return;
  const seconds = wait === 1 ? '1 second' : `${wait} seconds`;
  const shown = wait < 2 * MINUTE ? seconds : `${Math.ceil(wait / MINUTE)} minutes`;
  throw new Problem(
    'over-limit',
    `Too many attempts. Wait ${shown}, or ask an operator to set a new password.`,
    { retryAfterSeconds: wait },
  );
}

/**
 * Seconds to wait; 0: it counted. A try that comes too early is not counted and makes nobody wait
 * longer.
 */
async function count(database: Database, kind: Kind, name: string): Promise<number> {
  const { free, firstWait, longestWait, forgottenAfter }: Rule = RULES[kind];
  const subject = `${kind} ${name}`;
  const counted = await database.query(
    `INSERT INTO sign_in_tries AS kept (subject, tries, tried_at, free_at)
     VALUES ($1, 1, clock_timestamp(), clock_timestamp())
     ON CONFLICT (subject) DO UPDATE SET
       tries = CASE WHEN ${FORGOTTEN} THEN 1 ELSE kept.tries + 1 END,
       tried_at = clock_timestamp(),
       free_at = clock_timestamp() + interval '1 second' * CASE
         WHEN ${FORGOTTEN} OR kept.tries + 1 < $2 THEN 0
         ELSE least($4, $3 * 2 ^ least(30, kept.tries + 1 - $2)) END
     WHERE kept.free_at <= clock_timestamp() RETURNING subject`,
    [subject, free, firstWait, longestWait, forgottenAfter],
  );
  if (counted.length > 0) return 0;
  const [row] = await database.query<{ wait: number }>(
    `SELECT ceil(extract(epoch FROM free_at - clock_timestamp()))::int AS wait FROM sign_in_tries WHERE subject = $1`,
    [subject],
  );
  return Math.max(1, row?.wait ?? 1);
}

const FORGOTTEN = `kept.tried_at < clock_timestamp() - $5 * interval '1 second'`;
