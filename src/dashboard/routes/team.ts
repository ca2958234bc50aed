// Team: who belongs to the account, in which role, and who is invited.
import { z } from 'zod';
import { MEMBER_ROLES } from '../../accounts/scopes.ts';
import { invite } from '../../notices/invitation-mail.ts';
import { listInvitations, withdrawInvitation } from '../../people/invitations.ts';
import { changeRole, listMembers, removeMember } from '../../people/users.ts';
import type { Works } from '../route.ts';

const role = z.enum(MEMBER_ROLES);

export const teamRoutes: Works<
  'getTeam' | 'invite' | 'withdrawInvitation' | 'changeMember' | 'removeMember'
> = {
  getTeam: {
    async run({ database }, { accountId, session }) {
      const members = await listMembers(database, accountId);
      const invitations = await listInvitations(database, accountId);
      return {
        members: members.map(({ createdAt: _, ...member }) => ({
          ...member,
          you: member.id === session.user.id,
        })),
        invitations: invitations.map(({ accountId: _, accountName: __, ...it }) => it),
      };
    },
  },

  invite: {
    body: z.strictObject({ email: z.string().max(320), role }),
    run: (deps, { accountId, session, body }) =>
      invite(deps, { ...body, accountId, by: session.user }),
  },

  withdrawInvitation: {
    async run({ database }, { accountId, params }) {
      await withdrawInvitation(database, accountId, params.id);
      return {};
    },
  },

  changeMember: {
    body: z.strictObject({ role }),
    async run({ database }, { accountId, params, body }) {
      await changeRole(database, accountId, params.id, body.role);
      return {};
    },
  },

  removeMember: {
    async run({ database }, { accountId, params }) {
      await removeMember(database, accountId, params.id);
      return {};
    },
  },
};
