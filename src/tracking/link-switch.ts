// Whether a tracked link still works: not if its account is suspended or gone, nor if an operator
// switched it off (disabled-links.ts). Used by inbound/click.ts and open.ts on every visit, so the
// answer is cached for two seconds. While the database is away the last answer holds, and without
// one links work: our outage must not affect readers.
import { bytesToUuid } from '../ids.ts';
import type { Log } from '../process/log.ts';
import { recurringFault } from '../process/recurring-fault.ts';
import type { Database } from '../store/pool.ts';
import { erasedUrl } from '../suppressions/erased.ts';
import type { TrackingToken } from './token.ts';

export interface LinkSwitch {
  /** Whether the account exists and is not suspended. */
  isActive(accountId: number): Promise<boolean>;
  /** Whether the link of a click leads to its target. */
  leads(token: Pick<TrackingToken, 'accountId' | 'messageId' | 'url'>): Promise<boolean>;
}

interface AccountLinks {
  active: boolean;
  /** `uuid url`; with nothing after the space, all links of the message. */
  off: ReadonlySet<string>;
}

const REMEMBERED_MS = 2000;
/** The longest a reader waits for it. */
const LONGEST_WAIT_MS = 500;
const MOST_REMEMBERED = 10_000;

export function openLinkSwitch(deps: { database: Database; log: Log }): LinkSwitch {
  const { database } = deps;
  const couldNotAsk = recurringFault(
    deps.log,
    'warn',
    'could not read which links are switched off',
  );
  const accounts = remembering<number, AccountLinks>(
    async (accountId) => {
      const [row] = await database.prepared<{ active: boolean; off: string[] }>(
        'account-links',
        `SELECT a.suspended_at IS NULL AS active,
                array(SELECT l.message_id || ' ' || l.url FROM disabled_links l WHERE l.account_id = a.id) AS off
         FROM accounts a WHERE a.id = $1`,
        [accountId],
      );
      return { active: row?.active ?? false, off: new Set(row?.off) };
    },
    { active: true, off: new Set() },
    couldNotAsk,
  );
  const hosts = remembering<'hosts', ReadonlySet<string>>(
    async () => {
      const rows = await database.prepared<{ host: string }>(
        'disabled-link-hosts',
        'SELECT host FROM disabled_link_hosts',
        [],
      );
      return new Set(rows.map(({ host }) => host));
    },
    new Set(),
    couldNotAsk,
  );

  return {
    isActive: async (accountId) => (await accounts(accountId)).active,
    async leads({ accountId, messageId, url }) {
      const [{ active, off }, offHosts] = await Promise.all([accounts(accountId), hosts('hosts')]);
      if (!active) return false;
      if (off.size > 0) {
        const uuid = bytesToUuid(messageId);
        const { href } = new URL(url);
        const names = ['', href, erasedUrl(accountId, href)];
        if (names.some((name) => off.has(`${uuid} ${name}`))) return false;
      }
      return offHosts.size === 0 || !namesOf(url).some((name) => offHosts.has(name));
    },
  };
}

/** `a.b.example`, `b.example`, `example`: a rule for a host also applies to the names below it. */
function namesOf(url: string): string[] {
  const labels = new URL(url).hostname.replace(/\.$/, '').split('.');
  return labels.map((_, index) => labels.slice(index).join('.'));
}

/** Asks once for all simultaneous callers, and again when the answer is old. */
function remembering<Key, Value>(
  ask: (key: Key) => Promise<Value>,
  otherwise: Value,
  couldNotAsk: (error: unknown) => void,
): (key: Key) => Promise<Value> {
  const known = new Map<Key, { answer: Promise<Value>; value: Value; untilMs: number }>();
  return (key) => {
    const last = known.get(key);
    const nowMs = performance.now();
    if (last !== undefined && nowMs < last.untilMs) return last.answer;
    if (known.size >= MOST_REMEMBERED) known.clear();
    const entry = {
      value: last?.value ?? otherwise,
      untilMs: nowMs + REMEMBERED_MS,
      answer: Promise.resolve(otherwise),
    };
    const asked = ask(key).then(
      (value) => {
        entry.value = value;
        return value;
      },
      (error: unknown) => {
        couldNotAsk(error);
        return entry.value;
      },
    );
    entry.answer = Promise.race([asked, later(() => entry.value)]);
    known.set(key, entry);
    return entry.answer;
  };
}

const later = <Value>(value: () => Value): Promise<Value> =>
  new Promise((resolve) => {
    setTimeout(() => resolve(value()), LONGEST_WAIT_MS).unref();
  });
