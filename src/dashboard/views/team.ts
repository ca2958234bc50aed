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

/** The link is shown in any case; `mailed` says whether it was also sent, `note` why not. */
export interface Invited {
  invitation: Invitation;
  link: string;
  mailed: boolean;
  note: string | null;
}
