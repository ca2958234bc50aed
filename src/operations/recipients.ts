// Recipients: exports or erases what the account knows about one person, for requests that people
// make by law (GDPR articles 15, 17 and 20).
import { z } from 'zod';
import type { Caller } from '../accounts/directory.ts';
import { parseAddress } from '../addresses.ts';
import { readMessageDetails } from '../delivery/message-details.ts';
import { Problem } from '../errors.ts';
import { listAttempts } from '../events/attempts.ts';
import { readUuid, showUuid } from '../ids.ts';
import type { Message } from '../messages/message.ts';
import { searchMessages } from '../messages/search.ts';
import { STATUSES } from '../messages/status.ts';
import { eraseRecipient } from '../recipients/erase.ts';
import {
  changesAbout,
  choicesOf,
  keysNaming,
  linksSwitchedOff,
  postsAbout,
  reportsAbout,
  strikesOf,
  wordsAbout,
} from '../recipients/known.ts';
import { type Person, personOf } from '../recipients/person.ts';
import { listOwnCaptured } from '../sandbox/account-inbox.ts';
import { readContent } from '../sending/stored-content.ts';
import type { Database } from '../store/pool.ts';
import { entriesOf } from '../suppressions/listing.ts';
import type { OperationDeps } from './deps.ts';
import { headerList } from './email-parts.ts';
import { timelineEvents } from './get-message.ts';
import { checkCursor, listed, listOf, page } from './lists.ts';
import { contentFiles, showFiles, showHeaders } from './message-content.ts';
import { isSealed, messageUuid } from './message-lookup.ts';
import { attempt, pending, showAttempt, showPending } from './messages.ts';
import { operation, type Via } from './operation.ts';
import { capturedEmail, showTo } from './sandbox.ts';
import { showSuppression, suppression } from './suppressions.ts';

/** All there are of an account (sandbox/inbox.ts). */
const MOST_CAPTURED = 1000;
/** A page that has this much content ends: a hundred emails may have 25 MB each. */
const MOST_CHARS = 4 * 1024 * 1024;

const address = z
  .string()
  .max(320)
  .describe('The person’s email address.')
  .meta({ example: 'ada@example.com' });

const text = z.string().nullable();
const at = z.string().describe('When: ISO 8601, UTC.');
const record = z.record(z.string(), z.unknown());

const posts = z
  .array(
    z.object({
      id: z.string().describe('Id of the delivery.'),
      endpoint_id: z.string().describe('The endpoint.'),
      event_type: z.string().describe('What happened.'),
      state: z.string().describe('pending, delivered or abandoned.'),
      status: z.number().int().nullable().describe('What the endpoint answered last.'),
      response: text.describe('What it wrote back.'),
      error: text.describe('Why the last attempt failed.'),
    }),
  )
  .nullable()
  .describe('What was posted to webhook endpoints. Null: the caller lacks webhooks:read.');

const known = z.object({
  sm_mail_id: z.string().describe('The message id.'),
  accepted_at: z.string().describe('When it was accepted: ISO 8601, UTC.'),
  from_email: z.string().describe('Sender.'),
  subject: z.string().describe('The subject.'),
  status: z.enum(STATUSES).describe('The status of the message.'),
  template: z.string().nullable().describe('The template it was made from.'),
  tags: z.array(z.string()).describe('Its tags.'),
  events: timelineEvents.describe('What happened, oldest first.'),
  attempts: z.array(attempt).describe('What the timeline leaves out, oldest first.'),
  delay: record.nullable().describe('The newest report that it is late.'),
  pending: pending.nullable().describe('What is still to hand over; null: nothing.'),
  headers: headerList('Its value.').describe('The sender’s own headers.'),
  variables: record.nullable().describe('What its template was filled with, if that is kept.'),
  html: z
    .string()
    .nullable()
    .describe('What it said; null: it had none, or it is past its retention.'),
  text: z.string().nullable().describe('The same as plain text.'),
  attachments: contentFiles.describe(
    'Its files, without what is in them: `GET /v1/messages/{sm_mail_id}/attachments/{index}` returns each.',
  ),
  webhook_deliveries: posts,
  reports: z
    .array(
      z.object({
        id: z.string().describe('Its id.'),
        received_at: z.string().describe('When it came: ISO 8601, UTC.'),
        kind: z.string().describe('What it was read as.'),
        subject: z.string().describe('Its subject.'),
        size: z.number().int().describe('Bytes that are kept of it.'),
      }),
    )
    .describe(
      'Emails that came back about it and are kept: an operator reads each by `GET /v1/feedback/{id}`.',
    ),
  disabled_links: z
    .array(
      z.object({
        url: z.string().describe('Where it led; empty: all links of the message.'),
        reason: z.string().describe('Why.'),
        disabled_at: at,
      }),
    )
    .describe('Links in it that an operator switched off.'),
});

