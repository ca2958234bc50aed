// Scopes: what a key, a person's role or an operator may do. Operations name the one they need;
// this is the one list.

/** The contract's two: sending, and reading the timeline of a message. */
export const EMAIL_SCOPES = ['email:send', 'email:read'] as const;

/** What an account manages, resource by resource. */
export const RESOURCE_SCOPES = [
  'messages:read',
  'messages:write',
  'templates:read',
  'templates:write',
  'branding:read',
  'branding:write',
  'senders:read',
  'senders:write',
  'streams:read',
  'streams:write',
  'suppressions:read',
  'suppressions:write',
  'webhooks:read',
  'webhooks:write',
  'keys:read',
  'keys:write',
  'sandbox:read',
  'sandbox:write',
  'usage:read',
  'account:read',
  'account:write',
  'team:read',
  'team:write',
  'audit:read',
] as const;

/** Over all accounts: for operators of the service, never given by an account. */
export const OPERATOR_SCOPES = ['accounts:read', 'accounts:write'] as const;

export const isOperators = (scope: Scope | null): boolean =>
  OPERATOR_SCOPES.some((one) => one === scope);

/**
 * What an account can give its keys. `admin` stands for every resource scope, but includes neither
 * the contract's two nor the right to approve: a key that may do everything else could have written
 * the emails that a person has to look at.
 */
export const ALL_SCOPES = [
  ...EMAIL_SCOPES,
  'admin',
  ...RESOURCE_SCOPES,
  'approvals:write',
] as const;

export type Scope = (typeof ALL_SCOPES)[number] | (typeof OPERATOR_SCOPES)[number];

/** What a test needs: to send, to see what happened to it, and the mailbox it went to. */
export const TEST_SCOPES = [...EMAIL_SCOPES, 'sandbox:read', 'sandbox:write'] as const;

/** The scopes with what they stand for. */
export function expandScopes(scopes: Iterable<Scope>): ReadonlySet<Scope> {
  const all = new Set(scopes);
  if (all.has('admin')) for (const scope of RESOURCE_SCOPES) all.add(scope);
  return all;
}

/** Nobody can grant what they may not do themselves: which of the wanted scopes exceed that. */
export const beyond = (has: ReadonlySet<Scope>, wanted: readonly Scope[]): Scope[] =>
  [...expandScopes(wanted)].filter((scope) => scope !== 'admin' && !has.has(scope));

const OWNERS_ONLY = new Set<Scope>(['account:write', 'team:write', 'audit:read']);
const readable = [...EMAIL_SCOPES, ...RESOURCE_SCOPES].filter(
  (scope) => scope.endsWith(':read') && !OWNERS_ONLY.has(scope),
);
const workable = [...EMAIL_SCOPES, ...RESOURCE_SCOPES, 'approvals:write' as const].filter(
  (scope) => !OWNERS_ONLY.has(scope),
);

/** The roles of an account; each includes all rights of those before it. */
export const MEMBER_ROLES = ['viewer', 'developer', 'owner'] as const;
export type MemberRole = (typeof MEMBER_ROLES)[number];

const SCOPES_OF: Record<MemberRole, ReadonlySet<Scope>> = {
  viewer: new Set(readable),
  developer: new Set(workable),
  owner: new Set(ALL_SCOPES),
};

export const scopesOfRole = (role: MemberRole): readonly Scope[] => [...SCOPES_OF[role]];

/** What a person may do in an account, and in all accounts if they operate the service. */
export function scopesOfPerson(role: MemberRole | undefined, operator: boolean): Set<Scope> {
  const scopes = new Set<Scope>(role === undefined ? [] : SCOPES_OF[role]);
  if (operator) for (const scope of OPERATOR_SCOPES) scopes.add(scope);
  return scopes;
}
