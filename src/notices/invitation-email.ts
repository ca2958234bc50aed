// The email that invites a person. Its link creates a login for their address, so only they may see
// it: the person who invites does not.
import type { MemberRole } from '../accounts/scopes.ts';
import { Problem } from '../errors.ts';
import {
  createInvitation,
  INVITATION_DAYS,
  type Invitation,
  invitationLink,
  withdrawInvitation,
} from '../people/invitations.ts';
import { type NoticeDeps, sendSystemEmail } from './system-email.ts';

export interface Invite {
  accountId: number;
  email: string;
  role: MemberRole;
  /** Without an address: one of the account's programs. */
  by: { name: string; email?: string };
}

type ShownInvitation = Omit<Invitation, 'accountId' | 'accountName'>;

export interface Invited {
  invitation: ShownInvitation;
  /** There is no relay: the email is in the sandbox, where operators can open it. */
  captured: boolean;
}

/** For operators, who could create a login by command as well. */
export interface InvitedByOperator {
  invitation: ShownInvitation;
  /** Only if no email could be sent, which `note` explains. */
  link: string | null;
  note: string | null;
}

/** By an owner. If its email cannot be sent, there is no invitation. */
export async function invite(deps: NoticeDeps, wish: Invite): Promise<Invited> {
  const { invitation, token } = await make(deps, wish);
  try {
    await sendEmail(deps, invitation, token, wish);
    return { invitation: shown(invitation), captured: deps.inSandbox() };
  } catch (error) {
    await withdrawInvitation(deps.database, wish.accountId, invitation.id);
    if (!(error instanceof Problem)) throw error;
    throw new Problem(
      'unavailable',
      `${invitation.email} was not invited: ${error.detail} An operator can create a link to pass on.`,
      { see: 'invite_person' },
    );
  }
}

/** By an operator, who gets the link if no email can be sent. */
export async function inviteAsOperator(deps: NoticeDeps, wish: Invite): Promise<InvitedByOperator> {
  const { invitation, token } = await make(deps, wish);
  try {
    await sendEmail(deps, invitation, token, wish);
    return { invitation: shown(invitation), link: null, note: null };
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    const link = invitationLink(deps.baseUrl(), token);
    return { invitation: shown(invitation), link, note: `No email was sent: ${error.detail}` };
  }
}

const make = ({ database, clock }: NoticeDeps, { by, ...wish }: Invite) =>
  createInvitation(database, clock, { ...wish, invitedBy: by.name });

async function sendEmail(
  deps: NoticeDeps,
  invitation: Invitation,
  token: string,
  { by }: Invite,
): Promise<void> {
  await sendSystemEmail(deps, {
    to: invitation.email,
    words: {
      template: 'team-invitation',
      variables: {
        inviter_name: invitation.invitedBy,
        ...(by.email === undefined ? {} : { inviter_email: by.email }),
        team_name: invitation.accountName,
        accept_url: invitationLink(deps.baseUrl(), token),
        role: invitation.role,
        expires_in: `${INVITATION_DAYS} days`,
      },
    },
    tag: 'invitation',
    accountIds: [invitation.accountId],
  });
}

function shown({ accountId: _, accountName: __, ...invitation }: Invitation): ShownInvitation {
  return invitation;
}
