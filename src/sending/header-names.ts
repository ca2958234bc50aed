// Header names that a sender may not use: those that structure an email or vouch for it, and those
// that give relays instructions. Checked by headers.ts for every email; operators may allow single
// names of the second kind (ALLOWED_HEADERS).

/** What the service writes itself. Nobody can allow these. */
const OWN = new Set([
  'from',
  'to',
  'cc',
  'bcc',
  'subject',
  'date',
  'sender',
  'reply-to',
  'message-id',
  'mime-version',
  'received',
  'return-path',
  'authentication-results',
]);
const OWN_FAMILIES = ['content-', 'dkim-', 'arc-', 'x-sm-', 'resent-'];

/**
 * Headers that set recipients, templates, tracking or routing at a relay: with them a sender would
 * get around our own checks.
 */
const RELAY_FAMILIES = [
  'x-smtpapi', // SendGrid: recipients, templates, schedules, as JSON
  'x-sg-', // SendGrid
  'x-ses-', // Amazon SES: configuration sets, identities, tenants
  'x-mailgun-', // Mailgun: variables, tracking, schedules, recipients' variables
  'x-pm-', // Postmark: streams, tags, tracking
  'x-msys-', // SparkPost: x-msys-api takes cc, bcc and archives
  'x-mc-', // Mandrill: templates, merge variables, subaccounts, bcc
  'x-mailin-', // Brevo
  'x-sib-', // Brevo, when it was Sendinblue
  'x-brevo-',
  'x-mj-', // Mailjet: templates, variables, campaigns
  'x-mailjet-',
  'x-mt-', // Mailtrap
  'x-elasticemail-',
  'x-smtp2go-',
  'x-postal-', // Postal
  'x-ms-acsemail-', // Azure Communication Services: tracking
  'x-mailersend-',
  'x-ms-exchange-', // Exchange: routing, spam verdicts and journals within an organisation
];

/** Headers that make any mail server write to others, or refuse the email as a loop. */
const RELAY_NAMES = new Set([
  'apparently-to',
  'delivered-to',
  'errors-to',
  'return-receipt-to',
  'x-envelope-from',
  'x-envelope-to',
  'x-rcpt-to',
  // PowerMTA: which addresses an email leaves from, and how it is signed.
  'x-virtual-mta',
  'x-vmta',
  'x-envid',
  'x-dkim-options',
  // Momentum, which SparkPost runs on: the same.
  'x-binding',
  // SocketLabs.
  'x-xsmailingid',
  'x-xsmessageid',
  // Brevo accepts these without a prefix.
  'sender.ip',
  'templateid',
]);

/** `name` in lower case. */
export const isWrittenByUs = (name: string): boolean =>
  OWN.has(name) || OWN_FAMILIES.some((family) => name.startsWith(family));

/** `name` in lower case. */
export const commandsRelay = (name: string): boolean =>
  RELAY_NAMES.has(name) || RELAY_FAMILIES.some((family) => name.startsWith(family));
