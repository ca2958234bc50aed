// Converts an email from Resend's API into a send request of ours, and one of our messages into
// Resend's format. Before it: routes.ts. What we cannot do is refused by name, never silently left
// out.
import { extname } from 'node:path';
import { z } from 'zod';
import { Problem } from '../errors.ts';
import { bytesToUuid, readId, readUuid, showUuid } from '../ids.ts';
import { readInput } from '../operations/read-input.ts';

const addresses = z.union([z.string(), z.array(z.string())], {
  error: ({ input }) =>
    input === undefined ? 'is missing' : 'must be an address or a list of addresses',
});

const attachment = z.strictObject({
  filename: z.union([z.string(), z.literal(false)]).optional(),
  // Node's Buffers, if a program serialised them as JSON itself.
  content: z
    .union([z.string(), z.object({ type: z.literal('Buffer'), data: z.array(z.number()) })])
    .optional(),
  path: z.string().optional(),
  content_type: z.string().optional(),
  contentType: z.string().optional(),
  content_id: z.string().optional(),
  contentId: z.string().optional(),
  inline_content_id: z.string().optional(),
});

const email = z.strictObject({
  from: z.string().optional(),
  to: addresses,
  cc: addresses.optional(),
  bcc: addresses.optional(),
  reply_to: addresses.optional(),
  replyTo: addresses.optional(),
  subject: z.string().optional(),
  html: z.string().optional(),
  text: z.string().optional(),
  headers: z.record(z.string(), z.string()).optional(),
  tags: z.array(z.strictObject({ name: z.string(), value: z.string() })).optional(),
  attachments: z.array(attachment).optional(),
  scheduled_at: z.string().optional(),
  scheduledAt: z.string().optional(),
  template: z
    .strictObject({ id: z.string(), variables: z.record(z.string(), z.unknown()).optional() })
    .optional(),
  topic_id: z.string().optional(),
  topicId: z.string().optional(),
});

/** Longer HTML is sent without a text part. */
const LONGEST_HTML_READ = 256 * 1024;

/**
 * HTML that needs a text part, as Resend generates it: unless one is given, or left blank on
 * purpose.
 */
export function htmlWithoutText(raw: unknown): string | undefined {
  const { html, text } = (raw ?? {}) as { html?: unknown; text?: unknown };
  if (typeof html !== 'string' || html.length > LONGEST_HTML_READ) return undefined;
  return text === undefined || text === null ? html : undefined;
}

export function toSendRequest(raw: unknown): Record<string, unknown> {
  const given = readInput(email, raw);
  refuseWhatWeHaveNot(given);
  const { html, template } = given;
  return withoutAbsent({
    from_email: given.from,
    to: listOf(given.to),
    cc: listOf(given.cc),
    bcc: listOf(given.bcc),
    reply_to: listOf(given.reply_to ?? given.replyTo)?.[0],
    subject: given.subject,
    html,
    text: given.text,
    headers: given.headers,
    tags: given.tags?.map(({ name, value }) => `${name}:${value}`),
    attachments: given.attachments?.map(toAttachment),
    scheduled_at: given.scheduled_at ?? given.scheduledAt,
    template: template?.id,
    variables: template?.variables,
  });
}

function refuseWhatWeHaveNot(given: z.output<typeof email>): void {
  const replyTo = listOf(given.reply_to ?? given.replyTo) ?? [];
  if (replyTo.length > 1) {
    throw new Problem(
      'invalid',
      'reply_to: this service accepts one address. Leave the others out.',
      {
        at: 'reply_to',
      },
    );
  }
  if ((given.topic_id ?? given.topicId) !== undefined) {
    throw new Problem('invalid', 'topic_id: this service has no topics. Leave it out.', {
      at: 'topic_id',
    });
  }
  const when = given.scheduled_at ?? given.scheduledAt;
  if (when !== undefined && !/^\d{4}-\d\d-\d\d/.test(when)) {
    throw new Problem(
      'invalid',
      `scheduled_at: "${when.slice(0, 50)}" is not a time: phrases such as "in 1 hour" are not supported here. Give a time in ISO 8601, such as 2030-01-31T09:00:00Z.`,
      { at: 'scheduled_at' },
    );
  }
}

function toAttachment(given: z.output<typeof attachment>, index: number): object {
  const at = `attachments[${index}]`;
  if (given.path !== undefined) {
    throw new Problem(
      'invalid',
      `${at}.path: this service fetches nothing from the web. Read the file yourself and give it as content.`,
      { at: `${at}.path` },
    );
  }
  const { content } = given;
  if (content === undefined) {
    throw new Problem('invalid', `${at}.content is missing.`, {
      at: `${at}.content`,
      kind: 'missing-field',
    });
  }
  const filename = given.filename || 'attachment';
  return withoutAbsent({
    filename,
    content_base64:
      typeof content === 'string' ? content : Buffer.from(content.data).toString('base64'),
    content_type: given.content_type ?? given.contentType ?? typeOf(filename),
    content_id: given.content_id ?? given.contentId ?? given.inline_content_id,
  });
}

/** Resend, too, derives the type from the name. */
const TYPES: Record<string, string> = {
  ...{ '.pdf': 'application/pdf', '.txt': 'text/plain', '.csv': 'text/csv', '.html': 'text/html' },
  ...{ '.png': 'image/png', '.jpg': 'image/jpeg', '.jpeg': 'image/jpeg', '.gif': 'image/gif' },
  ...{ '.svg': 'image/svg+xml', '.webp': 'image/webp', '.ics': 'text/calendar' },
  ...{ '.json': 'application/json', '.xml': 'application/xml', '.zip': 'application/zip' },
  '.docx': 'application/vnd.openxmlformats-officedocument.wordprocessingml.document',
  '.xlsx': 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
};
const typeOf = (filename: string): string =>
  TYPES[extname(filename).toLowerCase()] ?? 'application/octet-stream';

const listOf = (value: string | string[] | undefined): string[] | undefined =>
  typeof value === 'string' ? [value] : value;

const withoutAbsent = (fields: Record<string, unknown>): Record<string, unknown> =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));

/**
 * Resend's ids are UUIDs, and programs keep them in columns of that type: ours have the same bits.
 */
export const toResendId = (id: string): string => readUuid('msg_', id) ?? id;

/** A UUID, or our own id, which webhooks and the dashboard show. */
export function fromResendId(id: string): string {
  if (readId('msg_', id) !== undefined) return id;
  const isUuid = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(id);
  if (!isUuid) throw new Problem('not-found', `There is no email ${id.slice(0, 64)}.`);
  return showUuid('msg_', bytesToUuid(Buffer.from(id.replaceAll('-', ''), 'hex')));
}

/** `name:value`; a tag from another door has no value. */
export function toResendTag(tag: string): { name: string; value: string } {
  const colon = tag.indexOf(':');
  return colon < 0
    ? { name: tag, value: '' }
    : { name: tag.slice(0, colon), value: tag.slice(colon + 1) };
}
