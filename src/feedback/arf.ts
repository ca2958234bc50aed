// Complaints: RFC 5965 (ARF), auth-failure of RFC 6591, and Microsoft's JMRP, which forwards the
// email without a report part. report.ts calls it. The recorder decides what a complaint does
// (complained, suppression, nothing).
import { fieldGroups, hostOf, type RecipientResult, recipientResult } from './dsn.ts';
import { type Email, partText } from './mime.ts';
import { type Original, parseDate, tokenIn } from './original.ts';
import { bareAddress } from './report-address.ts';

export interface Complaint {
  feedbackType: string;
  recipients: RecipientResult[];
  envelopeId: string | null;
  arrivedAt: Date | null;
  /** Taken from the return path that the report names. */
  token: string | null;
}

const MOST_RECIPIENTS = 50;

export function readArf(email: Email, original: Original): Complaint | null {
  const report = email.parts.find((part) => part.type === 'message/feedback-report');
  if (report === undefined) return readJunkReport(email, original);
  const fields = fieldGroups(partText(report)).at(0);
  const all = (name: string) => fields?.get(name) ?? [];
  const named = all('original-rcpt-to').slice(0, MOST_RECIPIENTS).map(bareAddress);
  const addresses = named.filter((address) => address !== null && !isRedacted(address));
  return {
    // RFC 5965 3.1: the one field that must be there. Without it a complaint is still a complaint.
    feedbackType: /^[\w-]{1,40}/.exec(all('feedback-type')[0] ?? '')?.[0].toLowerCase() ?? 'abuse',
    recipients: complainers(addresses, original, hostOf(all('reporting-mta')[0] ?? '')),
    envelopeId: all('original-envelope-id')[0] || null,
    arrivedAt: parseDate(all('arrival-date')[0] ?? all('received-date')[0]),
    token: tokenIn(all('original-mail-from')[0]),
  };
}

/** Outlook.com's junk mail reporting: the email attached, the recipient in one of its headers. */
function readJunkReport(email: Email, original: Original): Complaint | null {
  const from = email.headers.get('from')?.[0] ?? '';
  if (!/\bstaff@(?:hotmail|outlook)\.com\b/i.test(from)) return null;
  const returned = email.parts.find((part) => part.type === 'message/rfc822');
  if (returned === undefined) return null;
  const head = returned.body.slice(0, 65_536);
  const recipient = /^x-hmxmroriginalrecipient:[ \t]*(.{1,320})$/im.exec(head)?.[1];
  const address = recipient === undefined ? null : bareAddress(recipient);
  return {
    feedbackType: 'abuse',
    recipients: complainers(address === null ? [] : [address], original, null),
    envelopeId: null,
    arrivedAt: null,
    token: null,
  };
}

/** Who complained; if the report hides it and the email went to one person, that person. */
function complainers(
  named: readonly (string | null)[],
  original: Original,
  reportingMta: string | null,
): RecipientResult[] {
  const sentTo = original.recipients.filter((address) => !isRedacted(address));
  const addresses = named.length > 0 ? named : [sentTo.length === 1 ? sentTo[0]! : null];
  return addresses.map((address) => recipientResult(address, { reporting_mta: reportingMta }));
}

/** RFC 6590: reporters may replace addresses by something that only looks like one. */
function isRedacted(address: string): boolean {
  const lower = address.toLowerCase();
  return lower.endsWith('.invalid') || /redact|^x+@|undisclosed/.test(lower);
}
