// The dashboard's contract: every route under /dashboard/api, who may call it, and what goes in and
// out. Before it: web/ calls by this table. After it: routes/*.ts answer by it, and tests walk it,
// so that none can be forgotten.
//
// - The session is a cookie (HttpOnly). Requests that are not GET carry the header `X-SM-Dashboard:
//   1` and, as browsers do
//   by themselves, an Origin of this service; bodies are JSON.
// - Refusals are `{detail}`: 400 not valid, 401 no session, 402 free plan, 403 role (or a suspended
//   account), 404 not this
//   account's, 429 with retry-after, 502 relay, 503.
// - Routes with `kind: 'stream'` are server-sent events (EventSource); `kind: 'file'` are
//   downloads.
// - Mail is shown in an iframe of PREVIEW_FRAME (sandbox="allow-scripts allow-popups"): post it
//   `{html}`, it posts back `{height}`.
import type { Role } from './views/common.ts';
import type {
  AcceptInvitation,
  ChangePassword,
  InvitationView,
  Me,
  ResetPassword,
  SessionState,
  SetUp,
  SignIn,
} from './views/session.ts';

export const API_PREFIX = '/dashboard/api';
/**
 * A document of its own, with a Content-Security-Policy of its own: no scripts but its own, no
 * connections, no forms.
 */
export const PREVIEW_FRAME = '/dashboard/preview-frame';
/** Without it nothing that is not GET is answered: a page of another site cannot set it. */
export const DASHBOARD_HEADER = 'x-sm-dashboard';

/**
 * `public`: no session. `user`: any session, and only about itself. A role includes those before
 * it; an operator is apart.
 */
export type Access = 'public' | 'user' | Role | 'operator';

export interface Route {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Under API_PREFIX; `:name` is a parameter. */
  path: string;
  access: Access;
  kind?: 'stream' | 'file';
}

/** What each route takes and answers. Parameters of the path are always strings. */
export interface Api {
  getSession: { answer: SessionState };
  signIn: { body: SignIn; answer: Me };
  signOut: { answer: Done };
  signOutOthers: { answer: { ended: number } };
  switchAccount: { body: { accountId: number }; answer: Me };
  changePassword: { body: ChangePassword; answer: Done };
  setUp: { body: SetUp; answer: Me };
  showInvitation: { body: { token: string }; answer: InvitationView };
  acceptInvitation: { body: AcceptInvitation; answer: Me };
  /**
   * Mails a link; answers the same whether or not anybody has the address. `captured`: there is no
   * relay, look in the sandbox.
   */
  askForReset: { body: { email: string }; answer: { captured: boolean } };
  showReset: { body: { token: string }; answer: { email: string } };
  resetPassword: { body: ResetPassword; answer: Me };

  live: { answer: unknown };

  liveMessage: { params: { id: string }; answer: unknown };
}

/** `{}`: it is done. */
export type Done = Record<string, never>;

/** A mail was queued; its timeline is at getMessage. */
export interface Sent {
  id: string;
}

export type RouteName = keyof Api;

export const ROUTES = {
  getSession: { method: 'GET', path: '/session', access: 'public' },
  signIn: { method: 'POST', path: '/session', access: 'public' },
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

  live: { method: 'GET', path: '/live', access: 'viewer', kind: 'stream' },

  liveMessage: { method: 'GET', path: '/messages/:id/live', access: 'viewer', kind: 'stream' },
} as const satisfies Record<RouteName, Route>;
