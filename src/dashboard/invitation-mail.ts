// The mail that invites somebody. The link is shown to who invites in any case, so an invitation never depends on the mail.
import { INVITATION_DAYS, type Invitation } from '../accounts/invitations.ts';
import { Problem } from '../errors.ts';
import type { DashboardDeps } from './deps.ts';
import { sendSystemMail } from './system-mail.ts';
import type { Invited } from './views/team.ts';

/** Behind the #, so that no server on the way writes it to its log. */
export const invitationLink = (baseUrl: string, token: string): string =>
  `${baseUrl}/invitation#${token}`;

export async function invited(
  deps: DashboardDeps,
  made: { invitation: Invitation; token: string },
  inviterEmail: string,
): Promise<Invited> {
  const { accountId, accountName, ...invitation } = made.invitation;
  const link = invitationLink(deps.baseUrl(), made.token);
  try {
    await sendSystemMail(deps, {
      to: invitation.email,
      template: 'team-invitation',
      variables: {
        inviter_name: invitation.invitedBy,
        inviter_email: inviterEmail,
        team_name: accountName,
        accept_url: link,
        role: invitation.role,
        expires_in: `${INVITATION_DAYS} days`,
      },
      tag: 'invitation',
      accountIds: [accountId],
    });
    return { invitation, link, mailed: true, note: null };
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    return { invitation, link, mailed: false, note: `No mail was sent: ${error.detail}` };
  }
}
