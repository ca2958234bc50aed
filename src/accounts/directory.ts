// The directory: what a process remembers of accounts, keys, identities and more, so that a send
// asks the database nothing. Every change raises the account's version; each process asks twice a
// second for the versions of the accounts it serves, and trusts nothing that was not confirmed
// within the last second. So a revoked key dies everywhere within 1 s, even while polls fail.

import { addressKey, type Mailbox } from '../addresses.ts';
import { Problem } from '../errors.ts';
import { networkSet } from '../networks.ts';
import type { Clock } from '../process/clock.ts';
import type { Log } from '../process/log.ts';
import { recurringFault } from '../process/recurring-fault.ts';
import { repeatedly } from '../process/repeatedly.ts';
import { among, byShard } from '../store/places.ts';
import type { Database } from '../store/pool.ts';
import { type AgentLimits, LIMIT_COLUMNS, limitsOf } from './agent-limits.ts';
import { type Alignment, faultOf } from './alignment.ts';
import { expiredKey, wrongNetwork } from './key-bounds.ts';
import { accountOfKey, hasChecksum, hashOfKey } from './keys.ts';
import { PLANS, type Plan } from './plans.ts';
import { ALL_SCOPES, expandScopes, type Scope } from './scopes.ts';
import { suspendedProblem } from './suspension.ts';

const POLL_EVERY_MS = 400;
const TRUSTED_FOR_MS = 1000;
const FORGOTTEN_AFTER_MS = 60_000;
const LAST_USED_EVERY_MS = 5000;

/** Who is calling: an account through one of its keys, or through the dashboard. */
export interface Caller {
  accountId: number;
  /** Null: no key, the dashboard. */
  keyId: string | null;
  scopes: ReadonlySet<Scope>;
  /** Rules this key carries; null: none. */
  limits: AgentLimits | null;
  /** Why the account may not send for now; null: it may. */
  paused: string | null;
}

export interface Directory {
  /**
   * The caller behind an X-API-Key, returned at once if it is remembered, or a Problem:
   * unauthenticated, suspended, not-paying. `from` returns the requester's IP address; it is called
   * only for keys that are bound to networks.
   */
  authenticate(key: string | undefined, from: () => string): Caller | Promise<Caller>;
  /** The account itself, for its people in the dashboard, or a Problem: suspended, not-paying. */
  member(accountId: number): Promise<Caller>;
  /**
   * What is known about a mailbox that the account may send from, because the exact address or its
   * domain is verified; undefined: it may not.
   */
  senderOf(
    caller: Caller,
    from: Mailbox,
  ): KnownSender | undefined | Promise<KnownSender | undefined>;
  /**
   * One more thing to remember of every account: loaded when first asked for, forgotten as soon as
   * the account changes.
   */
  perAccount<Value>(
    load: (accountId: number) => Promise<Value>,
  ): (accountId: number) => Promise<Value>;
  /**
   * Records which keys this process saw in use, as it does every few seconds anyway: for whoever is
   * about to read that.
   */
  noteUses(): Promise<void>;
  /** Drops what is remembered of an account, for changes made by this process itself. */
  forget(accountId: number): void;
  close(): Promise<void>;
}

export interface KnownSender {
  /** Why its email cannot pass DMARC; null: it can, or this is unknown. */
  unaligned: string | null;
  /** Such email is refused. */
  refuseUnaligned: boolean;
  /** What is sent is linted. */
  lintSends: boolean;
}

interface Entry {
  id: number;
  version: number;
  plan: Plan;
  /** Why it is suspended; null: it is not. */
  suspended: string | null;
  /** Why it is paused; null: it is not. */
  paused: string | null;
  /** By the key's own text: hashing it for every request took 2 % of a send. */
  keys: Map<string, KeyCaller>;
  refuseUnaligned: boolean;
  lintSends: boolean;
  /** Verified addresses and domains that were asked for. */
  senders: Map<string, KnownSender>;
  /** What perAccount remembers, by how it is loaded. */
  others: Map<unknown, Promise<unknown>>;
  confirmedAtMs: number;
  usedAtMs: number;
}

interface KeyCaller extends Caller {
  keyId: string;
  /** Infinity: never. */
  expiresAtMs: number;
  /** Undefined: it may be used from anywhere. */
  isAllowedFrom: ((address: string) => boolean) | undefined;
}

interface AccountState {
  version: number;
  plan: Plan;
  suspended: string | null;
  paused: string | null;
  refuseUnaligned: boolean;
  lintSends: boolean;
}

interface KeyState extends AgentLimits {
  id: string;
  scopes: Scope[];
  expiresAt: Date | null;
  networks: string[] | null;
}

const ACCOUNT_STATE = `version, plan, suspended_reason AS suspended, paused_reason AS paused,
  refuse_unaligned AS "refuseUnaligned", lint_sends AS "lintSends"`;

