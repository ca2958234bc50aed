// How emails of a domain are sent: with which signing keys and which return path. Used by
// attempt.ts for every email. Keys are opened once and kept as KeyObjects, until the account
// changes (its version comes with every loaded email).
import { openDomainKey } from '../accounts/domain-keys.ts';
import { returnPathHost, selectorsOf } from '../accounts/domain-records.ts';
import { Problem } from '../errors.ts';
import { createGroupCommit } from '../process/group-commit.ts';
import { among } from '../store/places.ts';
import type { Database } from '../store/pool.ts';
import { SecretChanged, type Vault } from '../store/vault.ts';
import type { DkimKey } from './dkim.ts';

export interface Sender {
  /**
   * Both algorithms, or none if the account has no keys for the domain; then the operator's, if
   * OPERATOR_DOMAIN is set.
   */
  keys: DkimKey[];
  /**
   * The domain's own if its CNAME points to us (SPF then aligns for DMARC), otherwise
   * BOUNCE_DOMAIN.
   */
  returnPathDomain: string;
}

export interface Senders {
  /**
   * Rejects if the keys cannot be opened: an email that should be signed waits rather than going
   * out unsigned.
   */
  of(account: { id: number; version: number }, domain: string): Promise<Sender>;
  /** BOUNCE_DOMAIN. */
  bounceDomain: string;
}

/** The most accounts kept in memory at a time. */
const MOST_ACCOUNTS = 10_000;

/** Other processes change the operator's keys too. */
const OPERATOR_KEY_MS = 60_000;

interface SendersDeps {
  database: Database;
  vault: Vault;
  bounceDomain: string;
  /** Its key signs every email as well; undefined: none does. */
  operatorDomain: string | undefined;
}

export function openSenders(deps: SendersDeps): Senders {
  const accounts = new Map<number, { version: number; domains: Map<string, Promise<Sender>> }>();
  const operatorKey = rememberOperatorKey(deps);
  // A claim has emails of many accounts: their keys are read together.
  const rows = createGroupCommit<AskedKey, KeyRow | undefined>({
    mostInFlight: 1,
    mostItems: 100,
    apart: ({ accountId }) => deps.database.shardOf(accountId),
    write: (asked) => readKeys(deps.database, asked),
  });

  return {
    bounceDomain: deps.bounceDomain,
    of(account, domain) {
      const own = ownOf(account, domain);
      const alone = deps.operatorDomain === undefined || deps.operatorDomain === domain;
      return alone ? own : withOperator(own, operatorKey());
    },
  };

  async function open(accountId: number, domain: string): Promise<Sender> {
    const row = await rows.add({ accountId, domain });
    if (row === undefined) return { keys: [], returnPathDomain: deps.bounceDomain };
    return {
      keys: [openKey(deps, 'rsa', domain, row), openKey(deps, 'ed25519', domain, row)],
      returnPathDomain: row.ownReturnPath ? returnPathHost(domain) : deps.bounceDomain,
    };
  }

  function ownOf(account: { id: number; version: number }, domain: string): Promise<Sender> {
    let known = accounts.get(account.id);
    if (known?.version !== account.version) {
      if (accounts.size >= MOST_ACCOUNTS) accounts.clear();
      known = { version: account.version, domains: new Map() };
      accounts.set(account.id, known);
    }
    const { domains } = known;
    const remembered = domains.get(domain);
    if (remembered !== undefined) return remembered;
    const loading = orSecretChanged(deps, open(account.id, domain));
    domains.set(domain, loading);
    loading.catch(() => domains.delete(domain));
    return loading;
  }
}

async function withOperator(
  own: Promise<Sender>,
  operatorKey: Promise<DkimKey | undefined>,
): Promise<Sender> {
  const [sender, key] = await Promise.all([own, operatorKey]);
  return key === undefined ? sender : { ...sender, keys: [...sender.keys, key] };
}

/** Keys that do not open may have just been resealed: that is no fault of the email. */
async function orSecretChanged<Opened>(deps: SendersDeps, opening: Promise<Opened>) {
  try {
    return await opening;
  } catch (error) {
    if (error instanceof Problem && !(await deps.vault.isInForce(deps.database))) {
      throw new SecretChanged();
    }
    throw error;
  }
}

interface KeyRow {
  accountId: number;
  selector: string;
  rsa: Buffer;
  ed25519: Buffer;
  ownReturnPath: boolean;
}

const KEY = `d.account_id AS "accountId", d.selector, d.rsa_private AS rsa,
  d.ed25519_private AS ed25519, d.return_path_seen AS "ownReturnPath"`;
const IS_VERIFIED = `i.account_id = d.account_id AND i.value = d.domain AND i.verified_at IS NOT NULL`;

interface AskedKey {
  accountId: number;
  domain: string;
}

/** For accounts of one shard. */
async function readKeys(
  all: Database,
  asked: readonly AskedKey[],
): Promise<(KeyRow | undefined)[]> {
  const accounts = asked.map(({ accountId }) => accountId);
  const database = all.near(accounts[0]!);
  const found = await database.prepared<KeyRow & { n: number }>(
    'sender-keys',
    `SELECT w.n, ${KEY}
     FROM unnest($1::bigint[], $2::text[]) WITH ORDINALITY AS w (account_id, domain, n)
     JOIN domains d ON d.account_id = w.account_id AND d.domain = w.domain AND ${among('d.account_id', 3)}
     JOIN identities i ON ${IS_VERIFIED} AND ${among('i.account_id', 3)}`,
    [accounts, asked.map(({ domain }) => domain), database.home(accounts)],
  );
  const rows = new Map(found.map(({ n, ...row }) => [n, row]));
  return asked.map((_, index) => rows.get(index + 1));
}

function openKey(
  { vault }: SendersDeps,
  kind: 'rsa' | 'ed25519',
  domain: string,
  row: KeyRow,
): DkimKey {
  return {
    domain,
    selector: selectorsOf(row.selector)[kind],
    algorithm: `${kind}-sha256`,
    privateKey: openDomainKey(vault, kind, { ...row, domain }, row[kind]),
  };
}

/**
 * RSA only: feedback loops that match by signing domain support nothing else, and it is half the
 * cost of a signed email. Undefined if no account has verified the domain.
 */
function rememberOperatorKey(deps: SendersDeps): () => Promise<DkimKey | undefined> {
  const domain = deps.operatorDomain;
  let remembered: Promise<DkimKey | undefined> | undefined;
  let atMs = 0;
  return () => {
    if (remembered === undefined || performance.now() - atMs > OPERATOR_KEY_MS) {
      atMs = performance.now();
      remembered = orSecretChanged(deps, load());
      remembered.catch(() => {
        remembered = undefined;
      });
    }
    return remembered;
  };

  async function load(): Promise<DkimKey | undefined> {
    if (domain === undefined) return undefined;
    const [row] = await deps.database.prepared<KeyRow>(
      'operator-key',
      `SELECT ${KEY} FROM domains d JOIN identities i ON ${IS_VERIFIED}
       WHERE d.domain = $1 ORDER BY d.account_id LIMIT 1`,
      [domain],
    );
    return row && openKey(deps, 'rsa', domain, row);
  }
}
