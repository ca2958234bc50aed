// The person whom an export or an erasure is about, and how their address is found in what was
// written for people: replies of mail servers, changes in the audit.
import { addressKey } from '../addresses.ts';
import { erasedAddress } from '../suppressions/erased.ts';

export interface Person {
  accountId: number;
  /** The address, as lists have it. */
  key: string;
  /** Stands for the address once it is erased. */
  mark: string;
  /**
   * Finds it in text and in JSON, for PostgreSQL and without case. Also as the end of a longer
   * address: better to erase a letter of someone else's than to leave this one.
   */
  pattern: string;
  /**
   * The same, but not within a longer address: what is given out must not be about others.
   * Hyphens and underscores may join it to something: `welcome-ada@example.com`.
   */
  exact: string;
}

export function personOf(accountId: number, address: string): Person {
  const key = addressKey(address);
  const forms = new Set([key, JSON.stringify(key).slice(1, -1)]);
  const pattern = `(?:${[...forms].map(literally).join('|')})`;
  const exact = `(?<![a-z0-9.+])${pattern}(?![\\w-]|\\.\\w)`;
  return { accountId, key, mark: erasedAddress(accountId, address), pattern, exact };
}

const literally = (text: string): string => text.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&');
