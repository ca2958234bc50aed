// Records reports: what DSNs, bounces and complaints say becomes events, suppressions and delays,
// many reports in one transaction. Before: inbound/feedback-smtp.ts and ses.ts know which email a
// report is about, report.ts and ses.ts what it says.
import { addressKey } from '../addresses.ts';
import { keepAttempts, type NewAttempt } from '../events/attempts.ts';
import { type NewEvent, recordEvents, storable } from '../events/record.ts';
import { bytesToUuid } from '../ids.ts';
import { DEFAULT_STREAM } from '../messages/stream.ts';
import { createGroupCommit } from '../process/group-commit.ts';
import type { Metrics } from '../process/metrics.ts';
import type { Database, Queryable } from '../store/pool.ts';
import { forgetStrikes } from '../suppressions/strikes.ts';
import { type Suppression, suppress } from '../suppressions/suppressions.ts';
import { type Unsubscribe, unsubscribe } from '../suppressions/unsubscribes.ts';
import { type Bounce, judgeBounces } from './bounces.ts';
import type { Report, ReportedRecipient } from './report.ts';
import type { About, EmailReference, Subject } from './return-path.ts';

export interface MatchedReport extends Subject {
  report: Report;
}

export interface Recorded {
  /** Events that were new. A repeated report makes none. */
  events: number;
  /**
   * The report says something that we record: an event, a delay, a suppression. Otherwise a person
   * should look at it.
   */
  understood: boolean;
}

export interface ReportRecorder {
  /**
   * A report is being read: others wait a moment for it, so that they are recorded together. Call
   * the function that this returns once it has been read.
   */
  expect(): () => void;
  record(report: MatchedReport): Promise<Recorded>;
  drain(): Promise<void>;
}

/**
 * A relay may report on the first copy before we have recorded that it accepted all of them. Such a
 * report waits for that, longer each time, ten seconds in total.
 */
const EARLY_WAIT_MS = 50;
const LONGEST_EARLY_WAIT_MS = 500;
const EARLY_TURNS = 24;

/** A relay uses a few connections: what arrives over all of them is written together. */
const WORTH_ANOTHER_RECORD = 32;
/** A record of ten costs the server little more than one of two or three. */
const RECORDED_TOGETHER = 32;
const RECORDED_WITHIN_MS = 10;

/** Reports that arrive together are written together. */
export function openReportRecorder(deps: {
  database: Database;
  metrics: Metrics;
  nowMs: () => number;
}): ReportRecorder {
  let expected = 0;
  const group = createGroupCommit<MatchedReport & { mayWait: boolean }, Recorded | 'early'>({
    mostItems: 200,
    mostInFlight: 2,
    worthAnother: WORTH_ANOTHER_RECORD,
    company: {
      items: RECORDED_TOGETHER,
      withinMs: () => RECORDED_WITHIN_MS,
      moreToCome: () => expected > 0,
    },
    apart: ({ email }) => deps.database.shardOf(email.accountId),
    write: (reports) => recordReports(deps.database, reports, deps.nowMs(), deps.metrics),
  });
  return {
    expect() {
      expected++;
      return () => expected--;
    },
    async record(report) {
      for (let turn = 1; ; turn++) {
        const recorded = await group.add({ ...report, mayWait: turn < EARLY_TURNS });
        if (recorded !== 'early') return recorded;
        const waitMs = Math.min(EARLY_WAIT_MS * turn, LONGEST_EARLY_WAIT_MS);
        await new Promise((resolve) => setTimeout(resolve, waitMs));
      }
    },
    drain: () => group.drain(),
  };
}

