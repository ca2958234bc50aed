// Recipients: to, cc and bcc as written → mailboxes for the headers and one envelope in which each
// address stands once.
import { addressKey, type Mailbox, parseMailbox } from '../addresses.ts';
import { Problem } from '../errors.ts';
import type { SendRequest } from './request.ts';

const MOST_RECIPIENTS = 50;

export interface Recipients {
  to: Mailbox[];
  cc: Mailbox[];
  /** Every address once, in the order to, cc, bcc. */
  envelope: string[];
  /** As written: what counts toward the quota. */
  count: number;
}

export function readRecipients(request: SendRequest): Recipients {
  const { to, cc = [], bcc = [] } = request;
  const count = to.length + cc.length + bcc.length;
  if (count > MOST_RECIPIENTS) {
    throw new Problem(
      'invalid',
      `to, cc and bcc together name ${count} recipients; at most ${MOST_RECIPIENTS} are allowed. Split the send into several calls.`,
    );
  }
  const mailboxes = {
    to: readMailboxes('to', to),
    cc: readMailboxes('cc', cc),
    bcc: readMailboxes('bcc', bcc),
  };
  const all = [...mailboxes.to, ...mailboxes.cc, ...mailboxes.bcc];
  return { to: mailboxes.to, cc: mailboxes.cc, envelope: eachOnce(all), count };
}

function eachOnce(mailboxes: readonly Mailbox[]): string[] {
  // Most mails go to one person.
  if (mailboxes.length === 1) return [mailboxes[0]!.address];
  const seen = new Map<string, string>();
  for (const { address } of mailboxes) {
    const key = addressKey(address);
    if (!seen.has(key)) seen.set(key, address);
  }
  return [...seen.values()];
}

function readMailboxes(field: string, texts: readonly string[]): Mailbox[] {
  return texts.map((text, index) => readMailbox(`${field}[${index}]`, text));
}

export function readMailbox(field: string, text: string): Mailbox {
  const mailbox = parseMailbox(text);
  if ('fault' in mailbox) {
    throw new Problem(
      'invalid',
      `${field}: "${text.slice(0, 200)}" is not an e-mail address: ${mailbox.fault}.`,
    );
  }
  return mailbox;
}
