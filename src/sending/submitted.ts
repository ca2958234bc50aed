// An email that came whole, as programs hand it over by SMTP: its header names people who need not
// be those who get it, and its body is kept as it came. Before: submission/ has read it. After:
// accept.ts judges it by the same rules as any send, and packs it.
import { createHash } from 'node:crypto';
import type { Mailbox } from '../addresses.ts';
import { type Contents, contentsOf, leavesOf } from '../mime/contents.ts';
import { fieldOf } from '../mime/fields.ts';
import { readTree, treeOf } from '../mime/tree.ts';
import { soonOrInTurns } from '../process/in-turns.ts';
import type { SendRequest } from './request.ts';
import type { StoredAttachment, StoredMime } from './stored-head.ts';

export interface Submitted {
  /** Who is in its header, whoever gets it. */
  to: Mailbox[];
  cc: Mailbox[];
  /** Fields of recipients that are no list of addresses, such as `undisclosed-recipients:;`. */
  unread: [string, string][];
  /** The sender's own header fields; a name may come twice. */
  headers: [string, string][];
  /** Null: a template takes the place of its body. */
  mime: SubmittedMime | null;
}

export interface SubmittedMime {
  stored: StoredMime;
  files: StoredAttachment[];
  body: Buffer;
}

/** `fields`: the header lines that describe the content. */
export function readMime(
  fields: string,
  body: Buffer,
  sevenBit: boolean,
): SubmittedMime | Promise<SubmittedMime> {
  const found = ({ text, html, files }: Contents): SubmittedMime => ({
    stored: { fields, text, html, sevenBit },
    files,
    body,
  });
  const read = soonOrInTurns(reading(fields, body));
  return read instanceof Promise ? read.then(found) : found(read);
}

function* reading(fields: string, body: Buffer): Generator<void, Contents> {
  return yield* contentsOf(yield* treeOf(fields, body), body);
}

/** Made again for every attempt by programs that try again. */
const MADE_ANEW = new Set(['references', 'x-mailer', 'user-agent']);

/**
 * What a repeat has in common with the first attempt. Boundaries, dates and ids are made again by
 * the programs that try again, so the email is known by its parts.
 */
export function saidBy(request: SendRequest, { mime, headers }: Submitted): SendRequest {
  if (mime === null) return request;
  const hash = createHash('sha256');
  for (const leaf of leavesOf(readTree(mime.stored.fields, mime.body))) {
    const disposition = fieldOf(leaf.fields, 'content-disposition')?.value ?? '';
    hash.update(`${leaf.type}\n${disposition}\n${leaf.end - leaf.bodyAt}\n`);
    hash.update(mime.body.subarray(leaf.bodyAt, leaf.end));
  }
  const own = headers.filter(([name]) => !MADE_ANEW.has(name.toLowerCase()));
  return { ...request, headers: Object.fromEntries(own), text: hash.digest('base64') };
}
