// The stored head of a mail: what sending writes beside the bodies and delivery reads back to
// compose the MIME.
import type { Mailbox } from '../addresses.ts';

export interface StoredHead {
  from: Mailbox;
  to: Mailbox[];
  cc: Mailbox[];
  replyTo: Mailbox | null;
  headers: [string, string][];
  /** Their bytes stand one after the other in the column `attachments`. */
  attachments: StoredAttachment[];
  /** Goes to the sandbox relay, whatever relay is configured: its API key is sandbox only. */
  sandbox?: true;
  /**
   * Its links are led through no redirect: people must see where a link about their account goes.
   */
  keepLinks?: true;
}

export interface StoredAttachment {
  filename: string;
  contentType: string;
  size: number;
  contentId?: string;
  inline?: true;
}

// What was ever written, and is read for ever (tests/fixtures/stored-heads.json has one of each):
//   1  the StoredHead itself as JSON, without a version
//   2  what is empty or follows from the rest is left out, without a version: a third of the time
//      and of the bytes
//   3  the same with its version
//   4  the same, where an attachment stands inside of the HTML or is shown below the text
// Whoever changes the form raises the version, keeps the older readers and adds a fixture.
const VERSIONS = [3, 4];

interface Written
  extends Partial<Pick<StoredHead, 'headers' | 'attachments' | 'sandbox' | 'keepLinks'>> {
  /** Absent in the first two forms, which are told apart by their mailboxes. */
  v?: number;
  from: WrittenMailbox;
  to: WrittenMailbox[];
  cc?: WrittenMailbox[];
  replyTo?: WrittenMailbox | null;
}

/** The address, or name and address; in the first form the Mailbox. */
type WrittenMailbox = string | [name: string, address: string] | Mailbox;

export function writeHead(head: StoredHead): string {
  const written: Written = {
    v: head.attachments.some((it) => it.contentId !== undefined || it.inline) ? 4 : 3,
    from: writeMailbox(head.from),
    to: head.to.map(writeMailbox),
  };
  if (head.cc.length > 0) written.cc = head.cc.map(writeMailbox);
  if (head.replyTo !== null) written.replyTo = writeMailbox(head.replyTo);
  if (head.headers.length > 0) written.headers = head.headers;
  if (head.attachments.length > 0) written.attachments = head.attachments;
  if (head.sandbox) written.sandbox = true;
  if (head.keepLinks) written.keepLinks = true;
  return JSON.stringify(written);
}

/** Throws when it is damaged, or of a form that only a newer program knows. */
export function readHead(bytes: Buffer): StoredHead {
  const { v, from, to, cc, replyTo, headers, attachments, ...marks } = parse(bytes);
  if (from == null || !Array.isArray(to)) throw new Error('The stored head is damaged.');
  if (v !== undefined && !VERSIONS.includes(v)) {
    throw new Error(
      `The stored head has form ${v}, which this version of Sandmartin does not know. A newer one wrote it: run that one.`,
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

function writeMailbox({ name, address }: Mailbox): WrittenMailbox {
  return name === '' ? address : [name, address];
}

/** It was checked when it came in; here it is only taken apart again. */
function readMailbox(written: WrittenMailbox): Mailbox {
  if (typeof written === 'object' && !Array.isArray(written)) return written;
  const [name, address] = typeof written === 'string' ? ['', written] : written;
  const at = address.lastIndexOf('@');
  const local = address.slice(0, at);
  return { name, address, local, domain: address.slice(at + 1), smtputf8: !ASCII.test(local) };
}

const ASCII = /^[\x00-\x7f]*$/;
