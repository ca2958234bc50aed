// What streams while someone looks: the account's newest messages, and one message with everything
// known about it. Both are operations, performed again and again.
import { z } from 'zod';
import { getMessageDetails, listMessages } from '../../operations/messages.ts';
import type { Operation } from '../../operations/operation.ts';
import { perform } from '../../operations/perform.ts';
import { isOpen, type Session } from '../../people/sessions.ts';
import { callerOf } from '../admission.ts';
import type { DashboardDeps } from '../deps.ts';
import type { Works } from '../route.ts';

const LIVE_ROWS = 20;

/** Read by admission.ts. */
const query = z.strictObject({ account: z.coerce.number().int().optional() });

export const liveRoutes: Works<'live' | 'liveMessage'> = {
  live: {
    query,
    run: (deps, { accountId, session, request, reply }) =>
      request.streams.open(reply, {
        person: session.user.id,
        event: 'messages',
        read: () => ask(deps, session, request.id, listMessages, { limit: LIVE_ROWS }),
        mayGoOn: () => isOpen(deps.database, session, accountId),
      }),
  },

  liveMessage: {
    query,
    run: (deps, { accountId, session, params, request, reply }) =>
      request.streams.open(reply, {
        person: session.user.id,
        event: 'message',
        read: () => ask(deps, session, request.id, getMessageDetails, { sm_mail_id: params.id }),
        mayGoOn: () => isOpen(deps.database, session, accountId),
      }),
  },
};

const ask = (
  deps: DashboardDeps,
  session: Session,
  requestId: string,
  operation: Pick<Operation, 'name'>,
  input: object,
): Promise<unknown> =>
  perform(deps, operation as Operation, callerOf(session), input, {
    ...{ door: 'dashboard', requestId, person: session.user },
  });
