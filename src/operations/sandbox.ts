// The sandbox: what was captured of the account's mail instead of being delivered, and which
// addresses play which part.
import { z } from 'zod';
import { Problem } from '../errors.ts';
import { readUuid } from '../ids.ts';
import {
  clearOwnCaptured,
  getOwnCaptured,
  listOwnCaptured,
  type OwnCapturedMail,
} from '../sandbox/account-inbox.ts';
import { readCaptured } from '../sandbox/captured-mail.ts';
import { SIMULATOR_ADDRESSES } from '../sandbox/scripts.ts';
import { listed, listOf, page, pageOf } from './lists.ts';
import { isSealed, sealed } from './message-lookup.ts';
import { operation } from './operation.ts';

const capturedMail = z
  .object({
    id: z.string().describe('Id of the captured mail.'),
    captured_at: z.string().describe('When: ISO 8601, UTC.'),
    from: z.string().describe('Sender of the envelope.'),
    recipients: z.array(z.string()).describe('Recipients of the envelope.'),
    subject: z.string().describe('The subject.'),
    message_id: z.string().nullable().describe('The message it is a copy of.'),
    size: z.number().int().describe('Bytes.'),
  })
  .meta({ id: 'CapturedMail' });

const capturedContent = capturedMail
  .extend({
    headers: z
      .array(
        z.object({
          name: z.string().describe('Name of the header.'),
          value: z.string().describe('Its value, unfolded.'),
        }),
      )
      .describe('All headers, in order.'),
    html: z.string().nullable().describe('The HTML, without the tracking pixel.'),
    text: z.string().nullable().describe('The plain text.'),
    attachments: z
      .array(
        z.object({
          filename: z.string().describe('File name.'),
          content_type: z.string().describe('Media type.'),
          size: z.number().int().describe('Bytes.'),
        }),
      )
      .describe('Files, without what is in them.'),
    raw: z.string().describe('The mail as it went over the wire, its first 4 MB.'),
  })
  .meta({ id: 'CapturedContent' });

const show = ({ capturedAt, messageId, ...mail }: OwnCapturedMail) => ({
  ...{ id: mail.id, captured_at: capturedAt, from: mail.from, recipients: mail.recipients },
  ...{ subject: mail.subject, message_id: messageId, size: mail.size },
});

export const sandboxOperations = [
  operation({
    name: 'list_sandbox_mails',
    title: 'List captured mail',
    summary: 'Mail of the account that the sandbox captured instead of delivering, newest first.',
    effect: 'reads',
    scope: 'sandbox:read',
    input: z.strictObject(page),
    output: listOf('mails', capturedMail),
    rest: { method: 'GET', path: '/v1/sandbox' },
    client: 'sandbox.list',
    async run({ database }, { accountId }, { cursor, limit }) {
      if (cursor !== undefined && readUuid('sbx_', cursor) === undefined) {
        throw new Problem('invalid', 'cursor: give back `next` of the previous answer.');
      }
      const mails = await listOwnCaptured(database, accountId, { beforeId: cursor, limit });
      return pageOf(mails, limit, (last) => last.id, show);
    },
  }),

  operation({
    name: 'list_simulator_addresses',
    title: 'List simulator addresses',
    summary: 'Addresses that play a part in the sandbox, such as one that bounces.',
    effect: 'reads',
    scope: 'sandbox:read',
    input: z.strictObject({}),
    output: listOf(
      'addresses',
      z
        .object({
          address: z.string().describe('Send to it.'),
          plays: z.string().describe('What becomes of the mail.'),
        })
        .meta({ id: 'SimulatorAddress' }),
    ),
    rest: { method: 'GET', path: '/v1/simulator-addresses' },
    client: 'sandbox.listAddresses',
    tool: { advice: 'Use them to try out what happens, rather than addresses of people.' },
    run: async () => listed([...SIMULATOR_ADDRESSES], null),
  }),

  operation({
    name: 'get_sandbox_mail',
    title: 'Read a captured mail',
    summary: 'One captured mail, by its id or by that of the message: headers, bodies, bytes.',
    effect: 'reads',
    scope: 'sandbox:read',
    input: z.strictObject({
      id: z.string().max(64).describe('Id of the captured mail, or of the message.'),
    }),
    output: capturedContent,
    rest: { method: 'GET', path: '/v1/sandbox/{id}' },
    client: 'sandbox.get',
    async run({ database }, { accountId }, { id }, via) {
      const { raw, door, ...mail } = await getOwnCaptured(database, accountId, id);
      if (isSealed(door, via)) throw sealed();
      const read = readCaptured(raw);
      return {
        ...show(mail),
        headers: read.headers.map(([name, value]) => ({ name, value })),
        html: read.html,
        text: read.text,
        attachments: read.attachments.map(({ filename, contentType, size }) => ({
          ...{ filename, content_type: contentType, size },
        })),
        raw: read.raw,
      };
    },
  }),

  operation({
    name: 'clear_sandbox',
    title: 'Empty the sandbox',
    summary: 'Throws all captured mail of the account away.',
    effect: 'changes',
    scope: 'sandbox:write',
    input: z.strictObject({}),
    output: z.object({ cleared: z.number().int().describe('How many there were.') }),
    rest: { method: 'DELETE', path: '/v1/sandbox' },
    client: 'sandbox.clear',
    async run({ database }, { accountId }, _input, via) {
      const cleared = await clearOwnCaptured(database, accountId);
      via.note({ target: 'sandbox', before: { mails: cleared }, after: { mails: 0 } });
      return { cleared };
    },
  }),
];
