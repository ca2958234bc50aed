// The sandbox: the mailbox for tests, with the account's email that was captured instead of
// delivered, and the addresses that simulate outcomes.
import { z } from 'zod';
import { Problem } from '../errors.ts';
import { inLongTurns } from '../process/in-turns.ts';
import {
  clearOwnCaptured,
  getOwnCaptured,
  listOwnCaptured,
  type OwnCapturedEmail,
  readAfter,
} from '../sandbox/account-inbox.ts';
import { readCaptured } from '../sandbox/captured-email.ts';
import { SIMULATOR_ADDRESSES } from '../sandbox/scripts.ts';
import { fileList, headerList } from './email-parts.ts';
import { file, fileAnswer } from './file-answer.ts';
import {
  checkCursor,
  listOf,
  page,
  pageOf,
  pageOfFew,
  pageOutOf,
  WHOLE_FOR_AGENTS,
} from './lists.ts';
import { isSealed, sealed } from './message-lookup.ts';
import { operation, type Via } from './operation.ts';

const LONGEST_WAIT_SECONDS = 60;

const id = z.string().max(64).describe('Id of the captured email, or of the message.');

export const capturedEmail = z
  .object({
    id: z.string().describe('Id of the captured email.'),
    captured_at: z.string().describe('When: ISO 8601, UTC.'),
    from: z.string().describe('Who wrote it: the From header.'),
    recipients: z.array(z.string()).describe('Recipients of the envelope.'),
    subject: z.string().describe('The subject.'),
    message_id: z.string().describe('The message it is a copy of.'),
    size: z.number().int().describe('Bytes.'),
    codes: z
      .array(z.string())
      .describe('One-time codes in subject and text, the likeliest first, as they are typed.'),
    links: z
      .array(
        z.object({
          url: z.string().describe('Where it leads.'),
          text: z.string().describe('The words of the link.'),
          tracked_url: z
            .string()
            .nullable()
            .describe('As it is in the email where clicks are tracked; otherwise null.'),
        }),
      )
      .describe('Links of the email in their order, at most 100.'),
  })
  .meta({ id: 'CapturedEmail' });

const capturedContent = capturedEmail
  .extend({
    headers: headerList('Its value, unfolded.').describe('All headers, in order.'),
    html: z.string().nullable().describe('The HTML, without the tracking pixel.'),
    text: z.string().nullable().describe('The plain text.'),
    attachments: fileList(),
    raw: z.string().describe('The email as it was handed over, its first 4 MB.'),
  })
  .meta({ id: 'CapturedContent' });

/** The service's own emails are for their reader only: they are listed, but cannot be opened. */
export function showTo(via: Via) {
  return ({ capturedAt, messageId, door, ...email }: OwnCapturedEmail) => {
    const isHidden = door === null || isSealed(door, via);
    return {
      ...{ id: email.id, captured_at: capturedAt, from: email.from, recipients: email.recipients },
      ...{ subject: email.subject, message_id: messageId, size: email.size },
      codes: isHidden ? [] : email.codes,
      links: isHidden
        ? []
        : email.links.map(({ url, text, trackedUrl }) => ({ url, text, tracked_url: trackedUrl })),
    };
  };
}

async function requireReadable(
  database: Parameters<typeof getOwnCaptured>[0],
  accountId: number,
  id: string,
  via: Via,
): Promise<OwnCapturedEmail & { raw: Buffer }> {
  const email = await getOwnCaptured(database, accountId, id);
  if (email.door === null || isSealed(email.door, via)) throw sealed();
  return email;
}

