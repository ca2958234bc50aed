// An erased address must stay suppressed although nobody may know it any more: only its hash is
// kept, which still matches when someone sends to the address again.
import { hash } from 'node:crypto';
import { addressKey } from '../addresses.ts';

const PREFIX = 'erased:';

/**
 * Replaces it in the lists. Bound to the account: in another, the same address has another hash.
 */
export const erasedKey = (accountId: number, address: string): string =>
  PREFIX + hash('sha256', `${accountId}\0${addressKey(address)}`);

/** Replaces a URL that was switched off: it still matches when someone follows it. */
export const erasedUrl = (accountId: number, url: string): string =>
  PREFIX + hash('sha256', `${accountId}\0${url}`);

export const isErased = (text: string): boolean => text.startsWith(PREFIX);

/** Both forms in which an address may be in a list. */
export const listedForms = (accountId: number, address: string): string[] => [
  addressKey(address),
  erasedKey(accountId, address),
];

/** Replaces it where an address is expected; it belongs to nobody (RFC 2606). */
export const erasedAddress = (accountId: number, address: string): string =>
  `${erasedKey(accountId, address).slice(PREFIX.length, PREFIX.length + 16)}@erased.invalid`;
