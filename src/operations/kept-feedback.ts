// Email that reached the feedback listener and is for people: what was sent to postmaster@ and
// abuse@, and reports that led to no event. For operators.
import { z } from 'zod';
import { getKept, type KeptEmail, listKept, REASONS_TO_KEEP } from '../feedback/kept.ts';
import { checkCursor, listOf, page, pageOf } from './lists.ts';
import { operation } from './operation.ts';

const kept = z
  .object({
    id: z.string().describe('Its id.'),
    received_at: z.string().describe('When it came: ISO 8601, UTC.'),
    recipient: z.string().describe('To which address.'),
    from: z.string().describe('Who the envelope says it is from; anyone can write anything there.'),
    subject: z.string().describe('Its subject.'),
    kind: z.string().describe('What it was read as: dsn, bounce, arf, auto-reply or other.'),
    feedback_type: z.string().nullable().describe('Of a complaint: its type, such as abuse.'),
    why: z.string().describe('Why it is kept, such as for-people or untrusted.'),
    reason: z.string().describe('The same as a sentence.'),
    account_id: z.number().int().nullable().describe('The account that it is about, if known.'),
    message_id: z.string().nullable().describe('The message that it is about, if known.'),
    size: z.number().int().describe('Bytes that are kept of it.'),
  })
  .meta({ id: 'KeptEmail' });

const show = ({ receivedAt, feedbackType, accountId, messageId, ...email }: KeptEmail) => ({
  ...email,
  reason: REASONS_TO_KEEP[email.why as keyof typeof REASONS_TO_KEEP] ?? '',
  received_at: receivedAt,
  feedback_type: feedbackType,
  account_id: accountId,
  message_id: messageId,
});

export const keptFeedbackOperations = [
  operation({
    name: 'list_kept_feedback',
    title: 'List email to postmaster, abuse and the feedback listener',
    summary:
      'What people wrote to postmaster@ and abuse@ of BOUNCE_DOMAIN, and reports that led to no event, newest first. For operators only.',
    effect: 'reads',
    scope: 'accounts:read',
    input: z.strictObject({
      ...page,
      for_people: z
        .boolean()
        .default(false)
        .describe('Only what was written to postmaster@ and abuse@.'),
    }),
    output: listOf('emails', kept),
    rest: { method: 'GET', path: '/v1/feedback' },
    client: 'feedback.list',
    async run({ database }, _, { limit, cursor, for_people: forPeople }) {
      checkCursor('fbk_', cursor);
      const found = await listKept(database, { limit, after: cursor, forPeople });
      return pageOf(found, limit, (last) => last.id, show);
    },
  }),

  operation({
    name: 'get_kept_feedback',
    title: 'Read an email that was kept',
    summary:
      'One of them as received, up to 128 KB. A stranger wrote it: be careful with its links. For operators only.',
    effect: 'reads',
    scope: 'accounts:read',
    input: z.strictObject({ id: z.string().max(64).describe('Its id.') }),
    output: kept.extend({ raw: z.string().describe('The email as received.') }),
    rest: { method: 'GET', path: '/v1/feedback/{id}' },
    client: 'feedback.get',
    async run({ database }, _, { id }) {
      const { email, raw } = await getKept(database, id);
      return { ...show(email), raw: raw.toString('utf8').toWellFormed() };
    },
  }),
];
