// The address of an uploaded logo, and the logo in an address. Imports nothing: pages read it too.
// Before: logos.ts kept one. After: inbound/logo.ts shows it; branding.ts knows what can be inline.

export const LOGO_PATH = '/logos/';

/** It may be carried by every email, and is shown 32 pixels high. */
export const MOST_LOGO_BYTES = 128 * 1024;

export interface LogoName {
  accountId: number;
  /** SHA-256 of its bytes. */
  hash: string;
}

const LOGO_NAME = /\/logos\/(\d{1,15})\/([0-9a-f]{64})\.(?:png|jpg|gif|webp)$/;

/** The uploaded logo that a URL or path refers to; undefined: none. */
export function logoNameIn(address: string): LogoName | undefined {
  const [, accountId, hash] = LOGO_NAME.exec(address) ?? [];
  return hash === undefined ? undefined : { accountId: Number(accountId), hash };
}
