// Second factors and sessions, as the pages show and send them. Types only, so that web/ can import
// them too. Bytes are base64url.
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
  /** Ids of the existing ones: a device needs only one. */
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
  /** No new proof is needed before a change. */
  fresh: boolean;
}

export interface AppSecret {
  /** To type if the code cannot be scanned. */
  secret: string;
  /** Opens the app on the same device. */
  link: string;
  /** A PNG as a data: URL. */
  qr: string;
}

/** Shown once; null: the existing ones stay valid. */
export interface RecoveryCodes {
  codes: string[] | null;
}

export interface SessionView extends OpenSession {
  current: boolean;
}
