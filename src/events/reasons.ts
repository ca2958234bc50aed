// The closed list of reasons why an email bounced. feedback/classify.ts decides which; events,
// webhooks and the dashboard show nothing that is not in it. Imports nothing, so that web/ can
// import it too.
export const REASONS = [
  'user-unknown', // no such mailbox at the domain
  'mailbox-full', // over quota
  'mailbox-disabled', // exists, but accepts no email: disabled, suspended, closed
  'moved', // the person has another address now
  'host-unknown', // the domain does not exist or accepts no email
  'spam', // judged spam, or the sending address is on a blocklist
  'policy', // the receiver's rules: not allowed, TLS or reverse DNS required, members only
  'authentication', // SPF, DKIM, DMARC or a login is missing or failed
  'rate-limited', // too much, too fast
  'greylisted', // asked to try again later, and the time ran out first
  'too-large', // the email is larger than the receiver accepts
  'content', // an attachment, a virus, a malformed email
  'suppressed', // the relay's own suppression list held it back
  'expired', // retried until the queue gave up
  'network', // the receiving host could not be reached
  'relay-denied', // the host does not accept email for this domain
  'loop', // the email was forwarded in a circle
  'protocol', // the SMTP dialogue failed
  'system', // a fault inside the receiving server
  'other',
] as const;

export type Reason = (typeof REASONS)[number];