export function openDirectory(deps: {
  database: Database;
  clock: Clock;
  log: Log;
  bounceDomain: string;
}): Directory {
  const { database, clock, log } = deps;
  const couldNotAsk = recurringFault(log, 'warn', 'could not ask for changed accounts');
  const couldNotNote = recurringFault(log, 'warn', 'could not note the last use of keys');
  const entries = new Map<number, Entry>();
  const usedKeys = new Map<string, { accountId: number; atMs: number }>();

  /** What is known of an account and may still be trusted. */
  function remembered(accountId: number): Entry | undefined {
    const nowMs = clock.nowMs();
    const known = entries.get(accountId);
    if (known === undefined || nowMs - known.confirmedAtMs >= TRUSTED_FOR_MS) return undefined;
    known.usedAtMs = nowMs;
    return known;
  }

  async function entryOf(accountId: number): Promise<Entry | undefined> {
    const known = remembered(accountId);
    if (known !== undefined) return known;
    const nowMs = clock.nowMs();
    const [row] = await database
      .near(accountId)
      .prepared<AccountState>(
        'directory-account',
        `SELECT ${ACCOUNT_STATE} FROM accounts WHERE id = $1`,
        [accountId],
      );
    if (row === undefined) {
      entries.delete(accountId);
      return undefined;
    }
    return confirm(accountId, row, nowMs, nowMs);
  }

  /** Keeps what is known if the version is the same, otherwise starts over. */
  function confirm(id: number, row: AccountState, confirmedAtMs: number, usedAtMs: number): Entry {
    const known = entries.get(id);
    if (known && known.version === row.version) {
      known.confirmedAtMs = confirmedAtMs;
      known.usedAtMs = Math.max(known.usedAtMs, usedAtMs);
      return known;
    }
    const entry: Entry = {
      id,
      version: row.version,
      plan: row.plan,
      suspended: row.suspended,
      paused: row.paused,
      refuseUnaligned: row.refuseUnaligned,
      lintSends: row.lintSends,
      keys: new Map(),
      senders: new Map(),
      others: new Map(),
      confirmedAtMs,
      usedAtMs,
    };
    entries.set(id, entry);
    return entry;
  }

  async function callerOf(entry: Entry, key: string): Promise<KeyCaller | undefined> {
    const known = entry.keys.get(key);
    if (known) return known;
    const [row] = await database.near(entry.id).prepared<KeyState>(
      'directory-key',
      `SELECT id, scopes, expires_at AS "expiresAt", networks, ${LIMIT_COLUMNS} FROM api_keys
       WHERE account_id = $1 AND hash = $2 AND revoked_at IS NULL`,
      [entry.id, Buffer.from(hashOfKey(key), 'hex')],
    );
    if (row === undefined) return undefined;
    const caller: KeyCaller = {
      accountId: entry.id,
      keyId: row.id,
      scopes: expandScopes(row.scopes),
      limits: limitsOf(row),
      paused: entry.paused,
      expiresAtMs: row.expiresAt?.getTime() ?? Number.POSITIVE_INFINITY,
      isAllowedFrom: row.networks === null ? undefined : networkSet(row.networks),
    };
    entry.keys.set(key, caller);
    return caller;
  }

  async function lookUpKey(accountId: number, key: string, from: () => string): Promise<Caller> {
    if (!hasChecksum(key)) throw unknownKey();
    const entry = await entryOf(accountId);
    const caller = entry && (await callerOf(entry, key));
    if (entry === undefined || caller === undefined) throw unknownKey();
    return admit(entry, caller, from);
  }

  function admit(entry: Entry, caller: KeyCaller, from: () => string): Caller {
    const nowMs = clock.nowMs();
    if (nowMs >= caller.expiresAtMs) throw expiredKey(caller.expiresAtMs);
    usedKeys.set(caller.keyId, { accountId: caller.accountId, atMs: nowMs });
    requireActive(entry);
    if (caller.isAllowedFrom !== undefined) requireNetwork(caller.isAllowedFrom, from());
    return caller;
  }

  async function lookUpSender(accountId: number, from: Mailbox): Promise<KnownSender | undefined> {
    const entry = await entryOf(accountId);
    if (entry === undefined) return undefined;
    const known = knownSender(entry, from);
    if (known !== undefined) return known;
    const rows = await database.near(accountId).prepared<SenderRow>(
      'directory-sender',
      `SELECT i.value, d.selector IS NOT NULL AS "hasKeys", d.alignment FROM identities i
       LEFT JOIN domains d ON d.account_id = i.account_id AND d.domain = i.value
       WHERE i.account_id = $1 AND i.value IN ($2, $3) AND i.verified_at IS NOT NULL`,
      [accountId, addressKey(from.address), from.domain],
    );
    // A covered address is remembered under its domain, so a domain with many senders takes one
    // entry.
    const verified = rows.find((row) => row.value === from.domain) ?? rows[0];
    if (verified === undefined) return undefined;
    const { refuseUnaligned, lintSends } = entry;
    const unaligned = faultOf(verified, from.domain, deps.bounceDomain);
    const sender = { unaligned, refuseUnaligned, lintSends };
    entry.senders.set(verified.value, sender);
    return sender;
  }

  async function poll(): Promise<void> {
    const startedAtMs = clock.nowMs();
    for (const entry of entries.values()) {
      if (startedAtMs - entry.usedAtMs > FORGOTTEN_AFTER_MS) entries.delete(entry.id);
    }
    if (entries.size === 0) return;
    const groups = byShard(database, [...entries.keys()], (id) => id);
    const asked = groups.map(async (ids) => {
      const rows = await database
        .near(ids[0]!)
        .prepared<AccountState & { id: number }>(
          'directory-poll',
          `SELECT id, ${ACCOUNT_STATE} FROM accounts WHERE id = ANY ($1)`,
          [ids],
        );
      for (const row of rows) confirm(row.id, row, startedAtMs, 0);
    });
    // Nothing is confirmed for a node that is away; accounts on the others are unaffected.
    for (const one of await Promise.allSettled(asked)) {
      if (one.status === 'rejected') couldNotAsk(one.reason);
    }
  }

  async function writeLastUsed(): Promise<void> {
    if (usedKeys.size === 0) return;
    const groups = byShard(database, [...usedKeys], ([, { accountId }]) => accountId);
    usedKeys.clear();
    await Promise.all(groups.map(noteUsed));
  }

  async function noteUsed(used: [string, { accountId: number; atMs: number }][]): Promise<void> {
    const accounts = used.map(([, use]) => use.accountId);
    const node = database.near(accounts[0]!);
    await node.query(
      `UPDATE api_keys k SET last_used_at = greatest(k.last_used_at, to_timestamp(u.at))
       FROM unnest($1::bigint[], $2::uuid[], $3::float8[]) AS u (account_id, id, at)
       WHERE k.account_id = u.account_id AND k.id = u.id AND ${among('k.account_id', 4)}`,
      [
        accounts,
        used.map(([id]) => id),
        used.map(([, use]) => use.atMs / 1000),
        node.home(accounts),
      ],
    );
  }

  const polling = repeatedly(POLL_EVERY_MS, poll, couldNotAsk);
  const lastUsedTimer = setInterval(() => {
    writeLastUsed().catch(couldNotNote);
  }, LAST_USED_EVERY_MS);

  return {
    authenticate(key, from) {
      if (key === undefined || key === '') {
        throw new Problem(
          'unauthenticated',
          'The X-API-Key header is missing. Send your API key in it.',
        );
      }
      const accountId = accountOfKey(key);
      if (accountId === undefined) throw unknownKey();
      const entry = remembered(accountId);
      const caller = entry?.keys.get(key);
      return entry && caller ? admit(entry, caller, from) : lookUpKey(accountId, key, from);
    },

    async member(accountId) {
      const entry = await entryOf(accountId);
      if (entry === undefined) {
        throw new Problem('not-found', `There is no account ${accountId}.`);
      }
      requireActive(entry);
      return {
        accountId,
        keyId: null,
        scopes: new Set(ALL_SCOPES),
        limits: null,
        paused: entry.paused,
      };
    },

    senderOf({ accountId }, from) {
      const entry = remembered(accountId);
      return (entry && knownSender(entry, from)) ?? lookUpSender(accountId, from);
    },

    perAccount<Value>(load: (accountId: number) => Promise<Value>) {
      return async (accountId: number): Promise<Value> => {
        const entry = await entryOf(accountId);
        const known = entry?.others.get(load) as Promise<Value> | undefined;
        if (known !== undefined) return known;
        const loading = load(accountId);
        entry?.others.set(load, loading);
        loading.catch(() => entry?.others.delete(load));
        return loading;
      };
    },

    noteUses: writeLastUsed,

    forget(accountId) {
      entries.delete(accountId);
    },

    async close() {
      clearInterval(lastUsedTimer);
      await polling.stop();
      await writeLastUsed().catch(() => undefined);
    },
  };
}

const knownSender = ({ senders }: Entry, from: Mailbox): KnownSender | undefined =>
  senders.get(from.domain) ?? senders.get(addressKey(from.address));

interface SenderRow {
  value: string;
  hasKeys: boolean;
  alignment: Alignment | null;
}

const unknownKey = (): Problem =>
  new Problem(
    'unauthenticated',
    'The X-API-Key is unknown. It may be mistyped or revoked; create a new key in the dashboard.',
  );

function requireNetwork(isAllowedFrom: (address: string) => boolean, from: string): void {
  if (!isAllowedFrom(from)) throw wrongNetwork(from);
}

function requireActive({ suspended, plan }: Entry): void {
  if (suspended !== null) throw suspendedProblem(suspended);
  if (PLANS[plan].paying) return;
  throw new Problem(
    'not-paying',
    'This account is on the free plan, which cannot use the API. Move it to a paid plan.',
  );
}
