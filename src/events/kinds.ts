// Event kinds: the ONE list. The name of each in the timeline and in webhooks, and its fields. A
// kind is also the status it raises its message to (messages/status.ts).
import { z } from 'zod';
import { ORIGINS } from './origins.ts';
import { REASONS } from './reasons.ts';

const smtpResponse = z.string().describe('What the receiving server said.');
const reportingMta = z.string().describe('Host name of the mail server that reported it.');
const remoteMta = z
  .string()
  .optional()
  .describe('Host name of the mail server that answered, where the report names it.');
const recipients = z.array(z.string()).describe('The recipients this event is about.');

export const BOUNCE_TYPES = ['permanent', 'transient', 'suppressed', 'expired'] as const;
export type BounceType = (typeof BOUNCE_TYPES)[number];

interface EventKind {
  /** The webhook event type; `sent` has none. */
  hook: string | null;
  summary: string;
  /** The state of an email whose last event this is. */
  stands: string;
  /** Fields besides type and timestamp, in the timeline and in the webhook's payload. */
  fields: Record<string, z.ZodType>;
  /** Example values, without the recipients: for test events and OpenAPI. */
  example: Record<string, unknown>;
}

export const EVENT_KINDS = {
  sent: {
    hook: null,
    summary: 'The relay accepted the email.',
    stands: 'The relay accepted it; the receiving server has not reported anything yet.',
    fields: {
      recipients,
      subject: z.string().describe('The subject as it went out.'),
    },
    example: { subject: 'Your receipt' },
  },
  delivered: {
    hook: 'delivery',
    summary: 'The receiving server accepted the email.',
    stands: 'The receiving server accepted it.',
    fields: {
      recipients,
      smtp_response: smtpResponse,
      reporting_mta: reportingMta,
      remote_mta: remoteMta,
    },
    example: { smtp_response: '250 2.0.0 OK', reporting_mta: 'relay.example' },
  },
  opened: {
    hook: 'open',
    summary: 'The email was opened.',
    stands: 'It was opened.',
    fields: {
      user_agent: z.string().describe('The program that opened it.'),
      ip_address: z.string().describe('Where it was opened from.'),
      machine: z.boolean().describe('True for known prefetchers and scanners.'),
    },
    example: { user_agent: 'Sandmartin test event', ip_address: '192.0.2.1', machine: false },
  },
  clicked: {
    hook: 'click',
    summary: 'A link in the email was followed.',
    stands: 'A link in it was followed.',
    fields: {
      url: z.string().describe('The link.'),
      user_agent: z.string().describe('The program that followed it.'),
      ip_address: z.string().describe('Where it was followed from.'),
      machine: z.boolean().describe('True for known prefetchers and scanners.'),
    },
    example: {
      url: 'https://example.com/',
      user_agent: 'Sandmartin test event',
      ip_address: '192.0.2.1',
      machine: false,
    },
  },
  bounced: {
    hook: 'bounce',
    summary: 'The email will not arrive.',
    stands: 'It did not arrive, and it will not.',
    fields: {
      recipients,
      bounce_type: z.enum(BOUNCE_TYPES).describe('How final it is, and who decided.'),
      reason: z.enum(REASONS).describe('Why, from a closed list.'),
      smtp_response: smtpResponse,
      reporting_mta: reportingMta,
      remote_mta: remoteMta,
      suppressed: z
        .boolean()
        .optional()
        .describe('True when it suppressed the address for the account.'),
    },
    example: {
      bounce_type: 'permanent',
      reason: 'user-unknown',
      smtp_response: '550 5.1.1 no such user',
      reporting_mta: 'relay.example',
    },
  },
  complained: {
    hook: 'complaint',
    summary: 'A recipient reported the email as unwanted.',
    stands: 'The recipient reported it as spam. Do not send to them again.',
    fields: {
      recipients,
      feedback_type: z.string().describe('The kind of report, such as abuse.'),
    },
    example: { feedback_type: 'abuse' },
  },
} as const satisfies Record<string, EventKind>;

export type EventKindName = keyof typeof EVENT_KINDS;

/** The contract's five: what an endpoint gets if it names no types. */
export type MessageHookType = NonNullable<(typeof EVENT_KINDS)[EventKindName]['hook']>;

/**
 * About an address and not a message: it is in no timeline and raises no status. Endpoints get it
 * only if they ask for it by name. Recorded by record_subscription (SQL).
 */
export const SUBSCRIPTION = {
  hook: 'subscription',
  summary:
    'An address stops receiving email from the account or through a stream, or starts again.',
  fields: {
    recipients: z.array(z.string()).describe('The address.'),
    sm_mail_id: z.string().nullable().describe('The message that led to it; null: none did.'),
    stream: z.string().nullable().describe('The stream; null: every stream.'),
    suppressing: z
      .boolean()
      .describe('True: no more email. False: the account may send to it again.'),
    reason: z
      .enum(['bounce', 'complaint', 'unsubscribe', 'manual'])
      .describe('Why it was, or had been, suppressed.'),
    origin: z
      .enum(ORIGINS)
      .describe(
        'recipient: with the unsubscribe button of an email program. preferences: on the preference page. report: a mail server reported it. Otherwise: where the account’s people or programs did it.',
      ),
  },
  example: {
    sm_mail_id: 'msg_01K9ZQ3V7N8M2R4T6W8Y0A1B2C',
    stream: 'product-news',
    suppressing: true,
    reason: 'unsubscribe',
    origin: 'recipient',
  },
} as const satisfies Omit<EventKind, 'stands'>;

export type HookType = MessageHookType | typeof SUBSCRIPTION.hook;

/** What is stored with an event besides its recipients: the fields of its kind. */
export type EventDetail<Kind extends EventKindName> = Omit<
  z.infer<z.ZodObject<Fields<Kind>>>,
  'recipients'
>;
type Fields<Kind extends EventKindName> = (typeof EVENT_KINDS)[Kind]['fields'];
