// An email that arrived whole, as programs hand it over by SMTP: the people in its header need not
// be its recipients, and its body is kept as received. Before: submission/ has read it. After:
// accept.ts checks it by the same rules as any send, and packs it.
import { createHash } from 'node:crypto';
import type { Mailbox } from '../addresses.ts';
import { type Contents, contentsOf, leavesOf } from '../mime/contents.ts';
import { fieldOf } from '../mime/fields.ts';
import { readTree, treeOf } from '../mime/tree.ts';
import { soonOrInTurns } from '../process/in-turns.ts';
import type { SendRequest } from './request.ts';
import type { StoredAttachment, StoredMime } from './stored-head.ts';

export interface Submitted {
  /** The people in its header, who need not be its recipients. */
  to: Mailbox[];
  cc: Mailbox[];
  /** Recipient fields that are not lists of addresses, such as `undisclosed-recipients:;`. */
  unread: [string, string][];
  /** The sender's own header fields; a name may occur twice. */
  headers: [string, string][];
  /** Null: a template replaces its body. */
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

/** Programs that retry create these again for every attempt. */
const MADE_ANEW = new Set(['references', 'x-mailer', 'user-agent']);

/**
 * What a repeat has in common with the first attempt. Programs that retry create new boundaries,
 * dates and ids, so the email is recognised by its parts.
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