/** For accounts of one shard. */
async function recordReports(
  all: Database,
  reports: readonly (MatchedReport & { mayWait: boolean })[],
  nowMs: number,
  metrics: Metrics,
): Promise<(Recorded | 'early')[]> {
  const database = all.near(reports[0]!.email.accountId);
  const known = await knownEmails(database, reports);
  const isEarly = ({ email, mayWait }: (typeof reports)[number]) =>
    mayWait && known.get(bytesToUuid(email.messageId))?.queued === true;
  const statements = reports.map((entry) =>
    isEarly(entry) ? null : statementOf(entry, known.get(bytesToUuid(entry.email.messageId))),
  );
  const struck = [...known.values()].some((email) => email.struck);
  const fresh = await write(database, togetherOf(statements), struck, nowMs);
  for (const event of fresh) metrics.events.inc({ kind: event.kind });
  return statements.map((statement) =>
    statement === null
      ? 'early'
      : {
          events: statement.events.filter((event) => fresh.includes(event)).length,
          understood: !isNothing(statement),
        },
  );
}

/** Returns the events that were new. Most reports say "delivered": those are one statement. */
async function write(
  database: Database,
  { events, bounces, suppressions, unsubscribes, delays }: Statement,
  struck: boolean,
  nowMs: number,
): Promise<NewEvent[]> {
  const others = [...bounces, ...suppressions, ...unsubscribes, ...delays];
  if (others.length === 0 && !struck) return await recordEvents(database, events, nowMs);
  return await database.transaction(async (client) => {
    await judgeBounces(client, bounces, nowMs);
    const fresh = await recordEvents(client, events, nowMs);
    await suppress(client, suppressions, 'report');
    await unsubscribe(client, unsubscribes, 'report');
    const delivered = fresh.filter(({ kind }) => kind === 'delivered');
    await forgetStrikes(
      client,
      delivered.flatMap(({ accountId, recipients }) =>
        recipients.map((address) => ({ accountId, address })),
      ),
    );
    await noteDelays(client, delays);
    return fresh;
  });
}

interface KnownEmail {
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

const MOST_EVENTS_OF_A_MAIL = 2000;

/** By uuid. */
async function knownEmails(
  client: Queryable,
  reports: readonly MatchedReport[],
): Promise<Map<string, KnownEmail>> {
  const accounts = reports.map(({ email }) => email.accountId);
  const rows = await client.call<KnownEmail & { uuid: string }>(
    'reported-emails',
    `SELECT uuid, recipients, stream, queued, is_full AS full, struck
     FROM reported_emails($1::bigint[], $2::uuid[], '${DEFAULT_STREAM}', ${MOST_EVENTS_OF_A_MAIL}, $3::bigint[])`,
    [accounts, reports.map(({ email }) => bytesToUuid(email.messageId)), client.home(accounts)],
  );
  return new Map(rows.map((row) => [row.uuid, row]));
}

interface Statement {
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

const isNothing = (statement: Statement): boolean =>
  Object.values(statement).every((said) => said.length === 0);

/** What several say. */
function togetherOf(statements: readonly (Statement | null)[]): Statement {
  const due = statements.filter((statement) => statement !== null);
  return {
    events: due.flatMap(({ events }) => events),
    bounces: due.flatMap(({ bounces }) => bounces),
    suppressions: due.flatMap(({ suppressions }) => suppressions),
    unsubscribes: due.flatMap(({ unsubscribes }) => unsubscribes),
    delays: due.flatMap(({ delays }) => delays),
  };
}

interface Delay {
  email: EmailReference;
  recipients: string[];
  response: string | null;
  attempt: NewAttempt;
}

/** What one report means for its email. */
function statementOf(
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

/**
 * A delay is not an event, the email is still on its way: each is stored as an attempt, and the
 * newest on the message.
 */
async function noteDelays(client: Queryable, delays: readonly Delay[]): Promise<void> {
  if (delays.length === 0) return;
  await keepAttempts(
    client,
    delays.map(({ attempt }) => attempt),
  );
  for (const { email, recipients, response } of delays) {
    await client.query(
      `UPDATE messages SET last_delay = jsonb_build_object('at', now(), 'recipients', $3::text[], 'smtp_response', $4::text)
       WHERE account_id = $1 AND id = $2`,
      [email.accountId, bytesToUuid(email.messageId), recipients, response],
    );
  }
}

const addressesOf = (reported: readonly OurRecipient[]): string[] => [
  ...new Set(reported.map(({ ours }) => ours)),
];
