// Postmark's webhooks: one event per call. They are not signed; callers must know the token that
// the operator chose: as the last part of the path, or as the password of basic authentication.
// postmarkapp.com/developer/webhooks
import { z } from 'zod';
import {
  type About,
  bounced,
  complained,
  delayed,
  delivered,
  isOneOf,
  notAuthentic,
  notDocumented,
  optional,
  optionalText,
  type Provider,
  type ProviderCall,
  type ProviderEvent,
  type ProviderJudgement,
  readEvent,
  seen,
  unsubscribed,
} from './provider.ts';

const HOST = 'postmarkapp.com';

const event = z.object({
  RecordType: z.string(),
  MessageID: optionalText,
  Recipient: optionalText,
  Email: optionalText,
  /** Lower case: that is how Postmark writes the names of metadata. */
  Metadata: optional(z.record(z.string(), z.unknown())),
  Type: optionalText,
  Description: optionalText,
  Details: optionalText,
  SuppressSending: optional(z.boolean()),
  SuppressionReason: optionalText,
  UserAgent: optionalText,
  Geo: optional(z.object({ IP: optionalText })),
  OriginalLink: optionalText,
  ReceivedAt: optionalText,
});
type PostmarkEvent = z.output<typeof event>;

export const postmark: Provider = {
  title: 'Postmark',
  name: 'postmark',
  setting: 'POSTMARK_WEBHOOK_TOKENS',
  host: HOST,
  authenticate(call, tokens) {
    const given = call.rest || passwordOf(call);
    if (given === '') throw notAuthentic('Postmark', 'it has no token');
    if (!isOneOf(tokens, given)) throw notAuthentic('Postmark', 'the token is not ours');
  },
  read(one) {
    const read = readEvent('Postmark', event, one);
    const recipient = read.Recipient ?? read.Email;
    if (!recipient) throw notDocumented('Postmark', 'Recipient');
    const token = read.Metadata?.['sm-token'];
    return eventOf(read, {
      ...{ provider: HOST, recipient, messageId: null },
      token: typeof token === 'string' ? token : null,
      relayMessageId: read.MessageID ?? null,
    });
  },
};

function eventOf(read: PostmarkEvent, about: About): ProviderEvent | undefined {
  const by = { userAgent: read.UserAgent, ipAddress: read.Geo?.IP, identity: [read.ReceivedAt] };
  switch (read.RecordType) {
    case 'Delivery':
      return delivered(about, read.Details);
    case 'Bounce':
      return bounceOf(read, about);
    case 'SpamComplaint':
      return complained(about);
    case 'SubscriptionChange':
      return read.SuppressSending === true && read.SuppressionReason === 'ManualSuppression'
        ? unsubscribed(about)
        : undefined;
    case 'Open':
      return seen('open', about, by);
    case 'Click':
      return seen('click', about, { ...by, url: read.OriginalLink });
    default:
      return undefined;
  }
}

/** "Bounce types" in its documentation. Other types report no failure. */
const TYPES: Record<string, ProviderJudgement> = {
  HardBounce: { finality: 'permanent', consequence: 'suppress' },
  BadEmailAddress: { finality: 'permanent', reason: 'user-unknown', consequence: 'suppress' },
  SoftBounce: { finality: 'transient' },
  Unknown: { finality: 'transient' },
  DnsError: { finality: 'transient', reason: 'host-unknown' },
  SpamNotification: { finality: 'permanent', reason: 'spam', consequence: 'none' },
  Blocked: { finality: 'permanent', reason: 'spam', consequence: 'none' },
  VirusNotification: { finality: 'permanent', reason: 'content', consequence: 'none' },
  DMARCPolicy: { finality: 'permanent', reason: 'authentication', consequence: 'none' },
  SMTPApiError: { finality: 'permanent', reason: 'protocol', consequence: 'none' },
  ManuallyDeactivated: { finality: 'permanent', reason: 'suppressed', consequence: 'strike' },
};

function bounceOf({ Type, Details, Description }: PostmarkEvent, about: About) {
  const said = Details || Description;
  if (Type === 'Transient') return delayed(about, said);
  if (Type === 'SpamComplaint') return complained(about);
  if (Type === 'Unsubscribe') return unsubscribed(about);
  const judgement = TYPES[Type ?? ''];
  return judgement && bounced(about, said, judgement);
}

function passwordOf({ headers: { authorization = '' } }: ProviderCall): string {
  const [, encoded] = /^Basic ([\w+/=]+)$/i.exec(authorization) ?? [];
  const pair = Buffer.from(encoded ?? '', 'base64').toString();
  return pair.slice(pair.indexOf(':') + 1);
}