/** What is known about the person beside the emails to them: told once, on the first page. */
const person = z.object({
  subscriptions: z
    .array(
      z.object({
        timestamp: z.string().describe('When: ISO 8601, UTC, no zone suffix.'),
        detail: record.describe('What they joined or left, and how.'),
        webhook_deliveries: posts,
      }),
    )
    .describe('What they joined and left, oldest first.'),
  strikes: z.array(z.string()).describe('Days on which mail servers called the address doubtful.'),
  statistics: z
    .array(
      z.object({
        day: z.string().describe('The day.'),
        words: z.string().describe('The words: of a mail server, or a tag.'),
      }),
    )
    .describe('Words in the statistics that name them.'),
  idempotency_keys: z
    .array(z.string())
    .describe('Idempotency keys of the last day that name them.'),
  captured: z
    .array(capturedEmail)
    .nullable()
    .describe(
      'Emails to them that the sandbox captured: `GET /v1/sandbox/emails/{id}` returns each. Null: the caller lacks sandbox:read.',
    ),
  audit: z
    .array(
      z.object({
        at,
        action: z.string().describe('The operation.'),
        target: z.string().describe('What it was done to.'),
        before: record.nullable().describe('What changed, as it was before.'),
        after: record.nullable().describe('What changed, as it is now.'),
      }),
    )
    .nullable()
    .describe(
      'Changes that name them, the newest 1,000. Null: the caller lacks audit:read, which owners have.',
    ),
});

const counted = (what: string) => z.number().int().describe(what);

export const recipientOperations = [
  operation({
    name: 'export_recipient',
    title: 'Export what is known about a person',
    summary:
      'Everything this account holds about one email address, for answering someone who asks for their data. Each page has emails that were sent to it, newest first, with what they said and what happened to them. The first page also has what is known about the person beside them, and every page what the address is suppressed or unsubscribed from. Files, captured emails and kept reports are named, with the call that returns them: there may be gigabytes.',
    effect: 'reads',
    scope: 'messages:read',
    ofAllEmails: true,
    ofWholeEmails: true,
    input: z.strictObject({ address, ...page }),
    output: listOf('messages', known).extend({
      address: z.string().describe('The address.'),
      suppressions: z.array(suppression).describe('Why it gets no more email, where that is so.'),
      person: person.nullable().describe('Null: it is on the first page.'),
    }),
    rest: { method: 'GET', path: '/v1/recipients/{address}' },
    client: 'recipients.export',
    async run(deps, caller, { address, cursor, limit }, via) {
      const { database } = deps;
      const { accountId } = caller;
      const about = personOf(accountId, readAddress(address));
      checkCursor('msg_', cursor);
      const beforeUuid = cursor === undefined ? undefined : readUuid('msg_', cursor);
      const found = await searchMessages(database, accountId, {
        recipient: about.key,
        beforeUuid,
        limit,
      });
      const entries = await entriesOf(database, accountId, about.key);
      const postsOf = await postsReader(
        database,
        caller,
        found.messages.map(({ id }) => messageUuid(id)),
      );
      const data = [];
      let { beforeUuid: rest } = found;
      let chars = 0;
      for (const message of found.messages) {
        const shown = await showMessage(deps, message, isSealed(message.door, via), postsOf);
        data.push(shown);
        chars += (shown.html?.length ?? 0) + (shown.text?.length ?? 0);
        if (chars < MOST_CHARS) continue;
        if (message !== found.messages.at(-1)) rest = messageUuid(message.id);
        break;
      }
      const next = rest === null ? null : showUuid('msg_', rest);
      return {
        address: about.key,
        suppressions: entries.map(showSuppression),
        person: cursor === undefined ? await showPerson(database, caller, about, via) : null,
        ...listed(data, next),
      };
    },
  }),

  operation({
    name: 'erase_recipient',
    title: 'Erase what is known about a person',
    summary:
      'Erases one email address from everything this account holds, at once and permanently: the content of every email that was sent to it, the address, what it opened and clicked, copies in the sandbox, and reports about it. A suppression is kept as a hash and stays in force, and so does a link that an operator switched off. What the account wrote itself stays: templates, senders, the rules of keys. 409 while an email to it still has to go out.',
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
      statistics: counted('Days and hours of the statistics that no longer name the person.'),
      idempotency_keys: counted(
        'Idempotency keys that were deleted, because they named the person.',
      ),
      disabled_links: counted('Links switched off by an operator, of which a hash is kept.'),
      strikes: counted('Days that were deleted on which the address was called doubtful.'),
      suppressions: counted('Entries of the suppression list that are kept as a hash.'),
      audit: counted('Rows of the audit that no longer name the person.'),
    }),
    rest: { method: 'DELETE', path: '/v1/recipients/{address}' },
    client: 'recipients.erase',
    async run({ database }, { accountId }, { address }, via) {
      const erased = await eraseRecipient(database, personOf(accountId, readAddress(address)));
      via.note({ target: 'a recipient', after: { ...erased } });
      return erased;
    },
  }),
];

