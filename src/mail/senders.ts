// How mails of a domain go out: signed with which keys, with which return path. Asked by attempt.ts
// for every mail. Keys are opened once and kept as KeyObjects, until the account changes (its
// version comes with every loaded mail).
import { openDomainKey } from '../accounts/domain-keys.ts';
import { returnPathHost, selectorsOf } from '../accounts/domain-records.ts';
import { Problem } from '../errors.ts';
import type { Database } from '../store/pool.ts';
import { SecretChanged, type Vault } from '../store/vault.ts';
import type { DkimKey } from './dkim.ts';

export interface Sender {
  /** Both algorithms, or none where the account has no keys for the domain. */
  keys: DkimKey[];
  /**
   * The domain's own where its CNAME leads to us (SPF then aligns for DMARC), else BOUNCE_DOMAIN.
   */
  returnPathDomain: string;
}

export interface Senders {
  /**
   * Rejects when the keys cannot be opened: a mail that should be signed waits rather than going
   * out without.
   */
  of(account: { id: number; version: number }, domain: string): Promise<Sender>;
  /** BOUNCE_DOMAIN. */
  bounceDomain: string;
}

/** More accounts than this are not kept in memory at a time. */
const MOST_ACCOUNTS = 10_000;

export function openSenders(deps: {
  database: Database;
  vault: Vault;
  bounceDomain: string;
}): Senders {
  const accounts = new Map<number, { version: number; domains: Map<string, Promise<Sender>> }>();

  return {
    bounceDomain: deps.bounceDomain,
    of(account, domain) {
      let known = accounts.get(account.id);
      if (known?.version !== account.version) {
        if (accounts.size >= MOST_ACCOUNTS) accounts.clear();
        known = { version: account.version, domains: new Map() };
        accounts.set(account.id, known);
      }
      const { domains } = known;
      const remembered = domains.get(domain);
      if (remembered !== undefined) return remembered;
      const loading = load(account.id, domain);
      domains.set(domain, loading);
      loading.catch(() => domains.delete(domain));
      return loading;
    },
  };

  /** What does not open may have been sealed anew just now: that is no fault of the mail's. */
  async function load(accountId: number, domain: string): Promise<Sender> {
    try {
      return await open(accountId, domain);
    } catch (error) {
      if (error instanceof Problem && !(await deps.vault.isInForce(deps.database))) {
        throw new SecretChanged();
      }
      throw error;
    }
  }

  async function open(accountId: number, domain: string): Promise<Sender> {
    const [row] = await deps.database.prepared<{
      selector: string;
      rsa: Buffer;
      ed25519: Buffer;
      ownReturnPath: boolean;
    }>(
      'sender-keys',
      `SELECT d.selector, d.rsa_private AS rsa, d.ed25519_private AS ed25519, d.return_path_seen AS "ownReturnPath"
       FROM domains d JOIN identities i ON i.account_id = d.account_id AND i.value = d.domain
       WHERE d.account_id = $1 AND d.domain = $2 AND i.verified_at IS NOT NULL`,
      [accountId, domain],
    );
    if (row === undefined) return { keys: [], returnPathDomain: deps.bounceDomain };
    const of = { accountId, domain, selector: row.selector };
    const selectors = selectorsOf(row.selector);
    const keyOf = (kind: 'rsa' | 'ed25519'): DkimKey => ({
      domain,
      selector: selectors[kind],
      algorithm: `${kind}-sha256`,
      privateKey: openDomainKey(deps.vault, kind, of, row[kind]),
    });
    return {
      keys: [keyOf('rsa'), keyOf('ed25519')],
      returnPathDomain: row.ownReturnPath ? returnPathHost(domain) : deps.bounceDomain,
    };
  }
}
