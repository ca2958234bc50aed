// Reading back what was accepted, for people: bodies, headers and attachments of one message.
// Written by batch.ts.
import { formatMailbox } from '../addresses.ts';
import { freeBytes } from '../bytes/free-bytes.ts';
import { bytesIn, type Place, textIn } from '../mime/decoding.ts';
import { inTurns } from '../process/in-turns.ts';
import { type LargeValue, readInPieces } from '../store/pieces.ts';
import type { Database } from '../store/pool.ts';
import type { SendRequest } from './request.ts';
import { isAboutAccess, readHead, type StoredAttachment, type StoredHead } from './stored-head.ts';
import type { Submitted } from './submitted.ts';

export interface StoredContent {
  head: StoredHead;
  html: string | null;
  text: string | null;
}

/** Columns that may be large. */
export type StoredBody = 'html' | 'text' | 'attachments';

export const bodyOf = (accountId: number, uuid: string, column: StoredBody): LargeValue => ({
  ...{ table: 'contents', column, key: 'message_id', accountId, uuid },
});

/** Undefined: there is none, or it is past its retention. */
export async function readContent(
  database: Database,
  accountId: number,
  uuid: string,
): Promise<StoredContent | undefined> {
  const stored = await readSizes(database, accountId, uuid);
  if (stored === undefined) return undefined;
  const { head, html, text } = stored;
  const { mime } = head;
  async function read(column: StoredBody, place: Place | null): Promise<string | null> {
    if (place === null) return null;
    const bytes = await readBytes(database, accountId, uuid, column, place);
    const shown = await inTurns(textIn(bytes, place, place.at));
    freeBytes(bytes);
    return shown;
  }
  return mime === undefined
    ? { head, html: await read('html', whole(html)), text: await read('text', whole(text)) }
    : {
        head,
        html: await read('attachments', mime.html),
        text: await read('attachments', mime.text),
      };
}

const whole = (length: number | null): Place | null => (length === null ? null : { at: 0, length });

/** The head, and how many bytes each body has; undefined as above. */
export async function readSizes(
  database: Database,
  accountId: number,
  uuid: string,
): Promise<({ head: StoredHead } & Record<StoredBody, number | null>) | undefined> {
  type Row = { head: Buffer } & Record<StoredBody, number | null>;
  const [row] = await database.query<Row>(
    `SELECT head, octet_length(html) AS html, octet_length(text) AS text,
            octet_length(attachments) AS attachments
     FROM contents WHERE account_id = $1 AND message_id = $2`,
    [accountId, uuid],
  );
  return row && { ...row, head: readHead(row.head) };
}

export interface AttachmentWithBytes extends StoredAttachment {
  content: Buffer;
}

/** One of them; the others are not read. */
export async function readAttachment(
  database: Database,
  accountId: number,
  uuid: string,
  head: StoredHead,
  index: number,
): Promise<AttachmentWithBytes | undefined> {
  const wanted = head.attachments[index];
  if (wanted === undefined) return undefined;
  const at = head.attachments.slice(0, index).reduce((sum, it) => sum + it.size, 0);
  const place = wanted.place ?? { at, length: wanted.size };
  const bytes = await readBytes(database, accountId, uuid, 'attachments', place);
  const content = await inTurns(bytesIn(bytes, place, place.at));
  if (place.encoding !== undefined) freeBytes(bytes);
  return { ...wanted, content };
}

/** None if they have been removed since. */
async function readBytes(
  database: Database,
  accountId: number,
  uuid: string,
  column: StoredBody,
  place: Pick<Place, 'at' | 'length'>,
): Promise<Buffer> {
  const value = bodyOf(accountId, uuid, column);
  return (await readInPieces(database, value, place)) ?? Buffer.alloc(0);
}

/** The envelope's recipients that are in no header. */
export function hiddenRecipients(head: StoredHead, envelope: readonly string[]): string[] {
  const shown = new Set([...head.to, ...head.cc].map((it) => it.address.toLowerCase()));
  return envelope.filter((address) => !shown.has(address.toLowerCase()));
}

/**
 * The request that creates the same email again. What a template rendered is sent as it was, and so
 * is an email that arrived whole.
 */
export async function requestAgain(
  database: Database,
  message: {
    accountId: number;
    uuid: string;
    recipients: string[];
    subject: string;
    tags: string[];
    stream: string;
  },
  content: StoredContent,
): Promise<{ request: SendRequest; submitted?: Submitted; aboutAccess: boolean }> {
  const { head } = content;
  // What its template's category made it: it cannot wait, and its links are not tracked.
  const aboutAccess = isAboutAccess(head);
  const request: SendRequest = {
    from_email: formatMailbox(head.from),
    to: head.to.map(formatMailbox),
    cc: head.cc.map(formatMailbox),
    bcc: hiddenRecipients(head, message.recipients),
    ...(head.replyTo === null ? {} : { reply_to: formatMailbox(head.replyTo) }),
    subject: message.subject,
    tags: message.tags,
    stream: message.stream,
  };
  if (head.mime !== undefined) {
    return { ...(await submittedAgain(database, message, head, request)), aboutAccess };
  }
  const { html, text } = content;
  return {
    aboutAccess,
    request: {
      ...request,
      ...(html === null ? {} : { html }),
      ...(text === null ? {} : { text }),
      headers: Object.fromEntries(head.headers),
      attachments: await attachmentsAgain(database, message, head),
    },
  };
}

interface Whose {
  accountId: number;
  uuid: string;
  recipients: string[];
}

async function attachmentsAgain(
  database: Database,
  { accountId, uuid }: Whose,
  head: StoredHead,
): Promise<SendRequest['attachments']> {
  const attachments: SendRequest['attachments'] = [];
  for (const [index, { filename, contentType, contentId, inline }] of head.attachments.entries()) {
    const file = await readAttachment(database, accountId, uuid, head, index);
    attachments.push({
      ...{ filename, content_type: contentType },
      content_base64: file!.content.toString('base64'),
      ...(contentId !== undefined && { content_id: contentId }),
      ...(inline && { disposition: 'inline' as const }),
    });
  }
  return attachments;
}

/** The people in the header need not be the recipients: the envelope decides. */
async function submittedAgain(
  database: Database,
  { accountId, uuid, recipients }: Whose,
  { to, cc, headers, attachments: files, mime }: StoredHead,
  request: SendRequest,
): Promise<{ request: SendRequest; submitted: Submitted }> {
  const stored = await readSizes(database, accountId, uuid);
  const place = { at: 0, length: stored?.attachments ?? 0 };
  const body = await readBytes(database, accountId, uuid, 'attachments', place);
  const isUnread = ([name]: [string, string]) => /^(?:to|cc|reply-to)$/i.test(name);
  return {
    request: { ...request, to: recipients, cc: [], bcc: [] },
    submitted: {
      to,
      cc,
      unread: headers.filter(isUnread),
      headers: headers.filter((header) => !isUnread(header)),
      mime: { stored: mime!, files, body },
    },
  };
}
