// What a message holds: bodies, headers, files, its source; and sending it once more. Kept for a
// limited time.
import { z } from 'zod';
import { formatMailbox } from '../addresses.ts';
import { Problem } from '../errors.ts';
import { acceptSend } from '../sending/accept.ts';
import { sendAnswer } from '../sending/request.ts';
import {
  hiddenRecipients,
  readAttachment,
  readContent,
  requestAgain,
  type StoredContent,
} from '../sending/stored-content.ts';
import type { Database } from '../store/pool.ts';
import { noContent, requireOpen, sealed } from './message-lookup.ts';
import { messageId } from './messages.ts';
import { operation, requireScope } from './operation.ts';

const addresses = z.array(z.string());

const messageContent = z
  .object({
    sm_mail_id: z.string().describe('The message id.'),
    from_email: z.string().describe('Sender.'),
    to: addresses.describe('Recipients, as they were written.'),
    cc: addresses.describe('Recipients of copies.'),
    bcc: addresses.describe('Recipients who stand in no header.'),
    reply_to: z.string().nullable().describe('Where answers go; null: to the sender.'),
    subject: z.string().describe('The subject.'),
    headers: z
      .array(
        z.object({
          name: z.string().describe('Name of the header.'),
          value: z.string().describe('Its value.'),
        }),
      )
      .describe('The sender’s own headers.'),
    html: z.string().nullable().describe('The HTML, before tracking; null: it has none.'),
    text: z.string().nullable().describe('The plain text; null: it has none.'),
    attachments: z
      .array(
        z.object({
          index: z.number().int().describe('Its place, for the call that answers it.'),
          filename: z.string().describe('File name.'),
          content_type: z.string().describe('Media type.'),
          size: z.number().int().describe('Bytes.'),
        }),
      )
      .describe('Files, without what is in them.'),
  })
  .meta({ id: 'MessageContent' });

/** As in a send. */
const file = z
  .object({
    filename: z.string().describe('File name.'),
    content_type: z.string().describe('Media type.'),
    content_base64: z.string().describe('What is in it, base64.'),
  })
  .meta({ id: 'File' });

export const contentOperations = [
  operation({
    name: 'get_message_content',
    title: 'Read what a message says',
    summary:
      'Bodies, headers and the list of files of one message, as they were accepted. Content is kept for fewer days than the timeline.',
    effect: 'reads',
    scope: 'messages:read',
    input: z.strictObject({ sm_mail_id: messageId }),
    output: messageContent,
    rest: { method: 'GET', path: '/v1/messages/{sm_mail_id}/content' },
    client: 'messages.content',
    async run({ database }, { accountId }, { sm_mail_id }, via) {
      const message = await requireOpen(database, accountId, sm_mail_id, via);
      const { head, html, text } = await contentOf(database, accountId, message);
      return {
        sm_mail_id,
        from_email: formatMailbox(head.from),
        to: head.to.map(formatMailbox),
        cc: head.cc.map(formatMailbox),
        bcc: hiddenRecipients(head, message.recipients),
        reply_to: head.replyTo === null ? null : formatMailbox(head.replyTo),
        subject: message.subject,
        headers: head.headers.map(([name, value]) => ({ name, value })),
        html,
        text,
        attachments: head.attachments.map(({ filename, contentType, size }, index) => ({
          ...{ index, filename, content_type: contentType, size },
        })),
      };
    },
  }),

  operation({
    name: 'get_message_source',
    title: 'Read a message’s source',
    summary: 'The message as it goes or went over the wire (RFC 5322), tracking and all.',
    effect: 'reads',
    scope: 'messages:read',
    input: z.strictObject({ sm_mail_id: messageId }),
    output: file,
    rest: { method: 'GET', path: '/v1/messages/{sm_mail_id}/source', file: true },
    client: 'messages.source',
    async run({ database, sourceOf }, { accountId }, { sm_mail_id }, via) {
      const { uuid } = await requireOpen(database, accountId, sm_mail_id, via);
      const source = await sourceOf(accountId, uuid);
      if (source === undefined) throw noContent(sm_mail_id);
      return {
        filename: `${sm_mail_id}.eml`,
        content_type: 'message/rfc822',
        content_base64: source.toString('base64'),
      };
    },
  }),

  operation({
    name: 'get_message_attachment',
    title: 'Read an attachment',
    summary: 'One file of a message, by its place in the list of its content.',
    effect: 'reads',
    scope: 'messages:read',
    input: z.strictObject({
      sm_mail_id: messageId,
      index: z.coerce.number().int().min(0).max(1000).describe('Its place, from 0.'),
    }),
    output: file,
    rest: { method: 'GET', path: '/v1/messages/{sm_mail_id}/attachments/{index}', file: true },
    client: 'messages.attachment',
    async run({ database }, { accountId }, { sm_mail_id, index }, via) {
      const message = await requireOpen(database, accountId, sm_mail_id, via);
      const { head } = await contentOf(database, accountId, message);
      const found = await readAttachment(database, accountId, message.uuid, head, index);
      if (found === undefined) {
        throw new Problem(
          'not-found',
          `The message has ${head.attachments.length} attachments, and none at ${index}.`,
        );
      }
      return {
        filename: found.filename,
        content_type: found.contentType,
        content_base64: found.content.toString('base64'),
      };
    },
  }),

  operation({
    name: 'send_message_again',
    title: 'Send a message again',
    summary:
      'Queues the same email once more as a new message, to the same recipients. It counts as any other email.',
    effect: 'sends',
    scope: 'email:send',
    input: z.strictObject({ sm_mail_id: messageId }),
    output: sendAnswer,
    rest: { method: 'POST', path: '/v1/messages/{sm_mail_id}/send-again', status: 202 },
    client: 'messages.sendAgain',
    async run(deps, caller, { sm_mail_id }, via) {
      requireScope(caller, 'messages:read');
      const { database } = deps;
      const message = await requireOpen(database, caller.accountId, sm_mail_id, via);
      // A copy would be a mail of the account, which all its people may read.
      if (message.door === 'system') throw sealed();
      const content = await contentOf(database, caller.accountId, message);
      const request = await requestAgain(database, message, content);
      const { door, idempotencyKey } = via;
      const { answer, limit } = await acceptSend(deps, caller, request, { door, idempotencyKey });
      via.limit = limit;
      return answer;
    },
  }),
];

async function contentOf(
  database: Database,
  accountId: number,
  { id, uuid }: { id: string; uuid: string },
): Promise<StoredContent> {
  const content = await readContent(database, accountId, uuid);
  if (content === undefined) throw noContent(id);
  return content;
}
