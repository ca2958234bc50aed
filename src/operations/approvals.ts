// Approvals: the emails that wait for a person, their content, and the person's decision, bound to
// the SHA-256 of what they saw.
import { z } from 'zod';
import type { Caller } from '../accounts/directory.ts';
import { formatMailbox } from '../addresses.ts';
import {
  type Approval,
  approve,
  type Decider,
  decline,
  findApproval,
  listWaiting,
  notHeld,
} from '../approvals/approvals.ts';
import { compareTexts } from '../approvals/comparison.ts';
import { readUuid, showUuid } from '../ids.ts';
import { findOwnMessage, type Message } from '../messages/message.ts';
import { hiddenRecipients, readContent } from '../sending/stored-content.ts';
import { heededStream } from '../sending/stored-head.ts';
import type { Database } from '../store/pool.ts';
import { suppressedRecipients } from '../suppressions/suppressions.ts';
import { fileList, headerList } from './email-parts.ts';
import { heldOutput } from './get-message.ts';
import { checkCursor, listOf, page, pageOf } from './lists.ts';
import { messageUuid, noContent, requireMessage } from './message-lookup.ts';
import { messageId } from './messages.ts';
import { operation, type Via } from './operation.ts';

const heldEmail = z
  .object({
    sm_mail_id: z.string().describe('The message id.'),
    from_email: z.string().describe('Sender.'),
    recipients: z.array(z.string()).describe('To, cc and bcc together.'),
    subject: z.string().describe('The subject.'),
    template: z.string().nullable().describe('The template it was made from.'),
    key_id: z.string().nullable().describe('The key it came through.'),
    created_at: z.string().describe('When it was accepted: ISO 8601, UTC.'),
    scheduled_at: z.string().nullable().describe('When it is to go out; null: once approved.'),
    ...heldOutput.shape,
  })
  .meta({ id: 'HeldEmail' });

const addresses = z.array(z.string());

const heldEmailInFull = heldEmail
  .extend({
    state: z
      .enum(['waiting', 'approved', 'declined', 'expired', 'cancelled'])
      .describe('Whether it still waits.'),
    decided_by: z.string().nullable().describe('Who decided; null: nobody did.'),
    decided_at: z.string().nullable().describe('When: ISO 8601, UTC.'),
    to: addresses.describe('Recipients, as they are written.'),
    cc: addresses.describe('Recipients of copies.'),
    bcc: addresses.describe('Recipients who are in no header.'),
    reply_to: z.string().nullable().describe('Where replies go; null: to the sender.'),
    headers: headerList('Its value.').describe('The sender’s own headers.'),
    text: z.string().nullable().describe('The plain text; null: it has none.'),
    html: z.string().nullable().describe('The HTML; null: it has none.'),
    attachments: fileList(),
    suppressed: addresses.describe('Recipients who get no copy: suppressed or unsubscribed.'),
    compared_with: z
      .object({
        sm_mail_id: z.string().describe('The last email of the same template.'),
        added: z.array(z.string()).describe('Lines that the earlier email did not have.'),
        removed: z.array(z.string()).describe('Lines that only the earlier email had.'),
      })
      .nullable()
      .describe('What reads differently; null: there is nothing to compare it with.'),
  })
  .meta({ id: 'HeldEmailInFull' });

const sha256 = z
  .string()
  .regex(/^[0-9a-fA-F]{64}$/, 'must be the 64 hexadecimal digits of what you saw')
  .describe('The SHA-256 of what you saw. Another one is refused: the email was changed.')
  .meta({ example: 'b94d27b9934d3e08a52e52d7da7dabfac484efe37a5380ee9088f7ace2efcde9' });

const decision = z
  .object({
    sm_mail_id: z.string().describe('The message id.'),
    state: z.enum(['approved', 'declined']).describe('What was decided.'),
    decided_by: z.string().nullable().describe('Who decided.'),
    decided_at: z.string().nullable().describe('When: ISO 8601, UTC.'),
  })
  .meta({ id: 'ApprovalDecision' });

export const listApprovals = operation({
  name: 'list_approvals',
  title: 'List what waits for approval',
  summary:
    'Emails that are waiting for a person’s approval, oldest first. None of them has been sent.',
  effect: 'reads',
  scope: 'messages:read',
  input: z.strictObject(page),
  output: listOf('approvals', heldEmail),
  rest: { method: 'GET', path: '/v1/approvals' },
  client: 'approvals.list',
  async run({ database }, caller, { limit, cursor }) {
    checkCursor('msg_', cursor);
    const after = cursor === undefined ? undefined : readUuid('msg_', cursor);
    const waiting = await listWaiting(database, caller.accountId, {
      ...{ after, limit },
      keyId: caller.limits?.ownMessages ? caller.keyId : null,
    });
    const shown = await Promise.all(
      waiting.map(async (approval) => {
        const message = await findOwnMessage(database, caller.accountId, approval.uuid);
        return message === undefined ? [] : [showHeld(message, approval)];
      }),
    );
    return pageOf(
      waiting.flatMap((approval, index) => shown[index]!.map((held) => ({ approval, held }))),
      limit,
      ({ approval }) => showUuid('msg_', approval.uuid),
      ({ held }) => held,
    );
  },
});

export const getApproval = operation({
  name: 'get_approval',
  title: 'Read an email that waits for approval',
  summary:
    'One held email as it would be sent: recipients, headers, text and HTML, who gets no copy, what differs from the last email made from its template, and the SHA-256 of it all.',
  effect: 'reads',
  scope: 'messages:read',
  ofWholeEmails: true,
  input: z.strictObject({ sm_mail_id: messageId }),
  output: heldEmailInFull,
  rest: { method: 'GET', path: '/v1/approvals/{sm_mail_id}' },
  client: 'approvals.get',
  run: ({ database }, caller, { sm_mail_id }) => readHeld(database, caller, sm_mail_id),
});

