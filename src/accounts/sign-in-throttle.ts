// Throttling of tries to sign in and of mails with a new password's link, by address and by client, counted in PostgreSQL so that it is exact across processes.
// A try counts before the password is looked at: many at once cannot slip through while the first is being checked.
import { addressKey } from '../addresses.ts';
import { Problem } from '../errors.ts';
import type { Database, Queryable } from '../store/pool.ts';

const WINDOW_MINUTES = 15;
const MOST_TRIES = { address: 10, client: 50, 'reset-address': 3, 'reset-client': 20 } as const;

type Kind = keyof typeof MOST_TRIES;

export interface SignInTry {
  email: string;
  /** IP address of the client. */
  client: string;
}

/** Counts a try; a Problem when there were too many. */
export async function countTry(database: Database, attempt: SignInTry): Promise<void> {
  // The client first: who tries many addresses must not use up the tries of the people behind them.
  await count(database, 'client', networkOf(attempt.client));
  await count(database, 'address', addressKey(attempt.email.trim()).slice(0, 320));
}

/** Counts a link that is asked for, whoever has the address: somebody else's mailbox must not be filled. */
export async function countReset(database: Database, attempt: SignInTry): Promise<void> {
  await count(database, 'reset-client', networkOf(attempt.client));
  await count(database, 'reset-address', addressKey(attempt.email.trim()).slice(0, 320));
}

async function count(database: Database, kind: Kind, name: string): Promise<void> {
  const [row] = await database.query<{ tries: number; wait: number }>(
    `INSERT INTO sign_in_tries AS kept (subject, tries, began_at) VALUES ($1, 1, clock_timestamp())
     ON CONFLICT (subject) DO UPDATE SET
       tries = CASE WHEN ${OVER} THEN 1 ELSE least(kept.tries, $2) + 1 END,
       began_at = CASE WHEN ${OVER} THEN clock_timestamp() ELSE kept.began_at END
     RETURNING tries, ceil(extract(epoch FROM began_at + interval '${WINDOW_MINUTES} minutes' - clock_timestamp()))::int AS wait`,
    [`${kind} ${name}`, MOST_TRIES[kind]],
  );
  if (row!.tries <= MOST_TRIES[kind]) return;
  throw new Problem(
    'over-limit',
    `Too many tries. Wait ${Math.ceil(row!.wait / 60)} minutes, or have an operator set a new password: npx sandmartin user password.`,
    { retryAfterSeconds: row!.wait },
  );
}

const OVER = `kept.began_at < clock_timestamp() - interval '${WINDOW_MINUTES} minutes'`;

/** The right password: the address starts anew, and the client gets its try back. */
export async function forgiveTry(database: Queryable, attempt: SignInTry): Promise<void> {
  await database.query('DELETE FROM sign_in_tries WHERE subject = $1', [
    `address ${addressKey(attempt.email.trim()).slice(0, 320)}`,
  ]);
  await database.query(
    'UPDATE sign_in_tries SET tries = greatest(0, tries - 1) WHERE subject = $1',
    [`client ${networkOf(attempt.client)}`],
  );
}

export async function pruneTries(database: Database): Promise<void> {
  await database.query(
    `DELETE FROM sign_in_tries WHERE began_at < now() - interval '${WINDOW_MINUTES} minutes'`,
  );
}

/** One customer has 2^64 addresses of IPv6 or more: they count as one. */
function networkOf(address: string): string {
  if (!address.includes(':')) return address;
  const [head = '', tail] = address.split('%')[0]!.split('::');
  const groups = head.split(':').filter((group) => group !== '');
  const after = (tail ?? '').split(':').filter((group) => group !== '');
  while (tail !== undefined && groups.length + after.length < 8) groups.push('0');
  return [...groups, ...after]
    .slice(0, 4)
    .map((group) => group.toLowerCase().replace(/^0+(?=.)/, ''))
    .join(':');
}
