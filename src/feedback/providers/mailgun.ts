// Mailgun's webhooks: one event per call, with a signature over a time and a random token in the
// body, not over the event; so a token is accepted once. documentation.mailgun.com, "Webhook
// payloads" and "Securing webhooks".
import { createHmac } from 'node:crypto';
import { z } from 'zod';
import {
  type About,
  bounced,
  complained,
  delayed,
  delivered,
  isOneOf,
  notAuthentic,
  optional,
  optionalText,
  type Provider,
  type ProviderEvent,
  type ProviderJudgement,
  readAs,
  readEvent,
  requireRecent,
  seen,
  unsubscribed,
} from './provider.ts';

const HOST = 'mailgun.org';
/** It retries for eight hours. A repeat changes nothing, so older ones are only noise. */
const LONGEST_AGE_MS = 24 * 3_600_000;

const signed = z.object({
  signature: z.object({ timestamp: z.coerce.string(), token: z.string(), signature: z.string() }),
});
const payload = z.object({
  'event-data': z.object({
    event: z.string(),
    id: optionalText,
    recipient: z.string(),
    severity: optionalText,
    reason: optionalText,
    'user-variables': optional(z.record(z.string(), z.unknown())),
    message: optional(z.object({ headers: optional(z.object({ 'message-id': optionalText })) })),
    'delivery-status': optional(
      z.object({
        code: optional(z.coerce.string()),
        'enhanced-code': optionalText,
        message: optionalText,
        description: optionalText,
        'mx-host': optionalText,
      }),
    ),
    reject: optional(z.object({ reason: optionalText, description: optionalText })),
    ip: optionalText,
    url: optionalText,
    'client-info': optional(z.object({ 'user-agent': optionalText })),
  }),
});
type MailgunEvent = z.output<typeof payload>['event-data'];

export const mailgun: Provider = {
  title: 'Mailgun',
  name: 'mailgun',
  setting: 'MAILGUN_SIGNING_KEYS',
  host: HOST,
  authenticate({ text }, keys, nowMs) {
    const { signature: by } = readAs(signed, parse(text)) ?? {};
    if (by === undefined) throw notAuthentic('Mailgun', 'it has no signature');
    const expected = keys.map((key) =>
      createHmac('sha256', key).update(`${by.timestamp}${by.token}`).digest('hex'),
    );
    if (!isOneOf(expected, by.signature)) throw notAuthentic('Mailgun', 'the signature is wrong');
    const ageMs = nowMs - Number(by.timestamp) * 1000;
    requireRecent('Mailgun', ageMs, LONGEST_AGE_MS);
  },
  signedWord(body) {
    const nonce = readAs(signed, body)?.signature.token ?? '';
    return { nonce, said: JSON.stringify((body as Record<string, unknown>)['event-data']) ?? '' };
  },
  read(one) {
    const read = readEvent('Mailgun', payload, one)['event-data'];
    const token = read['user-variables']?.sm_token;
    return eventOf(read, {
      ...{ provider: HOST, recipient: read.recipient, relayMessageId: null },
      token: typeof token === 'string' ? token : null,
      messageId: read.message?.headers?.['message-id'] ?? null,
    });
  },
};

function eventOf(read: MailgunEvent, about: About): ProviderEvent | undefined {
  const status = read['delivery-status'];
  const remoteMta = status?.['mx-host'];
  const by = {
    userAgent: read['client-info']?.['user-agent'],
    ipAddress: read.ip,
    identity: [read.id],
  };
  switch (read.event) {
    case 'delivered':
      return delivered(about, responseOf(read), remoteMta);
    case 'failed':
      if (read.severity === 'temporary') return delayed(about, responseOf(read), remoteMta);
      return bounced(about, responseOf(read), {
        ...{ status: status?.['enhanced-code'], remoteMta },
        ...judgementOf(read.reason ?? ''),
      });
    case 'rejected':
      return bounced(about, read.reject?.reason ?? read.reject?.description, {
        ...{ finality: 'permanent', reason: 'content', consequence: 'none' },
      });
    case 'complained':
      return complained(about);
    case 'unsubscribed':
      return unsubscribed(about);
    case 'opened':
      return seen('open', about, by);
    case 'clicked':
      return seen('click', about, { ...by, url: read.url });
    default:
      return undefined;
  }
}

/** `suppress-bounce` and the like: its own lists held the email back. `old`: it gave up trying. */
function judgementOf(reason: string): ProviderJudgement {
  if (reason.startsWith('suppress-')) {
    return { finality: 'permanent', reason: 'suppressed', consequence: 'strike' };
  }
  return reason === 'old'
    ? { finality: 'transient', reason: 'expired' }
    : { finality: 'permanent' };
}

/**
 * `550 5.1.1 no such user`: code and words are separate fields, and the words may begin with the
 * code.
 */
function responseOf({ 'delivery-status': status }: MailgunEvent): string {
  const words = status?.message || status?.description || '';
  const code = status?.code ?? '';
  return /^[245]\d\d$/.test(code) && !words.startsWith(code) ? `${code} ${words}`.trim() : words;
}

function parse(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    return undefined;
  }
}