const decide = (act: typeof approve) =>
  async function run(
    { database }: { database: Database },
    caller: Caller,
    { sm_mail_id, sha256 }: { sm_mail_id: string; sha256: string },
    via: Via,
  ) {
    const uuid = messageUuid(sm_mail_id);
    const by = deciderOf(caller, via);
    const { state, decidedAt, decidedBy } = await act(database, caller.accountId, uuid, sha256, by);
    via.note({ target: sm_mail_id, after: { state, sha256 } });
    return {
      sm_mail_id,
      state: state as 'approved' | 'declined',
      decided_by: decidedBy,
      decided_at: decidedAt?.toISOString() ?? null,
    };
  };

export const approveEmail = operation({
  name: 'approve_email',
  title: 'Approve an email',
  summary:
    'Releases a held email, exactly as it was when it had this SHA-256; once. A key cannot approve what it sent itself.',
  effect: 'changes',
  scope: 'approvals:write',
  input: z.strictObject({ sm_mail_id: messageId, sha256 }),
  output: decision,
  rest: { method: 'POST', path: '/v1/approvals/{sm_mail_id}/approve' },
  client: 'approvals.approve',
  run: decide(approve),
});

export const declineEmail = operation({
  name: 'decline_email',
  title: 'Decline an email',
  summary:
    'A held email is not sent: nobody receives it, and it no longer counts towards today’s quota.',
  effect: 'changes',
  scope: 'approvals:write',
  input: z.strictObject({ sm_mail_id: messageId, sha256 }),
  output: decision,
  rest: { method: 'POST', path: '/v1/approvals/{sm_mail_id}/decline' },
  client: 'approvals.decline',
  run: decide(decline),
});

export const approvalOperations = [listApprovals, getApproval, approveEmail, declineEmail];

export function deciderOf({ keyId }: Caller, { person }: Pick<Via, 'person'>): Decider {
  if (person !== null) return { keyId: null, name: person.email };
  return { keyId, name: keyId === null ? 'a command' : showUuid('key_', keyId) };
}

/** Anyone who looks at a held email. */
type Reader = Pick<Caller, 'accountId'> & Partial<Pick<Caller, 'keyId' | 'limits'>>;

/** One-time links show it too (inbound/approval.ts). */
export async function readHeld(
  database: Database,
  reader: Reader,
  id: string,
): Promise<z.output<typeof heldEmailInFull>> {
  const message = await requireMessage(database, reader.accountId, id);
  const approval = await findApproval(database, reader.accountId, message.uuid);
  if (approval === undefined) throw notHeld(message.uuid);
  return await readInFull(database, reader, message, approval);
}

export async function readInFull(
  database: Database,
  reader: Reader,
  message: Message & { uuid: string },
  approval: Approval,
): Promise<z.output<typeof heldEmailInFull>> {
  const { accountId } = reader;
  const content = await readContent(database, accountId, message.uuid);
  if (content === undefined) throw noContent(showUuid('msg_', message.uuid));
  const { head, html, text } = content;
  const { stream } = message;
  return {
    ...showHeld(message, approval),
    state: approval.state,
    decided_by: approval.decidedBy,
    decided_at: approval.decidedAt?.toISOString() ?? null,
    from_email: formatMailbox(head.from),
    to: head.to.map(formatMailbox),
    cc: head.cc.map(formatMailbox),
    bcc: hiddenRecipients(head, message.recipients),
    reply_to: head.replyTo === null ? null : formatMailbox(head.replyTo),
    headers: head.headers.map(([name, value]) => ({ name, value })),
    ...{ text, html },
    attachments: head.attachments.map(({ filename, contentType, size }) => ({
      ...{ filename, content_type: contentType, size },
    })),
    suppressed: await suppressedRecipients(
      database,
      accountId,
      message.recipients,
      heededStream(head, stream),
    ),
    compared_with: await compare(database, reader, message, text ?? ''),
  };
}

function showHeld(message: Message, approval: Approval): z.output<typeof heldEmail> {
  const { reason, sha256, expiresAt, keyId } = approval;
  return {
    sm_mail_id: message.id,
    from_email: message.from,
    recipients: message.recipients,
    subject: message.subject,
    template: message.template,
    key_id: keyId === null ? null : showUuid('key_', keyId),
    created_at: message.createdAt,
    scheduled_at: message.scheduledAt,
    ...{ reason, sha256, expires_at: expiresAt.toISOString() },
  };
}

/** How many messages back to look for the last one of the template. */
const LOOKED_BACK = 5000;

/** A key that may see only its own emails is shown nothing from another's. */
async function compare(
  database: Database,
  { accountId, keyId, limits }: Reader,
  { template, uuid }: Message & { uuid: string },
  text: string,
) {
  if (template === null) return null;
  const [last] = await database.query<{ uuid: string }>(
    `SELECT id AS uuid FROM (
       SELECT id, template, status, key_id FROM messages WHERE account_id = $1 AND id < $2
       ORDER BY id DESC LIMIT ${LOOKED_BACK}
     ) recent WHERE template = $3 AND status <> 'queued' AND (NOT $4 OR key_id = $5)
     ORDER BY id DESC LIMIT 1`,
    [accountId, uuid, template, limits?.ownMessages === true, keyId ?? null],
  );
  const content = last && (await readContent(database, accountId, last.uuid));
  if (content === undefined) return null;
  return { sm_mail_id: showUuid('msg_', last!.uuid), ...compareTexts(text, content.text ?? '') };
}
