// What Amazon SES reports through SNS, in the shape of every other report. Both of its forms:
// notifications of an identity (`notificationType`) and event publishing of a configuration set
// (`eventType`). sns.ts has checked who is calling.
import { z } from 'zod';
import type { Reason } from '../events/reasons.ts';
import { classify } from './classify.ts';
import { hostOf, type RecipientResult, recipientResult } from './dsn.ts';
import { type Original, OUR_HEADER, TOKEN_HEADER } from './original.ts';
import { optionalText, readEvent } from './providers/provider.ts';
import { fingerprint, makeReport, type Report } from './report.ts';

export type SesKind = 'delivery' | 'delay' | 'bounce' | 'complaint' | 'reject' | 'open' | 'click';

export interface SesEvent {
  kind: SesKind;
  /** SES's own id for the email, which it returned when it accepted the email. */
  relayMessageId: string;
  /** What recordReport takes; for opens and clicks a report without recipients. */
  report: Report;
  at: Date | null;
  /** For an open or click: who, from where, which link. */
  userAgent: string | null;
  ipAddress: string | null;
  url: string | null;
  /** The same for every copy of the same event. */
  fingerprint: string;
}

const recipient = z.object({
  emailAddress: z.string(),
  action: optionalText,
  status: optionalText,
  diagnosticCode: optionalText,
});
const sesBody = z.object({
  notificationType: optionalText,
  eventType: optionalText,
  mail: z.object({
    messageId: z.string(),
    destination: z.array(z.string()).default([]),
    headers: z.array(z.object({ name: z.string(), value: z.string().nullish() })).nullish(),
    commonHeaders: z.object({ messageId: optionalText }).nullish(),
  }),
  bounce: z
    .object({
      bounceType: optionalText,
      bounceSubType: optionalText,
      bouncedRecipients: z.array(recipient),
      timestamp: optionalText,
      reportingMTA: optionalText,
    })
    .optional(),
  complaint: z
    .object({
      complainedRecipients: z.array(z.object({ emailAddress: z.string() })),
      timestamp: optionalText,
      complaintFeedbackType: optionalText,
    })
    .optional(),
  delivery: z
    .object({
      recipients: z.array(z.string()),
      timestamp: optionalText,
      smtpResponse: optionalText,
      reportingMTA: optionalText,
    })
    .optional(),
  deliveryDelay: z
    .object({
      delayedRecipients: z.array(recipient),
      timestamp: optionalText,
      reportingMTA: optionalText,
    })
    .optional(),
  reject: z.object({ reason: optionalText }).optional(),
  open: z
    .object({ ipAddress: optionalText, timestamp: optionalText, userAgent: optionalText })
    .optional(),
  click: z
    .object({
      ipAddress: optionalText,
      timestamp: optionalText,
      userAgent: optionalText,
      link: optionalText,
    })
    .optional(),
});
type SesBody = z.infer<typeof sesBody>;

/**
 * Undefined for what needs no answer (Send, Rendering Failure, Subscription and whatever SES adds).
 */
export function readSes(message: string): SesEvent | undefined {
  let json: unknown;
  try {
    json = JSON.parse(message);
  } catch {
    // "Successfully validated SNS topic for Amazon SES event publishing." is the first message to a
    // new topic.
    return undefined;
  }
  const body = readEvent('Amazon SES', sesBody, json);
  const original = originalOf(body);
  switch (body.eventType ?? body.notificationType) {
    case 'Delivery':
      return makeEvent(
        'delivery',
        body,
        body.delivery,
        makeReport('dsn', deliveries(body), original),
      );
    case 'DeliveryDelay':
      return makeEvent(
        'delay',
        body,
        body.deliveryDelay,
        makeReport('dsn', delays(body), original),
      );
    case 'Bounce':
      return makeEvent('bounce', body, body.bounce, makeReport('dsn', bounces(body), original));
    case 'Reject':
      return makeEvent('reject', body, {}, makeReport('dsn', rejections(body), original));
    case 'Complaint': {
      const type = body.complaint?.complaintFeedbackType || 'abuse';
      return makeEvent(
        'complaint',
        body,
        body.complaint,
        makeReport('arf', complainers(body), original, type),
      );
    }
    case 'Open':
      return makeEvent('open', body, body.open, makeReport('other', [], original));
    case 'Click':
      return makeEvent('click', body, body.click, makeReport('other', [], original));
    default:
      return undefined;
  }
}

interface Detail {
  timestamp?: string | null | undefined;
  ipAddress?: string | null | undefined;
  userAgent?: string | null | undefined;
  link?: string | null | undefined;
}

