// DKIM keys of a domain: made as a pair of pairs, kept sealed, opened again for signing
// (mail/senders.ts).
import { createPrivateKey, generateKeyPair, type KeyObject } from 'node:crypto';
import { promisify } from 'node:util';
import { Problem } from '../errors.ts';
import type { SealedColumn } from '../store/sealed-columns.ts';
import type { Vault } from '../store/vault.ts';

/**
 * RFC 8301 3.2: 2048 bits; RFC 8463 for receivers that know Ed25519. Those who do not, use the
 * other.
 */
export type KeyKind = 'rsa' | 'ed25519';

export type DomainKeys = Record<KeyKind, KeyPair>;

interface KeyPair {
  /** base64, as it is after p= in DNS. */
  public: string;
  /** DER (PKCS #8), to be sealed. */
  private: Buffer;
}

const makePair = promisify(generateKeyPair);

export async function makeDomainKeys(): Promise<DomainKeys> {
  const rsa = await makePair('rsa', { modulusLength: 2048 });
  const ed25519 = await makePair('ed25519');
  return {
    rsa: { public: spki(rsa.publicKey).toString('base64'), private: pkcs8(rsa.privateKey) },
    ed25519: {
      // RFC 8463 4: the bare 32 bytes.
      public: spki(ed25519.publicKey).subarray(-32).toString('base64'),
      private: pkcs8(ed25519.privateKey),
    },
  };
}

/** What a sealed key is bound to: moved to another row, it cannot be opened. */
export const keyLabel = (
  kind: KeyKind,
  of: { accountId: number; domain: string; selector: string },
): string => `${kind} ${of.domain} (account ${of.accountId}, selector ${of.selector})`;

export function openDomainKey(
  vault: Vault,
  kind: KeyKind,
  of: { accountId: number; domain: string; selector: string },
  sealed: Buffer,
): KeyObject {
  const der = vault.open(keyLabel(kind, of), sealed);
  if (der !== undefined) return createPrivateKey({ key: der, format: 'der', type: 'pkcs8' });
  throw new Problem(
    'unavailable',
    `The DKIM key of ${of.domain} (${kind}, account ${of.accountId}) cannot be decrypted with this SECRET_KEY: it was encrypted with another one, or changed since. Remove the domain and add it again, then publish its new records.`,
    { see: 'remove_domain' },
  );
}

/** All their sealed values (roles/secrets.ts). */
export const DOMAIN_KEY_COLUMNS: readonly SealedColumn[] = (['', 'next_'] as const).flatMap(
  (which) => (['rsa', 'ed25519'] as const).map((kind) => sealedKey(kind, which)),
);

function sealedKey(kind: KeyKind, which: '' | 'next_'): SealedColumn {
  const selector = `${which}selector`;
  return {
    table: 'domains',
    column: `${which}${kind}_private`,
    key: ['account_id', 'domain', selector],
    label: (row) =>
      keyLabel(kind, {
        accountId: Number(row.account_id),
        domain: String(row.domain),
        selector: String(row[selector]),
      }),
    name: (row) =>
      `The ${which === '' ? '' : 'next '}DKIM key of ${row.domain} (${kind}, account ${row.account_id})`,
  };
}

const spki = (key: KeyObject): Buffer => key.export({ type: 'spki', format: 'der' });
const pkcs8 = (key: KeyObject): Buffer => key.export({ type: 'pkcs8', format: 'der' });
