// An address that was erased must stay suppressed although nobody may know it any more: what is kept
// is its hash, under which it is still found when somebody writes to it again.
import { createHash } from 'node:crypto';
import { addressKey } from '../addresses.ts';

const PREFIX = 'erased:';

/** What stands for it in the lists. Bound to the account: elsewhere the same address is another. */
export const erasedKey = (accountId: number, address: string): string =>
  PREFIX +
  createHash('sha256')
    .update(`${accountId}\0${addressKey(address)}`)
    .digest('hex');

/** Both forms in which an address may be in a list. */
export const listedForms = (accountId: number, address: string): string[] => [
  addressKey(address),
  erasedKey(accountId, address),
];

/** What stands for it where an address is expected; it belongs to nobody (RFC 2606). */
export const erasedAddress = (accountId: number, address: string): string =>
  `${erasedKey(accountId, address).slice(PREFIX.length, PREFIX.length + 16)}@erased.invalid`;
