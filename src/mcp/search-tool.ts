// search_messages as agents use it: several statuses at once, and beside each email that bounced why
// it did, so that nobody has to ask for every one of them.
import { z } from 'zod';
import type { Caller } from '../accounts/directory.ts';
import { REASONS, type Reason } from '../events/reasons.ts';
import { readUuid } from '../ids.ts';
import { STATUSES } from '../messages/status.ts';
import { listOf } from '../operations/lists.ts';
import { findMessages, listMessages } from '../operations/messages.ts';
import { operation, requireScope } from '../operations/operation.ts';
import type { Database } from '../store/pool.ts';

const status = z.enum(STATUSES);

const found = listMessages.output.shape.data.element.extend({
  reason: z.enum(REASONS).optional().describe('Why it bounced.'),
});

/** The contract's reading scope is enough: a key that may see only its own emails finds only those. */
export const searchAsAgent = operation({
  ...listMessages,
  summary:
    'The account’s messages that fit all fields given, newest first. Continue while `next` is there, even when a page is empty.',
  scope: null,
  input: listMessages.input.extend({
    status: z
      .union([status, z.array(status).min(1)])
      .optional()
      .describe('The current status, or several.'),
  }),
  output: listOf('messages', found),
  async run({ database }, caller, { status: wanted, ...input }) {
    requireScope(caller, mayManage(caller) ? 'messages:read' : 'email:read');
    const statuses = Array.isArray(wanted) ? wanted : undefined;
    const one = Array.isArray(wanted) ? undefined : wanted;
    const page = await findMessages(database, caller, { ...input, status: one, statuses });
    const reasons = await reasonsOf(database, caller.accountId, page.data);
    return {
      ...page,
      data: page.data.map((message) => {
        const reason = reasons.get(readUuid('msg_', message.id)!);
        return reason === undefined ? message : { ...message, reason };
      }),
    };
  },
});

export const mayManage = ({ scopes }: Caller): boolean => scopes.has('messages:read');

async function reasonsOf(
  database: Database,
  accountId: number,
  messages: readonly { id: string; status: string }[],
): Promise<Map<string, Reason>> {
  const bounced = messages.filter(({ status }) => status === 'bounced');
  if (bounced.length === 0) return new Map();
  const rows = await database.query<{ uuid: string; reason: Reason }>(
    `SELECT DISTINCT ON (message_id) message_id AS uuid, detail->>'reason' AS reason FROM events
     WHERE account_id = $1 AND message_id = ANY ($2::uuid[]) AND kind = 'bounced'
       AND detail->>'reason' IS NOT NULL
     ORDER BY message_id, at DESC`,
    [accountId, bounced.map(({ id }) => readUuid('msg_', id))],
  );
  return new Map(rows.map(({ uuid, reason }) => [uuid, reason]));
}
