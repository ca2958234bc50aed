// search_messages as agents use it: several statuses at once, and for each email why it bounced and
// whether it is held, so that no agent has to look up every email.
import { z } from 'zod';
import type { Caller } from '../accounts/directory.ts';
import { waitingAmong } from '../approvals/approvals.ts';
import { REASONS, type Reason } from '../events/reasons.ts';
import { readUuid } from '../ids.ts';
import { STATUSES } from '../messages/status.ts';
import { listOf } from '../operations/lists.ts';
import { findMessages, listMessages } from '../operations/messages.ts';
import { operation, requireScope } from '../operations/operation.ts';
import type { Database } from '../store/pool.ts';
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
    const reasons = await reasonsOf(database, caller.accountId, page.data);
    const held = await heldAmong(database, caller.accountId, page.data);
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

async function heldAmong(
  database: Database,
  accountId: number,
  messages: readonly { id: string; status: string }[],
): Promise<ReadonlySet<string>> {
  const queued = messages.filter(({ status }) => status === 'queued');
  return await waitingAmong(
    database,
    accountId,
    queued.map(({ id }) => readUuid('msg_', id)!),
  );
}

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
