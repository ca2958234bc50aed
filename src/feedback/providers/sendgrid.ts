// SendGrid's Event Webhook: many events per call, signed with a key whose public half we know.
// twilio.com/docs/sendgrid, "Event Webhook Reference" and "Security Features".
import { createPublicKey, verify } from 'node:crypto';
import { z } from 'zod';
import {
  type About,
  bounced,
  complained,
  delayed,
  delivered,
  notAuthentic,
  optional,
  optionalText,
  type Provider,
  type ProviderEvent,
  type ProviderJudgement,
  readEvent,
  requireRecent,
  seen,
  unsubscribed,
} from './provider.ts';

const HOST = 'sendgrid.net';
/** It retries for a day. */
const LONGEST_AGE_MS = 48 * 3_600_000;

const event = z.object({
  email: z.string(),
  event: z.string(),
  timestamp: optional(z.coerce.string()),
  'smtp-id': optionalText,
  sg_message_id: optionalText,
  sg_event_id: optionalText,
  /** Ours: unique arguments are next to the other fields. */
  sm_token: optionalText,
  type: optionalText,
  reason: optionalText,
  response: optionalText,
  status: optionalText,
  useragent: optionalText,
  ip: optionalText,
  url: optionalText,
});
type SendgridEvent = z.output<typeof event>;

export const sendgrid: Provider = {
  title: 'SendGrid',
  name: 'sendgrid',
  setting: 'SENDGRID_VERIFICATION_KEYS',
  host: HOST,
  authenticate({ headers, text }, keys, nowMs) {
    const signature = headers['x-twilio-email-event-webhook-signature'];
    const timestamp = headers['x-twilio-email-event-webhook-timestamp'];
    if (typeof signature !== 'string' || typeof timestamp !== 'string') {
      throw notAuthentic('SendGrid', 'it has no signature. Switch on "Signed Event Webhook"');
    }
    const signed = Buffer.from(`${timestamp}${text}`);
    const bytes = Buffer.from(signature, 'base64');
    if (!keys.some((key) => verify('sha256', signed, publicKey(key), bytes))) {
      throw notAuthentic('SendGrid', 'the signature is wrong');
    }
    const ageMs = nowMs - Number(timestamp) * 1000;
    requireRecent('SendGrid', ageMs, LONGEST_AGE_MS);
  },
  read(one) {
    const read = readEvent('SendGrid', event, one);
    return eventOf(read, aboutOf(read));
  },
};

/** As SendGrid shows it: base64 of the DER form. */
export const publicKey = (key: string) =>
  createPublicKey({ key: Buffer.from(key, 'base64'), format: 'der', type: 'spki' });

const aboutOf = (read: SendgridEvent): About => ({
  ...{ provider: HOST, recipient: read.email },
  token: read.sm_token ?? null,
  messageId: read['smtp-id'] ?? null,
  // Its answer when it accepted the email, followed by which of its machines had it.
  relayMessageId: read.sg_message_id?.split(/\.(?:filter|recvd)/)[0] ?? null,
});

function eventOf(read: SendgridEvent, about: About): ProviderEvent | undefined {
  const by = {
    ...{ userAgent: read.useragent, ipAddress: read.ip },
    identity: [read.sg_event_id ?? read.timestamp],
  };
  switch (read.event) {
    case 'delivered':
      return delivered(about, read.response);
    case 'deferred':
      return delayed(about, read.response ?? read.reason);
    case 'bounce':
      return bounced(about, read.reason, {
        status: read.status,
        // Blocked: the receiver did not want this email; the address is fine.
        ...(read.type === 'blocked' && { consequence: 'none' as const }),
      });
    case 'dropped':
      return bounced(about, read.reason, droppedFor(read.reason ?? ''));
    case 'spamreport':
      return complained(about);
    case 'unsubscribe':
    case 'group_unsubscribe':
      return unsubscribed(about);
    case 'open':
      return seen('open', about, by);
    case 'click':
      return seen('click', about, { ...by, url: read.url });
    default:
      return undefined;
  }
}

/** SendGrid did not even try. */
function droppedFor(reason: string): ProviderJudgement {
  if (/^(bounced|spam reporting|unsubscribed) address/i.test(reason)) {
    return { finality: 'permanent', reason: 'suppressed', consequence: 'strike' };
  }
  if (/^spam content/i.test(reason)) {
    return { finality: 'permanent', reason: 'spam', consequence: 'none' };
  }
  if (/over package quota/i.test(reason)) {
    return { finality: 'permanent', reason: 'rate-limited', consequence: 'none' };
  }
  return { finality: 'permanent', consequence: 'none' };
}