function makeEvent(
  kind: SesKind,
  body: SesBody,
  detail: Detail | undefined,
  report: Report,
): SesEvent {
  const time = Date.parse(detail?.timestamp ?? '');
  const relayMessageId = body.mail.messageId;
  const { ipAddress = null, userAgent = null, link = null, timestamp } = detail ?? {};
  return {
    kind,
    relayMessageId,
    report,
    at: Number.isNaN(time) ? null : new Date(time),
    userAgent,
    ipAddress,
    url: link,
    fingerprint: fingerprint([
      'ses',
      kind,
      relayMessageId,
      report.fingerprint,
      timestamp,
      ipAddress,
      userAgent,
      link,
    ]),
  };
}

/**
 * SES writes a Message-ID of its own; ours is found by our header, if headers are included, or by
 * the relay's id.
 */
function originalOf(body: SesBody): Original {
  const header = (name: string) =>
    body.mail.headers?.find((field) => field.name.toLowerCase() === name)?.value ?? null;
  const written = header('message-id') ?? body.mail.commonHeaders?.messageId ?? null;
  return {
    messageId: written?.replace(/^\s*<|>\s*$/g, '') || null,
    ourId: /^msg_\w{1,64}$/.exec(header(OUR_HEADER)?.trim() ?? '')?.[0] ?? null,
    token: header(TOKEN_HEADER)?.trim() || null,
    envelopeId: null,
    recipients: body.mail.destination,
    senders: [],
    arrivedAt: null,
  };
}

function deliveries(body: SesBody): RecipientResult[] {
  const { recipients = [], smtpResponse, reportingMTA } = body.delivery ?? {};
  return recipients.map((address) =>
    recipientResult(address, {
      action: 'delivered',
      smtp_response: smtpResponse ?? null,
      reporting_mta: hostOf(reportingMTA ?? ''),
    }),
  );
}

function delays(body: SesBody): RecipientResult[] {
  const { delayedRecipients = [], reportingMTA } = body.deliveryDelay ?? {};
  return delayedRecipients.map((delayed) =>
    recipientResult(delayed.emailAddress, {
      action: 'delayed',
      status: delayed.status ?? null,
      smtp_response: diagnostic(delayed.diagnosticCode),
      reporting_mta: hostOf(reportingMTA ?? ''),
    }),
  );
}

// docs.aws.amazon.com/ses, "Bounce types". General and Undetermined say nothing; the diagnostic
// code may.
const SUBTYPES: Readonly<Record<string, Reason>> = {
  NoEmail: 'user-unknown',
  Suppressed: 'suppressed',
  OnAccountSuppressionList: 'suppressed',
  UnsubscribedRecipient: 'suppressed',
  MailboxFull: 'mailbox-full',
  MessageTooLarge: 'too-large',
  ContentRejected: 'content',
  AttachmentRejected: 'content',
};

function bounces(body: SesBody): RecipientResult[] {
  const { bounceType, bounceSubType, bouncedRecipients = [], reportingMTA } = body.bounce ?? {};
  return bouncedRecipients.map((bounced) => {
    const said = diagnostic(bounced.diagnosticCode);
    const status = /^[245]\.\d{1,3}\.\d{1,3}$/.exec(bounced.status ?? '')?.[0] ?? null;
    const diagnosis = classify(status, said ?? '');
    const known =
      bounceType === 'Permanent' ? 'permanent' : bounceType === 'Transient' ? 'transient' : null;
    return recipientResult(bounced.emailAddress, {
      action: 'failed',
      status,
      // Undetermined without any code is no reason to suppress anyone.
      bounce_type: known ?? (status === null && said === null ? 'transient' : diagnosis.bounceType),
      reason: SUBTYPES[bounceSubType ?? ''] ?? diagnosis.reason,
      consequence:
        bounceSubType === 'NoEmail'
          ? 'suppress'
          : known === 'transient'
            ? 'none'
            : diagnosis.consequence,
      smtp_response: said,
      reporting_mta: hostOf(reportingMTA ?? ''),
    });
  });
}

/** SES accepted the email and found a virus in it: nobody receives it. */
function rejections(body: SesBody): RecipientResult[] {
  const said = body.reject?.reason ?? null;
  return body.mail.destination.map((address) =>
    recipientResult(address, {
      action: 'failed',
      bounce_type: 'permanent',
      reason: 'content',
      consequence: 'none',
      smtp_response: said,
    }),
  );
}

function complainers(body: SesBody): RecipientResult[] {
  return (body.complaint?.complainedRecipients ?? []).map(({ emailAddress }) =>
    recipientResult(emailAddress, {}),
  );
}

function diagnostic(code: string | null | undefined): string | null {
  return code?.replace(/^\s*[\w-]{1,40}\s*;\s*/, '').trim() || null;
}