export const sandboxOperations = [
  operation({
    name: 'list_sandbox_emails',
    title: 'List captured email',
    summary:
      'The account’s email that the sandbox captured instead of delivering, newest first, with one-time codes and links. With `wait`, the call answers as soon as there is one, or with an empty list when the time is up.',
    effect: 'reads',
    scope: 'sandbox:read',
    ofAllEmails: true,
    input: z.strictObject({
      ...page,
      to: z.string().max(320).optional().describe('Only email to this address.'),
      subject: z.string().max(998).optional().describe('Only email with this in its subject.'),
      after: z
        .string()
        .max(64)
        .optional()
        .describe(
          'Only what was captured later than this: the id of a captured email or of a message, or a time such as 2030-01-31T12:00:00Z. Needed with `wait`, so that no code of an earlier email is picked up.',
        ),
      wait: z
        .number()
        .min(0)
        .max(LONGEST_WAIT_SECONDS)
        .optional()
        .describe(`Seconds to wait until there is one, at most ${LONGEST_WAIT_SECONDS}.`),
    }),
    output: listOf('emails', capturedEmail),
    rest: { method: 'GET', path: '/v1/sandbox/messages' },
    client: 'sandbox.list',
    tool: {
      brief:
        'Captured email with its one-time codes and links. To wait for one: `wait` seconds, `after` a time.',
    },
    async run({ database, mailbox }, caller, { cursor, limit, wait, ...wish }, via) {
      const { accountId, keyId } = caller;
      checkCursor('sbx_', cursor);
      const wanted = wantedOf(wish, wait);
      const look = () => listOwnCaptured(database, accountId, wanted, { beforeId: cursor, limit });
      let emails = await look();
      if (emails.length === 0 && wait) {
        const waiter = { accountId, caller: keyId ?? via.person?.id ?? via.door, wanted };
        await mailbox.until(waiter, wait * 1000, via.onGone);
        emails = await look();
      }
      return pageOf(emails, limit, (last) => last.id, showTo(via));
    },
  }),

  operation({
    name: 'list_simulator_addresses',
    title: 'List simulator addresses',
    summary: 'Addresses that simulate an outcome in the sandbox, such as one that bounces.',
    effect: 'reads',
    scope: 'sandbox:read',
    input: z.strictObject(pageOfFew),
    output: listOf(
      'addresses',
      z
        .object({
          address: z.string().describe('Send to it.'),
          plays: z.string().describe('What happens to the email.'),
        })
        .meta({ id: 'SimulatorAddress' }),
    ),
    rest: { method: 'GET', path: '/v1/simulator-addresses' },
    client: 'sandbox.listAddresses',
    tool: {
      brief: 'Addresses that simulate an outcome in the sandbox.',
      without: WHOLE_FOR_AGENTS,
    },
    run: async (_, __, wanted) => pageOutOf(SIMULATOR_ADDRESSES, wanted, ({ address }) => address),
  }),

  operation({
    name: 'get_sandbox_email',
    title: 'Read a captured email',
    summary: 'One captured email, by its id or by that of the message: headers, bodies, bytes.',
    effect: 'reads',
    scope: 'sandbox:read',
    ofAllEmails: true,
    ofWholeEmails: true,
    input: z.strictObject({ id }),
    output: capturedContent,
    rest: { method: 'GET', path: '/v1/sandbox/messages/{id}' },
    client: 'sandbox.get',
    async run({ database }, { accountId }, { id }, via) {
      const { raw, ...email } = await requireReadable(database, accountId, id, via);
      const read = await inLongTurns(readCaptured(raw));
      return {
        ...showTo(via)(email),
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
    name: 'get_sandbox_email_raw',
    title: 'Read the source of a captured email',
    summary: 'A captured email as it was handed over, as a file.',
    effect: 'reads',
    scope: 'sandbox:read',
    ofAllEmails: true,
    ofWholeEmails: true,
    input: z.strictObject({ id }),
    output: file,
    rest: { method: 'GET', path: '/v1/sandbox/messages/{id}/raw', file: true },
    client: 'sandbox.raw',
    async run({ database }, { accountId }, wish, via) {
      const { id, raw } = await requireReadable(database, accountId, wish.id, via);
      return fileAnswer(`${id}.eml`, 'message/rfc822', [raw]);
    },
  }),

  operation({
    name: 'get_sandbox_email_html',
    title: 'Read the HTML of a captured email',
    summary:
      'The HTML of a captured email as a file, without the tracking pixel: opening it in a browser does not count as an open.',
    effect: 'reads',
    scope: 'sandbox:read',
    ofAllEmails: true,
    ofWholeEmails: true,
    input: z.strictObject({ id }),
    output: file,
    rest: { method: 'GET', path: '/v1/sandbox/messages/{id}/html', file: true },
    client: 'sandbox.html',
    async run({ database }, { accountId }, wish, via) {
      const { id, raw } = await requireReadable(database, accountId, wish.id, via);
      const { html } = await inLongTurns(readCaptured(raw));
      if (html === null) {
        throw new Problem('not-found', `${id} has no HTML. Its text is in the captured email.`);
      }
      return fileAnswer(`${id}.html`, 'text/html; charset=utf-8', [Buffer.from(html)]);
    },
  }),

  operation({
    name: 'clear_sandbox',
    title: 'Empty the sandbox',
    summary: 'Deletes the account’s captured email: all of it, or what went to one address.',
    effect: 'changes',
    scope: 'sandbox:write',
    ofAllEmails: true,
    input: z.strictObject({
      to: z.string().max(320).optional().describe('Only email to this address.'),
    }),
    output: z.object({ cleared: z.number().int().describe('How many there were.') }),
    rest: { method: 'DELETE', path: '/v1/sandbox/messages' },
    client: 'sandbox.clear',
    async run({ database }, { accountId }, { to }, via) {
      const cleared = await clearOwnCaptured(database, accountId, to ?? null);
      const target = to === undefined ? 'sandbox' : `sandbox, to ${to}`;
      via.note({ target, before: { emails: cleared }, after: { emails: 0 } });
      return { cleared };
    },
  }),
];

function wantedOf(
  {
    to,
    subject,
    after,
  }: { to?: string | undefined; subject?: string | undefined; after?: string | undefined },
  wait: number | undefined,
) {
  if (wait !== undefined && after === undefined) {
    throw new Problem(
      'invalid',
      'after: wait needs it, or the code of an earlier email would be picked up. Give the id of the newest captured email, or the time before you triggered the email.',
      { faults: [{ path: 'after', message: 'after is missing' }] },
    );
  }
  const afterUuid = after === undefined ? null : readAfter(after);
  if (afterUuid === undefined) {
    throw new Problem(
      'invalid',
      'after: must be the id of a captured email or of a message, or a time such as 2030-01-31T12:00:00Z.',
      { faults: [{ path: 'after', message: 'after is neither an id nor a time' }] },
    );
  }
  return { to: to ?? null, subject: subject ?? null, afterUuid };
}
