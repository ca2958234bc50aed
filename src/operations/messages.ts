// Messages: what was sent, found by whom it went to, what it was about and what became of it.
import { z } from 'zod';
import { Problem } from '../errors.ts';
import { readUuid, showUuid } from '../ids.ts';
import { DOORS } from '../messages/door.ts';
import type { Message } from '../messages/message.ts';
import { searchMessages } from '../messages/search.ts';
import { STATUSES } from '../messages/status.ts';
import { listed, listOf, page } from './lists.ts';
import { operation } from './operation.ts';

const messageSummary = z
  .object({
    id: z.string().describe('The message id, `sm_mail_id` in the call that tells its story.'),
    status: z.enum(STATUSES).describe('The current status.'),
    from_email: z.string().describe('Sender.'),
    recipients: z.array(z.string()).describe('To, cc and bcc together.'),
    subject: z.string().describe('The subject as it went out.'),
    tags: z.array(z.string()).describe('Labels given when it was sent.'),
    template: z.string().nullable().describe('The template it was made from.'),
    door: z.enum(DOORS).describe('Where it came in.'),
    created_at: z.string().describe('When it was accepted: ISO 8601, UTC.'),
  })
  .meta({ id: 'MessageSummary' });

const instant = (description: string) =>
  z.iso
    .datetime({ offset: true, error: 'write a time as 2026-11-15T10:00:00Z' })
    .optional()
    .describe(description);

const showSummary = ({ from, createdAt, accountId: _own, ...message }: Message) => ({
  ...message,
  from_email: from,
  created_at: createdAt,
});

export const messageOperations = [
  operation({
    name: 'search_messages',
    title: 'Search messages',
    summary:
      'The account’s messages, newest first, by recipient, subject, tag, status and time. One call looks through a bounded number of them: continue while `next` is not null, even when a page is empty.',
    effect: 'reads',
    scope: 'messages:read',
    input: z.strictObject({
      recipient: z
        .string()
        .trim()
        .max(400)
        .optional()
        .describe('An address in to, cc or bcc, or a part of one.')
        .meta({ example: 'ada@example.com' }),
      subject: z.string().trim().max(400).optional().describe('A part of the subject.'),
      tag: z.string().trim().max(400).optional().describe('A tag, exactly.'),
      status: z.enum(STATUSES).optional().describe('The current status.'),
      after: instant('Not before this time, ISO 8601.'),
      before: instant('Before this time, ISO 8601.'),
      ...page,
    }),
    output: listOf('messages', messageSummary),
    rest: { method: 'GET', path: '/v1/messages' },
    client: 'messages.list',
    tool: { advice: 'get_email_status tells the story of one.' },
    async run({ database }, { accountId }, { after, before, cursor, limit, ...filter }) {
      const { messages, beforeUuid } = await searchMessages(database, accountId, {
        ...filter,
        fromMs: after === undefined ? undefined : Date.parse(after),
        untilMs: before === undefined ? undefined : Date.parse(before),
        beforeUuid: cursor === undefined ? undefined : readCursor(cursor),
        limit,
      });
      return listed(messages.map(showSummary), beforeUuid && showUuid('msg_', beforeUuid));
    },
  }),
];

function readCursor(text: string): string {
  const uuid = readUuid('msg_', text);
  if (uuid !== undefined) return uuid;
  throw new Problem('invalid', 'cursor: give back `next` of the previous answer, or leave it out.');
}
