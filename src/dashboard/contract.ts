// The dashboard's contract: every route under /dashboard/api, who may call it, and its input and
// output. Before it: web/ calls by this table. After it: routes/*.ts answer by it, and tests walk
// it, so that none is forgotten.
//
// - The session is a cookie (HttpOnly). Requests other than GET carry the header
//   `X-SM-Dashboard: 1` and, as browsers add it themselves, an Origin of this service; bodies are
//   JSON.
// - Refusals are `{detail}`: 400 not valid, 401 no session, 402 free plan, 403 role (or a suspended
//   account), 404 not this account's, 429 with retry-after, 502 relay, 503.
// - Routes with `kind: 'stream'` are server-sent events (EventSource); `kind: 'file'` are
//   downloads.
// - Email is shown in an iframe of PREVIEW_FRAME (sandbox="allow-scripts allow-popups"): post it
//   `{html, images?, measured?}`, it posts back `{height}` and `{words}`, its first words.
import type { Role } from './views/common.ts';
import type {
  AddPasskey,
  AppSecret,
  FactorsView,
  NewPasskeyOptions,
  PasskeyAssertion,
  PasskeyOptions,
  Proof,
  RecoveryCodes,
  SessionView,
} from './views/factors.ts';
import type {
  AcceptInvitation,
  ChangePassword,
  Entered,
  InvitationView,
  Me,
  ResetPassword,
  SessionState,
  SetUp,
  SignIn,
} from './views/session.ts';

export const API_PREFIX = '/dashboard/api';
/**
 * A separate document with its own Content-Security-Policy: no scripts but its own, no connections,
 * no forms.
 */
export const PREVIEW_FRAME = '/dashboard/preview-frame';
/** Without it, only GET requests are answered: a page of another site cannot set it. */
export const DASHBOARD_HEADER = 'x-sm-dashboard';
/**
 * The account that the page shows. Tabs share a session: if another tab switched to another
 * account, this tab's requests are refused (409), and nothing is read from or written to the wrong
 * one. Streams, which cannot set a header, send it as `?account=`.
 */
export const ACCOUNT_HEADER = 'x-sm-account';

/**
 * `public`: no session. `user`: any session, and only about itself. A role includes those before
 * it; `operator` is separate.
 */
export type Access = 'public' | 'user' | Role | 'operator';

export interface Route {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Under API_PREFIX; `:name` is a parameter. */
  path: string;
  access: Access;
  kind?: 'stream' | 'file';
}

/** The input and output of each route. Parameters of the path are always strings. */
export interface Api {
  getSession: { answer: SessionState };
  signIn: { body: SignIn; answer: Entered };
  /** A code from the app, or a recovery code. */
  signInWithCode: { body: { ticket: string; code: string }; answer: Me };
  askPasskey: { answer: PasskeyOptions };
  signInWithPasskey: { body: { assertion: PasskeyAssertion; accountId?: number }; answer: Me };
  signOut: { answer: Done };
  signOutOthers: { answer: { ended: number } };
  switchAccount: { body: { accountId: number }; answer: Me };
  changePassword: { body: ChangePassword; answer: Done };
  setUp: { body: SetUp; answer: Me };
  showInvitation: { body: { token: string }; answer: InvitationView };
  acceptInvitation: { body: AcceptInvitation; answer: Entered };
  /**
   * Emails a link; the answer is the same whether or not anyone has the address. `captured`: there
   * is no relay, look in the sandbox.
   */
  askForReset: { body: { email: string }; answer: { captured: boolean } };
  showReset: { body: { token: string }; answer: { email: string } };
  resetPassword: { body: ResetPassword; answer: Entered };

  listSessions: { answer: { sessions: SessionView[] } };
  endOwnSession: { params: { id: string }; answer: Done };
  /** Proves again who they are: sensitive changes require it if the last proof is too old. */
  prove: { body: Proof; answer: Done };
  askProof: { answer: PasskeyOptions };
  getFactors: { answer: FactorsView };
  startApp: { answer: AppSecret };
  confirmApp: { body: { code: string }; answer: RecoveryCodes };
  removeApp: { answer: Done };
  startPasskey: { answer: NewPasskeyOptions };
  addPasskey: { body: AddPasskey; answer: RecoveryCodes };
  removePasskey: { params: { id: string }; answer: Done };
  makeRecoveryCodes: { answer: RecoveryCodes };
  requireFactor: { body: { required: boolean }; answer: Me };

  live: { query: { account?: number }; answer: unknown };

  liveMessage: { params: { id: string }; query: { account?: number }; answer: unknown };
}

/** `{}`: done. */
export type Done = Record<string, never>;

/** An email was queued; its timeline is at getMessage. */
export interface Sent {
  id: string;
}

export type RouteName = keyof Api;

export const ROUTES = {
  getSession: { method: 'GET', path: '/session', access: 'public' },
  signIn: { method: 'POST', path: '/session', access: 'public' },
  signInWithCode: { method: 'POST', path: '/session/code', access: 'public' },
  askPasskey: { method: 'POST', path: '/session/passkey/challenge', access: 'public' },
  signInWithPasskey: { method: 'POST', path: '/session/passkey', access: 'public' },
  signOut: { method: 'DELETE', path: '/session', access: 'user' },
  signOutOthers: { method: 'POST', path: '/session/sign-out-others', access: 'user' },
  switchAccount: { method: 'POST', path: '/session/account', access: 'user' },
  changePassword: { method: 'POST', path: '/session/password', access: 'user' },
  setUp: { method: 'POST', path: '/setup', access: 'public' },
  showInvitation: { method: 'POST', path: '/invitation', access: 'public' },
  acceptInvitation: { method: 'POST', path: '/invitation/accept', access: 'public' },
  askForReset: { method: 'POST', path: '/password-reset', access: 'public' },
  showReset: { method: 'POST', path: '/password-reset/show', access: 'public' },
  resetPassword: { method: 'POST', path: '/password-reset/finish', access: 'public' },

  listSessions: { method: 'GET', path: '/sessions', access: 'user' },
  endOwnSession: { method: 'DELETE', path: '/sessions/:id', access: 'user' },
  prove: { method: 'POST', path: '/session/proof', access: 'user' },
  askProof: { method: 'POST', path: '/session/proof/challenge', access: 'user' },
  getFactors: { method: 'GET', path: '/factors', access: 'user' },
  startApp: { method: 'POST', path: '/factors/app', access: 'user' },
  confirmApp: { method: 'POST', path: '/factors/app/confirm', access: 'user' },
  removeApp: { method: 'DELETE', path: '/factors/app', access: 'user' },
  startPasskey: { method: 'POST', path: '/factors/passkeys/challenge', access: 'user' },
  addPasskey: { method: 'POST', path: '/factors/passkeys', access: 'user' },
  removePasskey: { method: 'DELETE', path: '/factors/passkeys/:id', access: 'user' },
  makeRecoveryCodes: { method: 'POST', path: '/factors/recovery-codes', access: 'user' },
  requireFactor: { method: 'PUT', path: '/factors/required', access: 'owner' },

  live: { method: 'GET', path: '/live', access: 'viewer', kind: 'stream' },

  liveMessage: { method: 'GET', path: '/messages/:id/live', access: 'viewer', kind: 'stream' },
} as const satisfies Record<RouteName, Route>;
