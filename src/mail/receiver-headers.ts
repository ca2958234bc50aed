// Headers by which mailbox providers group their statistics and complaints. Before: making.ts, for
// one copy. After: dkim.ts signs them; unsigned, they are ignored.
import { returnPathOf } from '../feedback/return-path.ts';
import type { Sender } from './senders.ts';
import type { StoredEmail } from './stored-email.ts';

/** A header of the sender's own wins. */
export function headersForReceivers(
  email: StoredEmail,
  sender: Sender,
  token: string,
): [string, string][] {
  // RFC 3834 5: automatic responders do not answer these.
  if (email.door === 'system') return [['Auto-Submitted', 'auto-generated']];
  const ours: [string, string][] = [['Feedback-ID', feedbackId(email)]];
  if (mayTakeComplaints(email.head.from.domain, sender)) {
    const address = returnPathOf(token, sender.returnPathDomain);
    ours.push(['CFBL-Address', `${address}; report=arf`]);
  }
  const theirs = email.head.headers;
  return ours.filter(([name]) => !theirs.some(([own]) => own.toLowerCase() === name.toLowerCase()));
}

/** Gmail: up to three fields of the sender's choice, then one that stays the same. */
const SENDER_ID = 'sandmartin';

/** What Gmail groups spam rates by: template, stream and account. */
const feedbackId = ({ template, stream, accountId }: StoredEmail): string =>
  `${fieldOf(template ?? 'inline')}:${fieldOf(stream)}:${accountId}:${SENDER_ID}`;

/** Without characters that would begin another field, or a line. */
const fieldOf = (name: string): string => name.replace(/[^\w.-]+/g, '-').slice(0, 64);

/**
 * RFC 9477 3.1: the domain in From signs, and if the address is neither at it nor below it, the
 * address's own domain signs as well. Receivers ignore all others.
 */
function mayTakeComplaints(from: string, { keys, returnPathDomain: host }: Sender): boolean {
  const signs = (wanted: string) => keys.some(({ domain }) => domain === wanted);
  return signs(from) && (host.endsWith(`.${from}`) || signs(host));
}
