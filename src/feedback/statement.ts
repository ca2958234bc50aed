// What a report means for its email: events, suppressions, unsubscribes and delays. Before:
// record.ts looked up what is known of the email. After: it writes what many reports say in one
// transaction.
import { addressKey } from '../addresses.ts';
import type { NewAttempt } from '../events/attempts.ts';
import { type NewEvent, storable } from '../events/record.ts';
import { bytesToUuid } from '../ids.ts';
import type { Suppression } from '../suppressions/suppressions.ts';
import type { Unsubscribe } from '../suppressions/unsubscribes.ts';
import type { Bounce } from './bounces.ts';
import type { Report, ReportedRecipient } from './report.ts';
import type { About, EmailReference, Subject } from './return-path.ts';

export interface MatchedReport extends Subject {
  report: Report;
}

export interface KnownEmail {
  /**
   * A report can only be about people its email went to, so that nobody is suppressed because of a
   * rumour.
   */
  recipients: string[];
  stream: string;
  /** Nothing is recorded about it yet. */
  queued: boolean;
  /**
   * So much is recorded about it that more would only be noise: someone invents reports about their
   * own copy.
   */
  full: boolean;
  /** There are strikes against addresses of its account. */
  struck: boolean;
}

export interface Statement {
  events: NewEvent[];
  /** The events that are bounces, with what they mean for the address. */
  bounces: Bounce[];
  suppressions: Suppression[];
  unsubscribes: Unsubscribe[];
  delays: Delay[];
}

const NOTHING: Statement = {
  events: [],
  bounces: [],
  suppressions: [],
  unsubscribes: [],
  delays: [],
};

export const isNothing = (statement: Statement): boolean =>
  Object.values(statement).every((said) => said.length === 0);

/** What several say. */
export function togetherOf(statements: readonly (Statement | null)[]): Statement {
  const due = statements.filter((statement) => statement !== null);
  return {
    events: due.flatMap(({ events }) => events),
    bounces: due.flatMap(({ bounces }) => bounces),
    suppressions: due.flatMap(({ suppressions }) => suppressions),
    unsubscribes: due.flatMap(({ unsubscribes }) => unsubscribes),
    delays: due.flatMap(({ delays }) => delays),
  };
}

export interface Delay {
  email: EmailReference;
  recipients: string[];
  response: string | null;
  attempt: NewAttempt;
}

/** What one report means for its email. */
export function statementOf(
  { email, about, report }: MatchedReport,
  known: KnownEmail | undefined,
): Statement {
  if (known === undefined || known.full) return NOTHING;
  const reported = report.recipients.flatMap((recipient) =>
    asOurs(recipient, about, known.recipients),
  );
  const bounces = bouncesOf(email, reported);
  return {
    events: [
      ...deliveries(email, reported),
      ...bounces.map(({ event }) => event),
      ...complaints(email, report, reported),
    ],
    bounces,
    suppressions: suppressionsOf(email, report, reported),
    unsubscribes: unsubscribesOf(email, known.stream, report, reported),
    delays: delaysOf(email, reported),
  };
}

interface OurRecipient extends ReportedRecipient {
  /** The address as we sent to it. */
  ours: string;
  /**
   * The same for every copy of the statement; different for two recipients that are forwarded to
   * one mailbox.
   */
  identity: string;
}

/**
 * Servers change case and domains (forwarding), so the copy a report is about decides whom it
 * means, whatever it calls them. Nobody, if it names someone the email did not go to.
 */
function asOurs(
  recipient: ReportedRecipient,
  about: About,
  recipients: readonly string[],
): OurRecipient[] {
  const key = recipient.address === null ? null : addressKey(recipient.address);
  const only = recipients.length === 1 ? recipients[0] : undefined;
  const named = about === 'named' && recipients.find((address) => addressKey(address) === key);
  const ours = typeof about === 'number' ? recipients[about] : named || only;
  if (ours === undefined) return [];
  return [{ ours, identity: `${recipients.indexOf(ours)} ${recipient.fingerprint}`, ...recipient }];
}

const DELIVERED_ACTIONS = ['delivered', 'relayed', 'expanded'];

