// Second factors and sessions, as the pages show and send them. Types only, so that web/ reads them
// too. Bytes are base64url.
import type { OpenSession } from '../../people/sessions.ts';

/** What the authenticator answered when it signed. */
export interface PasskeyAssertion {
  id: string;
  clientData: string;
  authenticatorData: string;
  signature: string;
}

export interface PasskeyOptions {
  challenge: string;
  /** The host that passkeys belong to. */
  host: string;
}

export interface NewPasskeyOptions extends PasskeyOptions {
  user: { handle: string; email: string; name: string };
  algorithms: number[];
  /** Ids of those there are: one device needs one. */
  known: string[];
}

export interface AddPasskey {
  name: string;
  response: Omit<PasskeyAssertion, 'signature'>;
}

export type Proof = { password: string } | { passkey: PasskeyAssertion };

export interface FactorsView {
  app: boolean;
  passkeys: { id: string; name: string; createdAt: string; lastUsedAt: string | null }[];
  recoveryCodes: number;
  /** Nobody has to be asked again before something is changed. */
  fresh: boolean;
}

export interface AppSecret {
  /** To type where nothing can be scanned. */
  secret: string;
  /** Opens the app on the same device. */
  link: string;
  /** A PNG as a data: address. */
  qr: string;
}

/** Shown once; null: those there are stay. */
export interface RecoveryCodes {
  codes: string[] | null;
}

export interface SessionView extends OpenSession {
  current: boolean;
}
