// Waiting for an email, for tests: callers wait until the mailbox has what they want, or until
// their time is up. Before it: operations/sandbox.ts. A waiting caller costs no extra query: one
// statement asks for all of them, five times a second, and only while someone waits. So it does not
// matter which process captured the email.
import { Problem } from '../errors.ts';
import type { Log } from '../process/log.ts';
import { recurringFault } from '../process/recurring-fault.ts';
import type { Database } from '../store/pool.ts';
import { IS_WANTED, type Wanted } from './account-inbox.ts';

const ASK_EVERY_MS = 200;
const MOST_OF_ONE = 100;
const MOST_AT_ALL = 2000;

export interface MailboxWaiting {
  /**
   * Settles when there is such an email, after `ms`, when the caller has gone or when the process
   * stops; the caller then looks at what there is.
   */
  until(who: Waiter, ms: number, onGone?: (stop: () => void) => void): Promise<void>;
  /** Ends all waits; afterwards nobody can wait. */
  close(): Promise<void>;
}

export interface Waiter {
  accountId: number;
  /** The key or the person: each has its own limit. */
  caller: string;
  wanted: Wanted;
}

export function openWaiting({ database, log }: { database: Database; log: Log }): MailboxWaiting {
  const couldNotAsk = recurringFault(
    log,
    'warn',
    'could not look for the emails that tests wait for',
  );
  const waiting = new Map<Waiter, () => void>();
  let asking: Promise<void> | undefined;
  let closed = false;
  let timer: NodeJS.Timeout | undefined;

  function askLater(): void {
    if (timer !== undefined || closed || waiting.size === 0) return;
    timer = setTimeout(() => {
      timer = undefined;
      asking = ask().finally(askLater);
    }, ASK_EVERY_MS);
  }

  async function ask(): Promise<void> {
    const waiters = [...waiting.keys()];
    try {
      for (const found of await findAnswered(database, waiters)) waiting.get(found)?.();
    } catch (error) {
      couldNotAsk(error);
    }
  }

  return {
    until(who, ms, onGone) {
      if (closed) return Promise.resolve();
      requireRoom(waiting, who);
      return new Promise((resolve) => {
        const end = (): void => {
          clearTimeout(over);
          waiting.delete(who);
          resolve();
        };
        const over = setTimeout(end, ms);
        waiting.set(who, end);
        onGone?.(end);
        askLater();
      });
    },
    async close() {
      closed = true;
      clearTimeout(timer);
      for (const end of [...waiting.values()]) end();
      await asking;
    },
  };
}

function requireRoom(waiting: ReadonlyMap<Waiter, unknown>, { caller }: Waiter): void {
  let own = 0;
  for (const other of waiting.keys()) if (other.caller === caller) own++;
  if (own < MOST_OF_ONE && waiting.size < MOST_AT_ALL) return;
  throw new Problem(
    'over-limit',
    own < MOST_OF_ONE
      ? 'Too many calls are waiting for emails at once. Try again in a moment.'
      : `This API key has ${MOST_OF_ONE} calls waiting for an email. Let some of them end first.`,
    { retryAfterSeconds: 1 },
  );
}

/** The waiters whose email has arrived. */
async function findAnswered(database: Database, waiters: readonly Waiter[]): Promise<Waiter[]> {
  const rows = await database.prepared<{ n: number }>(
    'sandbox-waiting',
    `SELECT w.n FROM unnest($1::bigint[], $2::text[], $3::text[], $4::uuid[])
       WITH ORDINALITY AS w (account_id, "to", subject, after, n)
     WHERE EXISTS (SELECT FROM sandbox_mails s WHERE s.account_id = w.account_id AND ${IS_WANTED})`,
    [
      waiters.map(({ accountId }) => accountId),
      waiters.map(({ wanted }) => wanted.to),
      waiters.map(({ wanted }) => wanted.subject),
      waiters.map(({ wanted }) => wanted.afterUuid),
    ],
  );
  return rows.map(({ n }) => waiters[Number(n) - 1]!);
}
