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

export const writeHead = (head: StoredHead): string => JSON.stringify(head);

export const readHead = (bytes: Buffer): StoredHead => JSON.parse(bytes.toString()) as StoredHead;
