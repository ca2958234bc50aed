// Signing in and who is signed in, as the pages show and send it. Types only, so that web/ can
// import them too.
import type { Plan, Role } from './common.ts';

/** The app's first request. */
export interface SessionState {
  /** `set-up`: nobody can sign in yet; the service printed a link to /setup when it started. */
  state: 'set-up' | 'signed-out' | 'signed-in';
  me: Me | null;
}

export interface Me {
  user: { id: string; email: string; name: string; operator: boolean };
  /** The account this session works in; null: an operator who belongs to none. */
  account: {
    id: number;
    name: string;
    role: Role;
    plan: Plan;
    suspended: boolean;
    secondFactorRequired: boolean;
  } | null;
  /**
   * The account requires a second factor, and this session has shown none: only the profile is
   * open, where one can be set up.
   */
  locked: boolean;
  /** All accounts the user belongs to, for the switcher. */
  accounts: { id: number; name: string; role: Role }[];
  service: Service;
}

export interface Service {
  version: string;
  baseUrl: string;
  mcpUrl: string;
  /** True while no RELAY_URL is set: every email is captured, none is delivered. */
  sandbox: boolean;
  bounceDomain: string;
  /** Where programs send by SMTP, with an API key as the password; null: nowhere. */
  smtp: { host: string; port: number | null; securePort: number | null } | null;
}

/** Signed in, or one more step: the password was right, and a second factor is needed. */
export type Entered = Me | SecondFactorNeeded;

export interface SecondFactorNeeded {
  secondFactor: {
    /** For signInWithCode; valid for ten minutes. */
    ticket: string;
    /** Which factors there are; recovery codes always. */
    app: boolean;
    passkey: boolean;
    accountId: number | null;
  };
}

export interface SignIn {
  email: string;
  password: string;
}

/** `token` is what follows the # in the link. Passwords have 10 to 200 characters. */
export interface SetUp extends SignIn {
  token: string;
  name: string;
  accountName: string;
}

export interface InvitationView {
  email: string;
  accountName: string;
  role: Role;
  invitedBy: string;
  expiresAt: string;
  /** They already have a password, so they sign in with it instead of choosing one. */
  known: boolean;
}

export interface AcceptInvitation {
  token: string;
  password: string;
  /** Not needed when `known`. */
  name?: string;
}

export interface ChangePassword {
  current: string;
  password: string;
}

/** `token` is what follows the # in the link that was emailed. */
export interface ResetPassword {
  token: string;
  password: string;
}
