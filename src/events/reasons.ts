// The closed list of reasons why an email came back. feedback/classify.ts decides which; events,
// webhooks and the dashboard show nothing that is not in it. Imports nothing, so that web/ can read
// it too.
export const REASONS = [
  'user-unknown', // no such mailbox at the domain
  'mailbox-full', // over quota
  'mailbox-disabled', // exists, but takes no email: disabled, suspended, closed
  'moved', // the person has another address now
  'host-unknown', // the domain does not exist or takes no email
  'spam', // judged spam, or the sending address is on a blocklist
  'policy', // the receiver's rules: not allowed, TLS or reverse DNS demanded, members only
  'authentication', // SPF, DKIM, DMARC or a log-in is missing or failed
  'rate-limited', // too much, too fast
  'greylisted', // asked to try again later, and the time ran out first
  'too-large', // the email is bigger than the receiver takes
  'content', // an attachment, a virus, a malformed email
  'suppressed', // the relay's own suppression list held it back
  'expired', // tried until the queue's end
  'network', // the receiving host could not be reached
  'relay-denied', // the host does not take email for this domain
  'loop', // the email went round in circles
  'protocol', // the SMTP dialogue failed
  'system', // trouble inside the receiving server
  'other',
] as const;

export type Reason = (typeof REASONS)[number];
