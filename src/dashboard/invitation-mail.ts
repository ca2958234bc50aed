// The mail that invites somebody, through our own sending path: from SYSTEM_SENDER, else from the inviting account itself.
// The link is shown to who invites in any case, so an invitation never depends on the mail.
import { INVITATION_DAYS, type Invitation } from '../accounts/invitations.ts';
import { formatMailbox } from '../addresses.ts';
import { Problem } from '../errors.ts';
import { acceptSend } from '../sending/accept.ts';
import { findSender } from '../sending/verification-mail.ts';
import type { DashboardDeps } from './deps.ts';
import { ownSender } from './own-sender.ts';
import type { Invited } from './views/team.ts';

/** Behind the #, so that no server on the way writes it to its log. */
export const invitationLink = (baseUrl: string, token: string): string =>
  `${baseUrl}/invitation#${token}`;

export async function invited(
  deps: DashboardDeps,
  made: { invitation: Invitation; token: string },
  inviterEmail: string,
): Promise<Invited> {
  const { accountId: _, accountName: __, ...invitation } = made.invitation;
  const link = invitationLink(deps.baseUrl(), made.token);
  try {
    await sendInvitation(deps, made.invitation, link, inviterEmail);
    return { invitation, link, mailed: true, note: null };
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    return { invitation, link, mailed: false, note: `No mail was sent: ${error.detail}` };
  }
}

async function sendInvitation(
  deps: DashboardDeps,
  invitation: Invitation,
  link: string,
  inviterEmail: string,
): Promise<void> {
  const { from, accountId } = await senderFor(deps, invitation.accountId);
  const caller = await deps.directory.member(accountId);
  const request = {
    from_email: from,
    to: [invitation.email],
    template: 'team-invitation',
    variables: {
      inviter_name: invitation.invitedBy,
      inviter_email: inviterEmail,
      team_name: invitation.accountName,
      accept_url: link,
      role: invitation.role,
      expires_in: `${INVITATION_DAYS} days`,
    },
    tags: ['invitation'],
  };
  await acceptSend(deps, caller, request, { door: 'dashboard' });
}

async function senderFor(
  deps: DashboardDeps,
  inviting: number,
): Promise<{ from: string; accountId: number }> {
  if (deps.systemSender !== undefined) {
    const { sender, senderAccount } = await findSender(deps);
    return { from: formatMailbox(sender), accountId: senderAccount };
  }
  const own = await ownSender(deps.database, inviting);
  if (own !== undefined) return { from: own, accountId: inviting };
  throw new Problem(
    'forbidden',
    'neither SYSTEM_SENDER nor a verified sender of this account is there.',
  );
}
