// Records reports: what DSNs, bounces and complaints say becomes events, suppressions and delays,
// many reports in one transaction. Before: inbound/feedback-smtp.ts and ses.ts know which email a
// report is about, report.ts and ses.ts what it says.
import { keepAttempts } from '../events/attempts.ts';
import { type NewEvent, recordEvents } from '../events/record.ts';
import { bytesToUuid } from '../ids.ts';
import { DEFAULT_STREAM } from '../messages/stream.ts';
import { createGroupCommit } from '../process/group-commit.ts';
import type { Metrics } from '../process/metrics.ts';
import type { Database, Queryable } from '../store/pool.ts';
import { forgetStrikes } from '../suppressions/strikes.ts';
import { suppress } from '../suppressions/suppressions.ts';
import { unsubscribe } from '../suppressions/unsubscribes.ts';
import { judgeBounces } from './bounces.ts';
import {
  type Delay,
  isNothing,
  type KnownEmail,
  type MatchedReport,
  type Statement,
  statementOf,
  togetherOf,
} from './statement.ts';

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
