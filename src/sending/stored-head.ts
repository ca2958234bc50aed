// The stored head of a mail: what sending writes beside the bodies and delivery reads back to compose the MIME.
import type { Mailbox } from '../addresses.ts';

export interface StoredHead {
  from: Mailbox;
  to: Mailbox[];
  cc: Mailbox[];
  replyTo: Mailbox | null;
  headers: [string, string][];
  /** Their bytes stand one after the other in the column `attachments`. */
  attachments: { filename: string; contentType: string; size: number }[];
  /** Goes to the sandbox relay, whatever relay is configured: its API key is sandbox only. */
  sandbox?: true;
  /** Its links are led through no redirect: people must see where a link about their account goes. */
  keepLinks?: true;
}

/** On disk, what is empty or follows from the rest is left out: a third of the time and of the bytes. */
interface Written
  extends Partial<Pick<StoredHead, 'headers' | 'attachments' | 'sandbox' | 'keepLinks'>> {
  from: WrittenMailbox;
  to: WrittenMailbox[];
  cc?: WrittenMailbox[];
  replyTo?: WrittenMailbox;
}

/** The address, or name and address. */
type WrittenMailbox = string | [name: string, address: string];

export function writeHead(head: StoredHead): string {
  const written: Written = { from: writeMailbox(head.from), to: head.to.map(writeMailbox) };
  if (head.cc.length > 0) written.cc = head.cc.map(writeMailbox);
  if (head.replyTo !== null) written.replyTo = writeMailbox(head.replyTo);
  if (head.headers.length > 0) written.headers = head.headers;
  if (head.attachments.length > 0) written.attachments = head.attachments;
  if (head.sandbox) written.sandbox = true;
  if (head.keepLinks) written.keepLinks = true;
  return JSON.stringify(written);
}

export function readHead(bytes: Buffer): StoredHead {
  const { from, to, cc, replyTo, headers, attachments, ...marks } = JSON.parse(
    bytes.toString(),
  ) as Written;
  return {
    from: readMailbox(from),
    to: to.map(readMailbox),
    cc: (cc ?? []).map(readMailbox),
    replyTo: replyTo === undefined ? null : readMailbox(replyTo),
    headers: headers ?? [],
    attachments: attachments ?? [],
    ...marks,
  };
}

function writeMailbox({ name, address }: Mailbox): WrittenMailbox {
  return name === '' ? address : [name, address];
}

/** It was checked when it came in; here it is only taken apart again. */
function readMailbox(written: WrittenMailbox): Mailbox {
  const [name, address] = typeof written === 'string' ? ['', written] : written;
  const at = address.lastIndexOf('@');
  const local = address.slice(0, at);
  return { name, address, local, domain: address.slice(at + 1), smtputf8: !ASCII.test(local) };
}

const ASCII = /^[\x00-\x7f]*$/;