function deliveries(email: EmailReference, reported: readonly OurRecipient[]): NewEvent[] {
  return reported
    .filter((recipient) => DELIVERED_ACTIONS.includes(recipient.action ?? ''))
    .map((recipient) => ({
      accountId: email.accountId,
      messageId: email.messageId,
      kind: 'delivered' as const,
      recipients: [recipient.ours],
      detail: saidBy(recipient),
      identity: recipient.identity,
    }));
}

function bouncesOf(email: EmailReference, reported: readonly OurRecipient[]): Bounce[] {
  return reported.flatMap((recipient) => {
    const { bounce_type, reason, consequence } = recipient;
    if (bounce_type === null) return [];
    const event: Bounce['event'] = {
      accountId: email.accountId,
      messageId: email.messageId,
      kind: 'bounced',
      recipients: [recipient.ours],
      detail: { bounce_type, reason: reason ?? 'other', ...saidBy(recipient) },
      identity: recipient.identity,
    };
    return [{ event, consequence: consequence ?? 'none' }];
  });
}

const saidBy = ({ smtp_response, reporting_mta, remote_mta }: OurRecipient) => ({
  smtp_response: storable(smtp_response ?? ''),
  reporting_mta: storable(reporting_mta ?? ''),
  ...(remote_mta !== null && { remote_mta: storable(remote_mta) }),
});

function complaints(
  email: EmailReference,
  report: Report,
  reported: readonly OurRecipient[],
): NewEvent[] {
  if (meaningOf(report) !== 'complaint' || reported.length === 0) return [];
  return [
    {
      ...email,
      kind: 'complained',
      recipients: addressesOf(reported),
      detail: { feedback_type: storable(report.feedback_type ?? '') },
      identity: reported[0]!.identity,
    },
  ];
}

/**
 * RFC 5965 7.3 and its registry. not-spam takes a complaint back and auth-failure is about DNS:
 * neither says "no more email".
 */
function meaningOf(report: Report): 'complaint' | 'unsubscribe' | null {
  const type = report.feedback_type;
  if (report.kind !== 'arf' || type === null) return null;
  if (type === 'opt-out' || type === 'opt-out-list') return 'unsubscribe';
  return type === 'not-spam' || type === 'auth-failure' ? null : 'complaint';
}

/** Complaints: the account no longer sends there. */
function suppressionsOf(
  email: EmailReference,
  report: Report,
  reported: readonly OurRecipient[],
): Suppression[] {
  if (meaningOf(report) !== 'complaint') return [];
  const { accountId, messageId } = email;
  return reported.map(({ ours: address }) => ({
    ...{ accountId, address, reason: 'complaint' as const },
    messageUuid: bytesToUuid(messageId),
  }));
}

/** Opt-outs: from the stream that the email went through. */
function unsubscribesOf(
  { accountId, messageId }: EmailReference,
  stream: string,
  report: Report,
  reported: readonly OurRecipient[],
): Unsubscribe[] {
  if (meaningOf(report) !== 'unsubscribe') return [];
  const messageUuid = bytesToUuid(messageId);
  return reported.map(({ ours: address }) => ({ accountId, address, stream, messageUuid }));
}

/**
 * Whether the account stops sending to the recipient at once; a third strike is known only when it
 * is recorded.
 */
export const suppresses = (report: Report, { consequence }: ReportedRecipient): boolean =>
  consequence === 'suppress' || meaningOf(report) !== null;

function delaysOf(email: EmailReference, reported: readonly OurRecipient[]): Delay[] {
  const delayed = reported.filter((recipient) => recipient.action === 'delayed');
  if (delayed.length === 0) return [];
  const delay = {
    email,
    recipients: addressesOf(delayed),
    response: storable(delayed[0]!.smtp_response ?? ''),
    attempt: {
      ...email,
      identity: `delayed ${delayed[0]!.identity}`,
      attempt: null,
      server: delayed[0]!.reporting_mta ?? '',
      recipients: delayed.map((recipient) => ({
        recipient: recipient.ours,
        result: 'deferred' as const,
        reply: recipient.smtp_response ?? '',
      })),
      nextAfterMs: null,
    },
  };
  return [delay];
}

const addressesOf = (reported: readonly OurRecipient[]): string[] => [
  ...new Set(reported.map(({ ours }) => ours)),
];
