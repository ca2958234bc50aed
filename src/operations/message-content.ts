// The content of a message: bodies, headers, files, its source; and sending it once more. Kept for
// a limited time.
import { z } from 'zod';
import { sandboxed } from '../accounts/agent-limits.ts';
import type { Caller } from '../accounts/directory.ts';
import { formatMailbox } from '../addresses.ts';
import { Problem } from '../errors.ts';
import { acceptSend } from '../sending/accept.ts';
import { sendAnswer } from '../sending/request.ts';
import {
  hiddenRecipients,
  readAttachment,
  readContent,
  readSizes,
  requestAgain,
  type StoredContent,
} from '../sending/stored-content.ts';
import type { StoredHead } from '../sending/stored-head.ts';
import type { Database } from '../store/pool.ts';
import { fileList, headerList } from './email-parts.ts';
import { file, fileAnswer } from './file-answer.ts';
import { noContent, requireOpen, sealed } from './message-lookup.ts';
import { messageId } from './messages.ts';
import { operation, requireScope } from './operation.ts';

const addresses = z.array(z.string());

export const contentFiles = fileList({
  index: z.number().int().describe('Its place in the list, for the call that returns it.'),
});

const messageContent = z
  .object({
    sm_mail_id: z.string().describe('The message id.'),
    from_email: z.string().describe('Sender.'),
    to: addresses.describe('Recipients, as they were written.'),
    cc: addresses.describe('Recipients of copies.'),
    bcc: addresses.describe('Recipients who are in no header.'),
    reply_to: z.string().nullable().describe('Where replies go; null: to the sender.'),
    subject: z.string().describe('The subject.'),
    headers: headerList('Its value.').describe('The sender’s own headers.'),
    html: z.string().nullable().describe('The HTML, before tracking; null: it has none.'),
    text: z.string().nullable().describe('The plain text; null: it has none.'),
    attachments: contentFiles,
  })
  .meta({ id: 'MessageContent' });

export const showFiles = ({ attachments }: StoredHead): z.output<typeof contentFiles> =>
  attachments.map(({ filename, contentType, size }, index) => ({
    ...{ index, filename, content_type: contentType, size },
  }));

export const showHeaders = ({ headers }: StoredHead) =>
  headers.map(([name, value]) => ({ name, value }));

export const contentOperations = [
  operation({
    name: 'get_message_content',
    title: 'Read what a message says',
    summary:
      'Bodies, headers and the list of files of one message, as they were accepted. Content is kept for fewer days than the timeline.',
    effect: 'reads',
    scope: 'messages:read',
    ofWholeEmails: true,
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
        headers: showHeaders(head),
        html,
        text,
        attachments: showFiles(head),
      };
    },
  }),

  operation({
    name: 'get_message_source',
    title: 'Read a message’s source',
    summary:
      'The message as it is or was handed over (RFC 5322), including tracking. Its token and its unsubscribe link are replaced by ones that do nothing.',
    effect: 'reads',
    scope: 'messages:read',
    ofWholeEmails: true,
    input: z.strictObject({ sm_mail_id: messageId }),
    output: file,
    rest: { method: 'GET', path: '/v1/messages/{sm_mail_id}/source', file: true },
    client: 'messages.source',
    async run({ database, sourceOf }, { accountId }, { sm_mail_id }, via) {
      const { uuid } = await requireOpen(database, accountId, sm_mail_id, via);
      const source = await sourceOf(accountId, uuid);
      if (source === undefined) throw noContent(sm_mail_id);
      return fileAnswer(`${sm_mail_id}.eml`, 'message/rfc822', source);
    },
  }),

  operation({
    name: 'get_message_attachment',
    title: 'Read an attachment',
    summary: 'One file of a message, by its place in the list of its content.',
    effect: 'reads',
    scope: 'messages:read',
    ofWholeEmails: true,
    input: z.strictObject({
      sm_mail_id: messageId,
      index: z.coerce.number().int().min(0).max(1000).describe('Its place, from 0.'),
    }),
    output: file,
    rest: { method: 'GET', path: '/v1/messages/{sm_mail_id}/attachments/{index}', file: true },
    client: 'messages.attachment',
    async run({ database }, { accountId }, { sm_mail_id, index }, via) {
      const message = await requireOpen(database, accountId, sm_mail_id, via);
      const stored = await readSizes(database, accountId, message.uuid);
      if (stored === undefined) throw noContent(sm_mail_id);
      const { head } = stored;
      const found = await readAttachment(database, accountId, message.uuid, head, index);
      if (found === undefined) {
        throw new Problem(
          'not-found',
          `The message has ${head.attachments.length} attachments, and none at ${index}.`,
        );
      }
      return fileAnswer(found.filename, found.contentType, [found.content]);
    },
  }),

  operation({
    name: 'send_message_again',
    title: 'Send a message again',
    summary:
      'Queues the same email once more as a new message, to the same recipients. It counts like any other email.',
    effect: 'sends',
    scope: 'email:send',
    ofWholeEmails: true,
    input: z.strictObject({ sm_mail_id: messageId }),
    output: sendAnswer,
    rest: { method: 'POST', path: '/v1/messages/{sm_mail_id}/send-again', status: 202 },
    client: 'messages.sendAgain',
    async run(deps, caller, { sm_mail_id }, via) {
      requireScope(caller, 'messages:read');
      const { database } = deps;
      const message = await requireOpen(database, caller.accountId, sm_mail_id, via);
      // A copy would be an ordinary email of the account, which all its members may read.
      if (message.door === 'system') throw sealed();
      const content = await contentOf(database, caller.accountId, message);
      const { request, ...as } = await requestAgain(database, message, content);
      const { door, idempotencyKey } = via;
      const who = content.head.sandbox ? inSandbox(caller) : caller;
      const { answer, limit } = await acceptSend(deps, who, request, {
        ...{ door, idempotencyKey },
        ...as,
      });
      via.limit = limit;
      return answer;
    },
  }),
];

/** An email written for a test reaches nobody, whoever sends it again. */
const inSandbox = (caller: Caller): Caller => ({ ...caller, limits: sandboxed(caller.limits) });

async function contentOf(
  database: Database,
  accountId: number,
  { id, uuid }: { id: string; uuid: string },
): Promise<StoredContent> {
  const content = await readContent(database, accountId, uuid);
  if (content === undefined) throw noContent(id);
  return content;
}
