// search_messages as agents use it: several statuses at once, and for each email why it bounced and
// whether it is held, so that no agent has to look up every email.
import { z } from 'zod';
import type { Caller } from '../accounts/directory.ts';
import { waitingAmong } from '../approvals/approvals.ts';
import { bounceReasons } from '../events/bounce-reasons.ts';
import { REASONS } from '../events/reasons.ts';
import { readUuid } from '../ids.ts';
import { type MessageStatus, STATUSES } from '../messages/status.ts';
import { listOf } from '../operations/lists.ts';
import { findMessages, listMessages } from '../operations/messages.ts';
import { operation, requireScope } from '../operations/operation.ts';
import { capturedAmong, sandbox } from './captured.ts';

const status = z.enum(STATUSES);

const found = listMessages.output.shape.data.element.extend({
  reason: z.enum(REASONS).optional().describe('Why it bounced.'),
  sandbox,
  held: z.literal(true).optional().describe('It waits for a person: nothing has been sent.'),
});

/** The contract's read scope is enough: a key that may see only its own emails finds only those. */
export const searchAsAgent = operation({
  ...listMessages,
  summary:
    'The account’s messages that match all the fields you give, newest first. Continue while there is a `next`, even if a page is empty.',
  scope: null,
  input: listMessages.input.extend({
    status: z
      .union([status, z.array(status).min(1)])
      .optional()
      .describe('The current status, or several.'),
  }),
  output: listOf('messages', found),
  async run(deps, caller, { status: wanted, ...input }) {
    const { database } = deps;
    requireScope(caller, mayManage(caller) ? 'messages:read' : 'email:read');
    const statuses = Array.isArray(wanted) ? wanted : undefined;
    const one = Array.isArray(wanted) ? undefined : wanted;
    const page = await findMessages(database, caller, { ...input, status: one, statuses });
    const those = (status: MessageStatus) =>
      page.data.filter((it) => it.status === status).map(({ id }) => readUuid('msg_', id)!);
    const reasons = await bounceReasons(database, caller.accountId, those('bounced'));
    const held = await waitingAmong(database, caller.accountId, those('queued'));
    const ids = page.data.map(({ id }) => id);
    const captured = await capturedAmong(deps, caller.accountId, ids);
    return {
      ...page,
      data: page.data.map((message) => {
        const uuid = readUuid('msg_', message.id)!;
        const reason = reasons.get(uuid);
        return {
          ...message,
          ...(reason === undefined ? {} : { reason }),
          ...(held.has(uuid) ? { held: true as const } : {}),
          ...(captured.has(message.id) ? { sandbox: true as const } : {}),
        };
      }),
    };
  },
});

export const mayManage = ({ scopes }: Caller): boolean => scopes.has('messages:read');
