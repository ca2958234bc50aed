// API keys. Types only, so that web/ reads them too.
import type { Scope } from './common.ts';

export interface KeyLimits {
  /** Addresses and domains; null: anybody. */
  allowedRecipients: string[] | null;
  templatesOnly: boolean;
  noBcc: boolean;
  /** Recipients a UTC day, below the account's quota; null: none of its own. */
  dailyCap: number | null;
  sandboxOnly: boolean;
}

export interface KeyRow {
  id: string;
  name: string | null;
  prefix: string;
  scopes: Scope[];
  limits: KeyLimits | null;
  /** Null: it does not end by itself. */
  expiresAt: string | null;
  /** Addresses and networks it may be used from; null: anywhere. */
  networks: string[] | null;
  createdAt: string;
  lastUsedAt: string | null;
  revokedAt: string | null;
}

export interface NewKey {
  name?: string;
  scopes: Scope[];
  limits?: Partial<KeyLimits>;
  expiresAt?: string | null;
  networks?: string[] | null;
}
