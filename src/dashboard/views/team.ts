// The team: members and invitations. Types only, so that web/ reads them too.
import type { Role } from './common.ts';

export interface Team {
  members: Member[];
  invitations: Invitation[];
}

export interface Member {
  id: string;
  email: string;
  name: string;
  role: Role;
  operator: boolean;
  you: boolean;
  joinedAt: string;
  lastSeenAt: string | null;
}

export interface Invitation {
  id: string;
  email: string;
  role: Role;
  invitedBy: string;
  createdAt: string;
  expiresAt: string;
}

/** Somebody was invited by mail. The link in it is for them alone: whoever has it makes their login. */
export interface Invited {
  invitation: Invitation;
  /** There is no relay: the mail is in the sandbox, where operators can open it. */
  captured: boolean;
}

/** What operators are told, who could make a login by command as well. */
export interface InvitedByOperator {
  invitation: Invitation;
  /** Only where no mail could be sent, which `note` explains. */
  link: string | null;
  note: string | null;
}
