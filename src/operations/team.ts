// The team: who belongs to the account, in which role, and who is invited.
import { z } from 'zod';
import { getAccount } from '../accounts/accounts.ts';
import { MEMBER_ROLES, scopesOfRole } from '../accounts/scopes.ts';
import { invite } from '../notices/invitation-email.ts';
import { type Invitation, listInvitations, withdrawInvitation } from '../people/invitations.ts';
import {
  changeRole,
  getMember,
  listMembers,
  type MemberUser,
  removeMember,
} from '../people/users.ts';
import { requireToHave } from './giving.ts';
import { listOf, pageOfFew, pageOutOf } from './lists.ts';
import { operation, type Via } from './operation.ts';

const role = z
  .enum(MEMBER_ROLES)
  .describe('viewer: reads. developer: also sends and edits. owner: also team and account.');

const member = z
  .object({
    id: z.string().describe('Id of the person.'),
    email: z.string().describe('The address they sign in with.'),
    name: z.string().describe('Their name.'),
    role,
    operator: z.boolean().describe('Whether they operate the service.'),
    you: z.boolean().describe('Whether this is the caller.'),
    joined_at: z.string().describe('Since when they have belonged to the account: ISO 8601, UTC.'),
    last_seen_at: z.string().nullable().describe('When they were last signed in.'),
    second_factor: z
      .boolean()
      .describe('Whether they sign in with a passkey or an authenticator app.'),
  })
  .meta({ id: 'Member' });

const showMember = (one: MemberUser, { person }: Via): z.output<typeof member> => ({
  id: one.id,
  email: one.email,
  name: one.name,
  role: one.role,
  operator: one.operator,
  you: one.id === person?.id,
  joined_at: one.joinedAt,
  last_seen_at: one.lastSeenAt,
  second_factor: one.secondFactor,
});

export const invitation = z
  .object({
    id: z.string().describe('Id of the invitation.'),
    email: z.string().describe('Who is invited.'),
    role,
    invited_by: z.string().describe('Who invited them.'),
    created_at: z.string().describe('When: ISO 8601, UTC.'),
    expires_at: z.string().describe('Until when the link works.'),
  })
  .meta({ id: 'Invitation' });

export const showInvitation = (
  one: Omit<Invitation, 'accountId' | 'accountName'>,
): z.output<typeof invitation> => ({
  id: one.id,
  email: one.email,
  role: one.role,
  invited_by: one.invitedBy,
  created_at: one.createdAt,
  expires_at: one.expiresAt,
});

const id = z.string().max(64).describe('Id of the person.');

export const teamOperations = [
  operation({
    name: 'list_members',
    title: 'List the team',
    summary: 'The people in the account, with their roles.',
    effect: 'reads',
    scope: 'team:read',
    input: z.strictObject(pageOfFew),
    output: listOf('members', member),
    rest: { method: 'GET', path: '/v1/team' },
    client: 'team.list',
    async run({ database }, { accountId }, wanted, via) {
      const members = await listMembers(database, accountId);
      const shown = members.map((one) => showMember(one, via));
      return pageOutOf(shown, wanted, ({ id }) => id);
    },
  }),

  operation({
    name: 'get_member',
    title: 'Read a member of the team',
    summary: 'One person in the account, with their role.',
    effect: 'reads',
    scope: 'team:read',
    input: z.strictObject({ id }),
    output: member,
    rest: { method: 'GET', path: '/v1/team/{id}' },
    client: 'team.get',
    run: async ({ database }, { accountId }, wanted, via) =>
      showMember(await getMember(database, accountId, wanted.id), via),
  }),

  operation({
    name: 'update_member',
    title: 'Change a role',
    summary: 'Changes someone’s role in the account. At least one owner always remains.',
    effect: 'changes',
    scope: 'team:write',
    input: z.strictObject({ id, role }),
    output: member,
    rest: { method: 'PATCH', path: '/v1/team/{id}' },
    client: 'team.update',
    async run({ database }, caller, { id, role }, via) {
      const { accountId } = caller;
      const before = await getMember(database, accountId, id);
      await requireToHave(database, caller, scopesOfRole(role), 'role');
      await changeRole(database, accountId, id, role);
      via.note({ target: before.email, before: { role: before.role }, after: { role } });
      return showMember({ ...before, role }, via);
    },
  }),

  operation({
    name: 'remove_member',
    title: 'Remove someone from the team',
    summary:
      'They are signed out of the account at once. Keys they created keep working. At least one owner always remains.',
    effect: 'changes',
    scope: 'team:write',
    input: z.strictObject({ id }),
    output: member,
    rest: { method: 'DELETE', path: '/v1/team/{id}' },
    client: 'team.remove',
    async run({ database }, { accountId }, { id }, via) {
      const removed = await getMember(database, accountId, id);
      await removeMember(database, accountId, id);
      via.note({ target: removed.email, before: { role: removed.role } });
      return showMember(removed, via);
    },
  }),

  operation({
    name: 'list_invitations',
    title: 'List invitations',
    summary: 'Who was invited to the account and has not joined yet.',
    effect: 'reads',
    scope: 'team:read',
    input: z.strictObject(pageOfFew),
    output: listOf('invitations', invitation),
    rest: { method: 'GET', path: '/v1/team/invitations' },
    client: 'team.listInvitations',
    async run({ database }, { accountId }, wanted) {
      const invitations = await listInvitations(database, accountId);
      return pageOutOf(invitations.map(showInvitation), wanted, ({ id }) => id);
    },
  }),

  operation({
    name: 'invite_member',
    title: 'Invite someone to the team',
    summary:
      'Emails them a link, which only they get to see: whoever has it chooses a password and joins. It works once, for a week.',
    effect: 'talks',
    scope: 'team:write',
    input: z.strictObject({
      email: z.string().max(320).describe('Their address.').meta({ example: 'ada@example.com' }),
      role,
    }),
    output: invitation.extend({
      captured: z
        .boolean()
        .describe('There is no relay: the email is in the sandbox, where operators can open it.'),
    }),
    rest: { method: 'POST', path: '/v1/team/invitations', status: 201 },
    client: 'team.invite',
    async run(deps, caller, { email, role }, via) {
      const { accountId } = caller;
      await requireToHave(deps.database, caller, scopesOfRole(role), 'role');
      const by = via.person ?? { name: (await getAccount(deps.database, accountId)).name };
      const { invitation: made, captured } = await invite(deps, { accountId, email, role, by });
      via.note({ target: made.email, after: { role } });
      return { ...showInvitation(made), captured };
    },
  }),

  operation({
    name: 'withdraw_invitation',
    title: 'Withdraw an invitation',
    summary: 'The emailed link stops working.',
    effect: 'changes',
    scope: 'team:write',
    input: z.strictObject({ id: z.string().max(64).describe('Id of the invitation.') }),
    output: invitation,
    rest: { method: 'DELETE', path: '/v1/team/invitations/{id}' },
    client: 'team.withdrawInvitation',
    async run({ database }, { accountId }, { id }, via) {
      const withdrawn = await withdrawInvitation(database, accountId, id);
      via.note({ target: withdrawn.email, before: { role: withdrawn.role } });
      return showInvitation(withdrawn);
    },
  }),
];
