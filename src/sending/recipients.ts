// Recipients: to, cc and bcc as written → mailboxes for the headers and one envelope that has each
// address once.
import { addressKey, type Mailbox, parseMailbox } from '../addresses.ts';
import { Problem, readTogether } from '../errors.ts';
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
      { at: 'to' },
    );
  }
  const mailboxes = readTogether((read) => ({
    to: read(readMailboxes, 'to', to),
    cc: read(readMailboxes, 'cc', cc),
    bcc: read(readMailboxes, 'bcc', bcc),
  }));
  const all = [...mailboxes.to, ...mailboxes.cc, ...mailboxes.bcc];
  return { to: mailboxes.to, cc: mailboxes.cc, envelope: eachOnce(all), count };
}

function eachOnce(mailboxes: readonly Mailbox[]): string[] {
  if (mailboxes.length === 1) return [mailboxes[0]!.address];
  const seen = new Map<string, string>();
  for (const { address } of mailboxes) {
    const key = addressKey(address);
    if (!seen.has(key)) seen.set(key, address);
  }
  return [...seen.values()];
}

function readMailboxes(field: string, texts: readonly string[]): Mailbox[] {
  // Most emails go to one person.
  if (texts.length === 0) return [];
  if (texts.length === 1) return [readMailbox(`${field}[0]`, texts[0]!)];
  return readTogether((read) =>
    texts.map((text, index) => read(readMailbox, `${field}[${index}]`, text)),
  );
}

/** The senders of a service are few, and each is read thousands of times. */
export function readSender(field: string, text: string): Mailbox {
  const known = senders.get(text);
  if (known !== undefined) return known;
  const mailbox = readMailbox(field, text);
  if (senders.size >= MOST_SENDERS) senders.clear();
  senders.set(text, mailbox);
  return mailbox;
}

const MOST_SENDERS = 1000;
const senders = new Map<string, Mailbox>();

export function readMailbox(field: string, text: string): Mailbox {
  const mailbox = parseMailbox(text);
  if ('fault' in mailbox) {
    throw new Problem(
      'invalid',
      `${field}: "${text.slice(0, 200)}" is not an email address: ${mailbox.fault}.`,
      { at: field },
    );
  }
  return mailbox;
}
