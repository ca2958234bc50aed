// What email providers report by HTTP, in one shape: who is calling, and what it says, as the same
// reports that mail servers send. One file for each provider; inbound/provider.ts answers them and
// finds the email.
import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { z } from 'zod';
import { Problem } from '../../errors.ts';
import type { Reason } from '../../events/reasons.ts';
import { type Consequence, classify } from '../classify.ts';
import { type RecipientResult, recipientResult } from '../dsn.ts';
import { fingerprint, makeReport, type Report } from '../report.ts';

export interface Provider {
  /** Its name, which is also the last part of its path. */
  title: string;
  name: string;
  /** The setting that holds its secrets. */
  setting: string;
  /** The host that reports name for it. */
  host: string;
  /**
   * Throws a Problem unless the provider is calling. `secrets` are those of its setting; `text` is
   * the body as received.
   */
  authenticate(call: ProviderCall, secrets: readonly string[], nowMs: number): void;
  /**
   * One event. Undefined: it needs no answer. Throws a Problem if it does not match the provider's
   * documentation.
   */
  read(event: unknown): ProviderEvent | undefined;
  /**
   * If a nonce is signed and not the content: both, because the nonce is valid only for that
   * content.
   */
  signedWord?(body: unknown): { nonce: string; said: string };
}

export interface ProviderCall {
  /** What follows the provider's path; '' if nothing does. */
  rest: string;
  headers: IncomingHttpHeaders;
  text: string;
}

export interface ProviderEvent {
  kind: 'delivery' | 'delay' | 'bounce' | 'reject' | 'complaint' | 'unsubscribe' | 'open' | 'click';
  /** The provider's own id of the email; '' if it gives none. */
  relayMessageId: string;
  /** For opens and clicks a report without recipients. */
  report: Report;
  userAgent: string | null;
  ipAddress: string | null;
  url: string | null;
  /** The same for every copy of the same event. */
  fingerprint: string;
}

/** What is known about the email, whatever happened to it. */
export interface About {
  provider: Provider['host'];
  recipient: string;
  /** Our own token, which the provider was given with the email. */
  token: string | null;
  /** Of the email as we wrote it. */
  messageId: string | null;
  relayMessageId: string | null;
}

type Loose = string | null | undefined;

export const delivered = (about: About, response: Loose, remoteMta: Loose = null): ProviderEvent =>
  told('delivery', about, {
    action: 'delivered',
    smtp_response: response || null,
    remote_mta: remoteMta || null,
  });

export const delayed = (about: About, response: Loose, remoteMta: Loose = null): ProviderEvent =>
  told('delay', about, {
    action: 'delayed',
    smtp_response: response || null,
    remote_mta: remoteMta || null,
  });

/** What the provider says explicitly takes precedence over what its words imply. */
export interface ProviderJudgement {
  finality?: 'permanent' | 'transient';
  reason?: Reason;
  consequence?: Consequence;
  status?: Loose;
  remoteMta?: Loose;
}

export function bounced(
  about: About,
  response: Loose,
  judgement: ProviderJudgement = {},
): ProviderEvent {
  const status = /^[45]\.\d{1,3}\.\d{1,3}$/.exec(judgement.status ?? '')?.[0] ?? null;
  const words = classify(status, response ?? '');
  const finality = judgement.finality ?? words.bounceType;
  return told('bounce', about, {
    action: 'failed',
    status,
    bounce_type: finality,
    reason: judgement.reason ?? words.reason,
    consequence: finality === 'transient' ? 'none' : (judgement.consequence ?? words.consequence),
    smtp_response: response || null,
    remote_mta: judgement.remoteMta || null,
  });
}

export const complained = (about: About): ProviderEvent => told('complaint', about, {}, 'abuse');

export const unsubscribed = (about: About): ProviderEvent =>
  told('unsubscribe', about, {}, 'opt-out');

/** `identity`: what distinguishes this open or click from the next by the same person. */
export function seen(
  kind: 'open' | 'click',
  about: About,
  by: { userAgent: Loose; ipAddress: Loose; url?: Loose; identity: readonly Loose[] },
): ProviderEvent {
  const report = makeReport('other', [], originalOf(about));
  const { userAgent = null, ipAddress = null, url = null, identity } = by;
  const seenBy = [userAgent, ipAddress, url, ...identity];
  return {
    ...{ kind, report, userAgent, ipAddress, url },
    relayMessageId: about.relayMessageId ?? '',
    fingerprint: fingerprint([about.provider, kind, report.fingerprint, ...seenBy]),
  };
}

function told(
  kind: ProviderEvent['kind'],
  about: About,
  result: Partial<RecipientResult>,
  feedbackType: string | null = null,
): ProviderEvent {
  const recipient = recipientResult(about.recipient, { reporting_mta: about.provider, ...result });
  const form = feedbackType === null ? 'dsn' : 'arf';
  const report = makeReport(form, [recipient], originalOf(about), feedbackType);
  return {
    ...{ kind, report, userAgent: null, ipAddress: null, url: null },
    relayMessageId: about.relayMessageId ?? '',
    fingerprint: report.recipients[0]!.fingerprint,
  };
}

const originalOf = ({ token, messageId, recipient }: About): Report['original'] => ({
  messageId: messageId?.replace(/^\s*<|>\s*$/g, '') || null,
  ourId: null,
  token,
  envelopeId: null,
  recipients: [recipient],
  senders: [],
  arrivedAt: null,
});

/** Compared by hash, so that timing reveals neither the length nor the beginning of a secret. */
export const isOneOf = (secrets: readonly string[], given: string): boolean =>
  secrets.some((secret) => timingSafeEqual(digest(secret), digest(given)));

const digest = (text: string): Buffer => createHash('sha256').update(text).digest();

/**
 * A value of another type than documented counts as missing: a bounce must not be lost because an
 * optional field changed.
 */
export const optional = <Schema extends z.ZodType>(schema: Schema) => schema.nullish().catch(null);

export const optionalText = optional(z.string());

/** Undefined if it does not match the provider's documentation. */
export function readAs<Schema extends z.ZodType>(
  schema: Schema,
  value: unknown,
): z.output<Schema> | undefined {
  const { success, data } = schema.safeParse(value);
  return success ? data : undefined;
}

/** For events: the Problem says what is missing, and nothing about the content. */
export function readEvent<Schema extends z.ZodType>(
  title: string,
  schema: Schema,
  value: unknown,
): z.output<Schema> {
  const { success, data, error } = schema.safeParse(value);
  if (success) return data;
  throw notDocumented(title, error.issues[0]?.path.join('.') || 'the whole body');
}

export const notDocumented = (title: string, path: string): Problem =>
  new Problem(
    'invalid',
    `This is not an event that ${title} documents: ${path} is missing or wrong.`,
  );

const CLOCK_SKEW_MS = 10 * 60_000;

/** An old signed notification may be a replay; what is not a time is refused too. */
export function requireRecent(provider: string, ageMs: number, longestMs: number): void {
  if (ageMs < longestMs && ageMs > -CLOCK_SKEW_MS) return;
  throw notAuthentic(provider, 'the signature is from another day');
}

export const notAuthentic = (title: string, why: string): Problem =>
  new Problem('unauthenticated', `This is not from ${title}: ${why}.`);