type PostsOf = (uuid: string) => z.output<typeof posts>;

/** Read for all of them at once: the log of deliveries is ordered by time, not by message. */
async function postsReader(
  database: Database,
  { accountId, scopes }: Caller,
  uuids: readonly string[],
): Promise<PostsOf> {
  if (!scopes.has('webhooks:read')) return () => null;
  if (uuids.length === 0) return () => [];
  const found = await postsAbout(database, accountId, uuids);
  return (uuid) => found.get(uuid) ?? [];
}

async function showMessage(
  deps: OperationDeps,
  message: Message,
  sealed: boolean,
  postsOf: PostsOf,
): Promise<z.output<typeof known>> {
  const { database } = deps;
  const { accountId } = message;
  const uuid = messageUuid(message.id);
  const details = await readMessageDetails(deps, accountId, uuid);
  const attempts = await listAttempts(database, accountId, uuid);
  const content = sealed ? undefined : await readContent(database, accountId, uuid);
  return {
    sm_mail_id: message.id,
    accepted_at: message.createdAt,
    from_email: message.from,
    subject: message.subject,
    status: message.status,
    template: message.template,
    tags: message.tags,
    events: (details?.events ?? []) as z.output<typeof timelineEvents>,
    attempts: attempts.map(showAttempt),
    delay: details?.delay ?? null,
    pending: details?.pending ? showPending(details.pending) : null,
    headers: content ? showHeaders(content.head) : [],
    variables: content?.head.variables ?? null,
    html: content?.html ?? null,
    text: content?.text ?? null,
    attachments: content ? showFiles(content.head) : [],
    webhook_deliveries: postsOf(uuid),
    reports: await reportsAbout(database, accountId, uuid),
    disabled_links: await linksSwitchedOff(database, accountId, uuid),
  };
}

async function showPerson(
  database: Database,
  caller: Caller,
  about: Person,
  via: Via,
): Promise<z.output<typeof person>> {
  const { accountId, scopes } = caller;
  const choices = await choicesOf(database, about);
  const postsOf = await postsReader(
    database,
    caller,
    choices.map(({ uuid }) => uuid),
  );
  const wanted = { to: about.key, subject: null, afterUuid: null };
  const captured = scopes.has('sandbox:read')
    ? await listOwnCaptured(database, accountId, wanted, { limit: MOST_CAPTURED })
    : null;
  return {
    subscriptions: choices.map(({ uuid, ...choice }) => ({
      ...choice,
      webhook_deliveries: postsOf(uuid),
    })),
    strikes: await strikesOf(database, about),
    statistics: await wordsAbout(database, about),
    idempotency_keys: await keysNaming(database, about),
    captured: captured?.map(showTo(via)) ?? null,
    audit: scopes.has('audit:read') ? await changesAbout(database, about) : null,
  };
}

function readAddress(text: string): string {
  const parsed = parseAddress(text);
  if ('address' in parsed) return parsed.address;
  throw new Problem('invalid', `address: ${text.slice(0, 320)} is not an email address.`, {
    at: 'address',
  });
}
