// Reading back what was accepted, for people: bodies, headers and attachments of one message.
// Written by batch.ts.
import { formatMailbox } from '../addresses.ts';
import type { Database } from '../store/pool.ts';
import type { SendRequest } from './request.ts';
import { readHead, type StoredAttachment, type StoredHead } from './stored-head.ts';

export interface StoredContent {
  head: StoredHead;
  html: string | null;
  text: string | null;
}

/** Undefined: there is none, or it is past its days. */
export async function readContent(
  database: Database,
  accountId: number,
  uuid: string,
): Promise<StoredContent | undefined> {
  const [row] = await database.query<{ head: Buffer; html: Buffer | null; text: Buffer | null }>(
    'SELECT head, html, text FROM contents WHERE account_id = $1 AND message_id = $2',
    [accountId, uuid],
  );
  return (
    row && {
      head: readHead(row.head),
      html: row.html?.toString() ?? null,
      text: row.text?.toString() ?? null,
    }
  );
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
  const begin = head.attachments.slice(0, index).reduce((sum, it) => sum + it.size, 0);
  const [row] = await database.query<{ content: Buffer }>(
    `SELECT substring(attachments FROM $3 FOR $4) AS content FROM contents
     WHERE account_id = $1 AND message_id = $2`,
    [accountId, uuid, begin + 1, wanted.size],
  );
  return row && { ...wanted, content: row.content };
}

/** The envelope's recipients that stand in no header. */
export function hiddenRecipients(head: StoredHead, envelope: readonly string[]): string[] {
  const shown = new Set([...head.to, ...head.cc].map((it) => it.address.toLowerCase()));
  return envelope.filter((address) => !shown.has(address.toLowerCase()));
}

/**
 * The request that makes the same mail once more. What a template rendered then is sent as it was.
 */
export async function requestAgain(
  database: Database,
  message: {
    accountId: number;
    uuid: string;
    recipients: string[];
    subject: string;
    tags: string[];
  },
  { head, html, text }: StoredContent,
): Promise<SendRequest> {
  const files = await Promise.all(
    head.attachments.map((_, index) =>
      readAttachment(database, message.accountId, message.uuid, head, index),
    ),
  );
  return {
    from_email: formatMailbox(head.from),
    to: head.to.map(formatMailbox),
    cc: head.cc.map(formatMailbox),
    bcc: hiddenRecipients(head, message.recipients),
    ...(head.replyTo === null ? {} : { reply_to: formatMailbox(head.replyTo) }),
    subject: message.subject,
    ...(html === null ? {} : { html }),
    ...(text === null ? {} : { text }),
    headers: Object.fromEntries(head.headers),
    tags: message.tags,
    attachments: files.map((file) => ({
      filename: file!.filename,
      content_type: file!.contentType,
      content_base64: file!.content.toString('base64'),
      ...(file!.contentId !== undefined && { content_id: file!.contentId }),
      ...(file!.inline && { disposition: 'inline' as const }),
    })),
  };
}
