// Recipients: exports or erases what the account knows about one person, for requests that people
// make by law (GDPR articles 15, 17 and 20).
import { z } from 'zod';
import { parseAddress } from '../addresses.ts';
import { Problem } from '../errors.ts';
import { readTimeline } from '../events/timeline.ts';
import { readUuid, showUuid } from '../ids.ts';
import { searchMessages } from '../messages/search.ts';
import { STATUSES } from '../messages/status.ts';
import { eraseRecipient } from '../recipients/erase.ts';
import { readContent } from '../sending/stored-content.ts';
import { entriesOf } from '../suppressions/listing.ts';
import { timelineEvents } from './get-message.ts';
import { checkCursor, listed, listOf, page } from './lists.ts';
import { isSealed, messageUuid } from './message-lookup.ts';
import { operation } from './operation.ts';
import { showSuppression, suppression } from './suppressions.ts';

/** A page that has this much content ends: a hundred emails may have 25 MB each. */
const MOST_CHARS = 4 * 1024 * 1024;

const address = z
  .string()
  .max(320)
  .describe('The person’s email address.')
  .meta({ example: 'ada@example.com' });

const known = z.object({
  sm_mail_id: z.string().describe('The message id.'),
  accepted_at: z.string().describe('When it was accepted: ISO 8601, UTC.'),
  from_email: z.string().describe('Sender.'),
  subject: z.string().describe('The subject.'),
  status: z.enum(STATUSES).describe('The status of the message.'),
  template: z.string().nullable().describe('The template it was made from.'),
  tags: z.array(z.string()).describe('Its tags.'),
  events: timelineEvents.describe('What happened, oldest first.'),
  html: z
    .string()
    .nullable()
    .describe('What it said; null: it had none, or it is past its retention.'),
  text: z.string().nullable().describe('The same as plain text.'),
});

const counted = (what: string) => z.number().int().describe(what);

export const recipientOperations = [
  operation({
    name: 'export_recipient',
    title: 'Export what is known about a person',
    summary:
      'Everything this account holds about one email address: what was sent to it and what happened to it, newest first, and what it is suppressed or unsubscribed from. For answering someone who asks for their data.',
    effect: 'reads',
    scope: 'messages:read',
    ofAllEmails: true,
    ofWholeEmails: true,
    input: z.strictObject({ address, ...page }),
    output: listOf('messages', known).extend({
      address: z.string().describe('The address.'),
      suppressions: z.array(suppression).describe('Why it gets no more email, where that is so.'),
    }),
    rest: { method: 'GET', path: '/v1/recipients/{address}' },
    client: 'recipients.export',
    async run({ database }, { accountId }, { address, cursor, limit }, via) {
      const person = readAddress(address);
      checkCursor('msg_', cursor);
      const beforeUuid = cursor === undefined ? undefined : readUuid('msg_', cursor);
      const found = await searchMessages(database, accountId, {
        recipient: person,
        beforeUuid,
        limit,
      });
      const entries = await entriesOf(database, accountId, person);
      const data = [];
      let { beforeUuid: rest } = found;
      let chars = 0;
      for (const message of found.messages) {
        const uuid = messageUuid(message.id);
        const timeline = await readTimeline(database, accountId, uuid);
        const content = isSealed(message.door, via)
          ? undefined
          : await readContent(database, accountId, uuid);
        data.push({
          sm_mail_id: message.id,
          accepted_at: message.createdAt,
          from_email: message.from,
          subject: message.subject,
          status: message.status,
          template: message.template,
          tags: message.tags,
          events: (timeline?.events ?? []) as z.output<typeof timelineEvents>,
          html: content?.html ?? null,
          text: content?.text ?? null,
        });
        chars += (content?.html?.length ?? 0) + (content?.text?.length ?? 0);
        if (chars < MOST_CHARS) continue;
        if (message !== found.messages.at(-1)) rest = uuid;
        break;
      }
      const next = rest === null ? null : showUuid('msg_', rest);
      return { address: person, suppressions: entries.map(showSuppression), ...listed(data, next) };
    },
  }),

  operation({
    name: 'erase_recipient',
    title: 'Erase what is known about a person',
    summary:
      'Erases one email address from everything this account holds, at once and permanently: the content of every email that was sent to it, the address, what it opened and clicked, and reports about it. A suppression is kept as a hash and stays in force. 409 while an email to it still has to go out.',
    effect: 'changes',
    scope: 'messages:write',
    ofAllEmails: true,
    input: z.strictObject({ address }),
    output: z.object({
      messages: counted('Messages whose recipient and subject were erased.'),
      contents: counted('Contents that were deleted, with all that was in them.'),
      events: counted('Events that no longer name the person.'),
      attempts: counted('Attempts to deliver that no longer name the person.'),
      captured: counted('Captured emails that were deleted from the sandbox.'),
      reports: counted('Reports from mail servers that were deleted.'),
      webhook_answers: counted('Answers of webhook endpoints that were deleted.'),
      suppressions: counted('Entries of the suppression list that are kept as a hash.'),
      audit: counted('Rows of the audit that no longer name the person.'),
    }),
    rest: { method: 'DELETE', path: '/v1/recipients/{address}' },
    client: 'recipients.erase',
    async run({ database }, { accountId }, { address }, via) {
      const erased = await eraseRecipient(database, accountId, readAddress(address));
      via.note({ target: 'a recipient', after: { ...erased } });
      return erased;
    },
  }),
];

function readAddress(text: string): string {
  const parsed = parseAddress(text);
  if ('address' in parsed) return parsed.address;
  throw new Problem('invalid', `address: ${text.slice(0, 320)} is not an email address.`, {
    at: 'address',
  });
}
