// The dashboard's contract: every route under /dashboard/api, who may call it, and what goes in and out.
// Before it: web/ calls by this table. After it: routes/*.ts answer by it, and tests walk it, so that none can be forgotten.
//
// - The session is a cookie (HttpOnly). Requests that are not GET carry the header `X-SM-Dashboard: 1` and, as browsers do
//   by themselves, an Origin of this service; bodies are JSON.
// - Refusals are `{detail}`: 400 not valid, 401 no session, 402 free plan, 403 role (or a suspended account), 404 not this
//   account's, 429 with retry-after, 502 relay, 503.
// - Routes with `kind: 'stream'` are server-sent events (EventSource); `kind: 'file'` are downloads.
// - Mail is shown in an iframe of PREVIEW_FRAME (sandbox="allow-scripts allow-popups"): post it `{html}`, it posts back `{height}`.
import type {
  AccountChange,
  AccountView,
  NewAccount,
  OperatorAccount,
  OperatorChange,
  SetAsideMail,
} from './views/account.ts';
import type { Role } from './views/common.ts';
import type { KeyRow, NewKey } from './views/keys.ts';
import type { Overview } from './views/overview.ts';
import type { AskedAddress, SenderDomain, Senders } from './views/senders.ts';
import type { ServiceState } from './views/service.ts';
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
import type { Invited, InvitedByOperator, Team } from './views/team.ts';

export const API_PREFIX = '/dashboard/api';
/** A document of its own, with a Content-Security-Policy of its own: no scripts but its own, no connections, no forms. */
export const PREVIEW_FRAME = '/dashboard/preview-frame';
/** Without it nothing that is not GET is answered: a page of another site cannot set it. */
export const DASHBOARD_HEADER = 'x-sm-dashboard';

/** `public`: no session. `user`: any session, and only about itself. A role includes those before it; an operator is apart. */
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
  /** Mails a link; answers the same whether or not anybody has the address. `captured`: there is no relay, look in the sandbox. */
  askForReset: { body: { email: string }; answer: { captured: boolean } };
  showReset: { body: { token: string }; answer: { email: string } };
  resetPassword: { body: ResetPassword; answer: Me };

  getOverview: { query: { days?: 1 | 7 | 30 | 90 }; answer: Overview };
  live: { answer: unknown };

  liveMessage: { params: { id: string }; answer: unknown };

  listSenders: { answer: Senders };
  addDomain: { body: { domain: string }; answer: SenderDomain };
  checkDomain: { params: { domain: string }; answer: SenderDomain };
  removeDomain: { params: { domain: string }; answer: Done };
  /** Mails a link to the address. */
  addAddress: { body: { address: string }; answer: AskedAddress };
  /** Mails another link. */
  verifyAddress: { params: { address: string }; answer: AskedAddress };
  removeAddress: { params: { address: string }; answer: Done };

  listKeys: { answer: { keys: KeyRow[] } };
  /** `secret` is shown this once. */
  createKey: { body: NewKey; answer: { key: KeyRow; secret: string } };
  revokeKey: { params: { id: string }; answer: Done };

  getTeam: { answer: Team };
  invite: { body: { email: string; role: Role }; answer: Invited };
  withdrawInvitation: { params: { id: string }; answer: Done };
  changeMember: { params: { id: string }; body: { role: Role }; answer: Done };
  removeMember: { params: { id: string }; answer: Done };

  getAccount: { answer: AccountView };
  changeAccount: { body: AccountChange; answer: AccountView };

  listAccounts: { answer: { accounts: OperatorAccount[] } };
  createAccount: {
    body: NewAccount;
    answer: { account: OperatorAccount; invited: InvitedByOperator | null };
  };
  changeOperatedAccount: {
    params: { id: string };
    body: OperatorChange;
    answer: OperatorAccount;
  };
  suspendAccount: { params: { id: string }; body: { reason: string }; answer: OperatorAccount };
  resumeAccount: { params: { id: string }; answer: OperatorAccount };

  getServiceState: { answer: ServiceState };
  /** Mails that could not be read, made or recorded, oldest first: the first hundred. */
  listQuarantine: { answer: { items: SetAsideMail[] } };
  releaseFromQuarantine: { params: { id: string }; answer: Done };
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

  getOverview: { method: 'GET', path: '/overview', access: 'viewer' },
  live: { method: 'GET', path: '/live', access: 'viewer', kind: 'stream' },

  liveMessage: { method: 'GET', path: '/messages/:id/live', access: 'viewer', kind: 'stream' },

  listSenders: { method: 'GET', path: '/senders', access: 'viewer' },
  addDomain: { method: 'POST', path: '/senders/domains', access: 'developer' },
  checkDomain: { method: 'POST', path: '/senders/domains/:domain/check', access: 'developer' },
  removeDomain: { method: 'DELETE', path: '/senders/domains/:domain', access: 'developer' },
  addAddress: { method: 'POST', path: '/senders/addresses', access: 'developer' },
  verifyAddress: {
    method: 'POST',
    path: '/senders/addresses/:address/verify',
    access: 'developer',
  },
  removeAddress: { method: 'DELETE', path: '/senders/addresses/:address', access: 'developer' },

  listKeys: { method: 'GET', path: '/keys', access: 'viewer' },
  createKey: { method: 'POST', path: '/keys', access: 'developer' },
  revokeKey: { method: 'DELETE', path: '/keys/:id', access: 'developer' },

  getTeam: { method: 'GET', path: '/team', access: 'viewer' },
  invite: { method: 'POST', path: '/team/invitations', access: 'owner' },
  withdrawInvitation: { method: 'DELETE', path: '/team/invitations/:id', access: 'owner' },
  changeMember: { method: 'PATCH', path: '/team/members/:id', access: 'owner' },
  removeMember: { method: 'DELETE', path: '/team/members/:id', access: 'owner' },

  getAccount: { method: 'GET', path: '/account', access: 'viewer' },
  changeAccount: { method: 'PATCH', path: '/account', access: 'owner' },

  listAccounts: { method: 'GET', path: '/operator/accounts', access: 'operator' },
  createAccount: { method: 'POST', path: '/operator/accounts', access: 'operator' },
  changeOperatedAccount: {
    method: 'PATCH',
    path: '/operator/accounts/:id',
    access: 'operator',
  },
  suspendAccount: {
    method: 'POST',
    path: '/operator/accounts/:id/suspend',
    access: 'operator',
  },
  resumeAccount: { method: 'POST', path: '/operator/accounts/:id/resume', access: 'operator' },

  getServiceState: { method: 'GET', path: '/operator/service', access: 'operator' },
  listQuarantine: { method: 'GET', path: '/operator/quarantine', access: 'operator' },
  releaseFromQuarantine: {
    method: 'POST',
    path: '/operator/quarantine/:id/release',
    access: 'operator',
  },
} as const satisfies Record<RouteName, Route>;
