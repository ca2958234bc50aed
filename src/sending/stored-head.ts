// The stored head of an email: what sending writes beside the bodies and delivery reads back to
// compose the MIME.
import type { Mailbox } from '../addresses.ts';
import type { Place } from '../mime/decoding.ts';

export interface StoredHead {
  from: Mailbox;
  to: Mailbox[];
  cc: Mailbox[];
  replyTo: Mailbox | null;
  headers: [string, string][];
  /** Their bytes come one after the other in the column `attachments`. */
  attachments: StoredAttachment[];
  /** Goes to the sandbox relay, whatever relay is configured: its API key is sandbox only. */
  sandbox?: boolean | undefined;
  /**
   * It is about access (isAboutAccess): its links are not redirected, because people must see where
   * a link about their account goes.
   */
  keepLinks?: boolean | undefined;
  /** Its body is kept as received, in the column `attachments`; files are positions in it. */
  mime?: StoredMime | undefined;
  /** What its template was filled with; absent: no template, or too long to keep. */
  variables?: Record<string, unknown>;
  /** The language that the template was asked for. */
  locale?: string | undefined;
}

/** A MIME tree that is passed on as received: what is where in its bytes. */
export interface StoredMime {
  /** The header lines that describe the content (Content-Type …), as received. */
  fields: string;
  text: Place | null;
  html: Place | null;
  /** Every byte is ASCII and no line is too long: any relay passes it on unharmed. */
  sevenBit: boolean;
}

/**
 * About signing in, security, or from the service itself: it reaches even people who left every
 * stream.
 */
export const isAboutAccess = ({ keepLinks }: StoredHead): boolean => keepLinks === true;

/**
 * The stream whose unsubscribes apply to it; null: it must reach everyone, whatever they have left.
 */
export const heededStream = (head: StoredHead, stream: string): string | null =>
  isAboutAccess(head) ? null : stream;

export interface StoredAttachment {
  filename: string;
  contentType: string;
  size: number;
  contentId?: string;
  inline?: true;
  /** In a MIME tree, where it is encoded. */
  place?: Place;
}

// Every format ever written; all stay readable (tests/fixtures/stored-heads.json has one of each):
//   1  the StoredHead itself as JSON, without a version
//   2  what is empty or follows from the rest is left out, without a version: a third of the time
//      and of the bytes
//   3  the same with its version
//   4  the same, where an attachment is inside the HTML or is shown below the text
//   5  the same with a MIME tree as received
// Any of them may have a `locale` and end with `variables`, which delivery does not need: readers
// that do not know them skip them. If you change the format, raise the version, keep the older
// readers and add a fixture.
const VERSIONS = [3, 4, 5];

interface Written
  extends Partial<
    Pick<
      StoredHead,
      'headers' | 'attachments' | 'sandbox' | 'keepLinks' | 'mime' | 'locale' | 'variables'
    >
  > {
  /** Absent in the first two formats, which differ in their mailboxes. */
  v?: number;
  from: WrittenMailbox;
  to: WrittenMailbox[];
  cc?: WrittenMailbox[];
  replyTo?: WrittenMailbox | null;
}

/** The address, or name and address; in the first format the Mailbox. */
type WrittenMailbox = string | [name: string, address: string] | Mailbox;

/** `variables` is already JSON (kept-variables.ts) and is not encoded twice. */
export function writeHead(
  head: Omit<StoredHead, 'variables'>,
  variables: string | null = null,
): string {
  // Field by field: of an ordinary head only the mailboxes, in a quarter of the time that
  // JSON.stringify takes for an object.
  const fields = [
    `"v":${versionOf(head)}`,
    `"from":${writeMailbox(head.from)}`,
    `"to":${writeMailboxes(head.to)}`,
  ];
  const add = (name: keyof Written, value: unknown) =>
    fields.push(`"${name}":${JSON.stringify(value)}`);
  if (head.cc.length > 0) fields.push(`"cc":${writeMailboxes(head.cc)}`);
  if (head.replyTo !== null) fields.push(`"replyTo":${writeMailbox(head.replyTo)}`);
  if (head.headers.length > 0) add('headers', head.headers);
  if (head.attachments.length > 0) add('attachments', head.attachments);
  if (head.sandbox) add('sandbox', true);
  if (head.keepLinks) add('keepLinks', true);
  if (head.mime) add('mime', head.mime);
  if (head.locale) add('locale', head.locale);
  if (variables !== null) fields.push(`"variables":${variables}`);
  return `{${fields.join(',')}}`;
}

/**
 * The oldest format that can express it, so that older processes running beside this one can read
 * it.
 */
function versionOf({ mime, attachments }: Omit<StoredHead, 'variables'>): number {
  if (mime !== undefined) return 5;
  return attachments.some((it) => it.contentId !== undefined || it.inline) ? 4 : 3;
}

/** Throws if it is damaged, or in a format that only a newer version knows. */
export function readHead(bytes: Buffer): StoredHead {
  const { v, from, to, cc, replyTo, headers, attachments, ...marks } = parse(bytes);
  if (from == null || !Array.isArray(to)) throw new Error('The stored head is damaged.');
  if (v !== undefined && !VERSIONS.includes(v)) {
    throw new Error(
      `The stored head has format ${v}, which this version of Sandmartin does not know. A newer version wrote it: run that version.`,
    );
  }
  return {
    from: readMailbox(from),
    to: to.map(readMailbox),
    cc: (cc ?? []).map(readMailbox),
    replyTo: replyTo == null ? null : readMailbox(replyTo),
    headers: headers ?? [],
    attachments: attachments ?? [],
    ...marks,
  };
}

function parse(bytes: Buffer): Written {
  try {
    return JSON.parse(bytes.toString()) as Written;
  } catch (cause) {
    throw new Error(`The stored head is damaged: ${(cause as Error).message}`, { cause });
  }
}

/** As JSON: a WrittenMailbox. */
function writeMailbox({ name, address }: Mailbox): string {
  const written = JSON.stringify(address);
  return name === '' ? written : `[${JSON.stringify(name)},${written}]`;
}

const writeMailboxes = (mailboxes: readonly Mailbox[]): string =>
  `[${mailboxes.map(writeMailbox).join(',')}]`;

/** It was checked when it arrived; here it is only split again. */
function readMailbox(written: WrittenMailbox): Mailbox {
  if (typeof written === 'object' && !Array.isArray(written)) return written;
  const [name, address] = typeof written === 'string' ? ['', written] : written;
  const at = address.lastIndexOf('@');
  const local = address.slice(0, at);
  return { name, address, local, domain: address.slice(at + 1), smtputf8: !ASCII.test(local) };
}

const ASCII = /^[\x00-\x7f]*$/;
