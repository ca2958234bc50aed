// Mails of the service itself carry links that act for their reader: join, verify, choose a password. They stand in the lists of
// the account that sent them, but its people must not read them: only operators, who could do as much by command.

import { Problem } from '../errors.ts';
import type { Session } from '../people/sessions.ts';

export const isSealed = (door: string, { user }: Session): boolean =>
  door === 'system' && !user.operator;

export const sealed = (): Problem =>
  new Problem(
    'forbidden',
    'The service itself wrote this mail, and its link is for its reader only. An operator can look at it.',
  );
