// Recording opens and clicks: after the answer, in batches, and later if the database is away.
// Before: inbound/open.ts and click.ts have answered already. After: events/record.ts, as for every
// other event.

import { type NewEvent, recordEvents } from '../events/record.ts';
import { bytesToUuid } from '../ids.ts';
import type { Clock } from '../process/clock.ts';
import { createGroupCommit, isDataFault } from '../process/group-commit.ts';
import type { Log } from '../process/log.ts';
import type { Metrics } from '../process/metrics.ts';
import { recurringFault } from '../process/recurring-fault.ts';
import { among } from '../store/places.ts';
import type { Database } from '../store/pool.ts';

/**
 * How many wait for a database that is away; about 10 MB. Beyond that, new ones are dropped and
 * counted.
 */
const MOST_WAITING = 20_000;
const RETRY_MS = 1000;

export interface Engagement {
  accountId: number;
  messageId: Buffer;
  kind: 'opened' | 'clicked';
  userAgent: string;
  ipAddress: string;
  machine: boolean;
  /** For a click. */
  url?: string;
  /** Which link of the email. */
  index: number;
  /** Whose copy; null if one copy went to all. */
  place: number | null;
  /** Identifies the event if it is reported again; generated if none is given. */
  identity?: string;
}

export interface EngagementRecorder {
  /** Never fails and never waits. */
  note(engagement: Engagement): void;
  drain(): Promise<void>;
}

export function openEngagementRecorder(deps: {
  database: Database;
  clock: Clock;
  log: Log;
  metrics: Metrics;
}): EngagementRecorder {
  const { database, clock, log, metrics } = deps;
  const couldNotRecord = recurringFault(log, 'warn', 'could not record an open or click');
  const waiting = new Set<Promise<void>>();
  let closing = false;
  let dropped = 0;
  const group = createGroupCommit<SeenEvent, void>({
    mostItems: 500,
    mostInFlight: 1,
    apart: ({ accountId }) => database.shardOf(accountId),
    async write(events) {
      const node = database.near(events[0]!.accountId);
      const known = await withRecipients(node, events);
      const fresh = await recordEvents(node, known, clock.nowMs());
      for (const { kind } of fresh) metrics.events.inc({ kind });
      return events.map(() => undefined);
    },
  });

  async function write(event: SeenEvent): Promise<void> {
    for (;;) {
      try {
        return await group.add(event);
      } catch (error) {
        couldNotRecord(error);
        if (isDataFault(error) || closing) return;
        await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
      }
    }
  }

  return {
    note(engagement) {
      if (waiting.size >= MOST_WAITING) {
        dropped++;
        if (dropped % 1000 === 1) log.error({ dropped }, 'opens and clicks are lost');
        return;
      }
      const work = write(toEvent(engagement, clock.nowMs())).finally(() => waiting.delete(work));
      waiting.add(work);
    },
    async drain() {
      closing = true;
      await Promise.all(waiting);
    },
  };
}

/**
 * Anyone with the pixel's URL can load it forever; after this many events, more of them say nothing
 * new.
 */
const MOST_EVENTS_OF_A_MAIL = 20_000;

/** Whose copy it is; for an older email, which went to all in one copy, all recipients. */
async function withRecipients(
  database: Database,
  events: readonly SeenEvent[],
): Promise<NewEvent[]> {
  const accounts = events.map((event) => event.accountId);
  const uuids = events.map((event) => bytesToUuid(event.messageId));
  const sorted = [...uuids].sort();
  const rows = await database.prepared<{ uuid: string; recipients: string[] }>(
    'tracked-emails',
    // The bounds limit the planner to the partitions of these days.
    `SELECT m.id AS uuid, m.recipients FROM unnest($1::bigint[], $2::uuid[]) AS d (account_id, id)
     JOIN messages m ON m.account_id = d.account_id AND m.id = d.id AND m.id BETWEEN $3 AND $4
     WHERE m.last_sequence < ${MOST_EVENTS_OF_A_MAIL} AND ${among('m.account_id', 5)}`,
    [accounts, uuids, sorted[0], sorted.at(-1), database.home(accounts)],
  );
  const known = new Map(rows.map((row) => [row.uuid, row.recipients]));
  return events.flatMap(({ place, ...event }, index) => {
    const recipients = known.get(uuids[index]!);
    if (recipients === undefined) return [];
    const reader = place === null ? undefined : recipients[place];
    return [{ ...event, recipients: reader === undefined ? recipients : [reader] }];
  });
}

const MINUTE_MS = 60_000;

type SeenEvent = Extract<NewEvent, { kind: Engagement['kind'] }> & { place: number | null };

export function toEvent(engagement: Engagement, nowMs: number): SeenEvent {
  const { accountId, messageId, kind, userAgent, ipAddress, machine, url, index, place } =
    engagement;
  const reader = { user_agent: userAgent, ip_address: ipAddress, machine };
  const whose = place === null ? index : `${place}/${index}`;
  return {
    place,
    accountId,
    messageId,
    ...(kind === 'clicked'
      ? { kind, detail: { url: url ?? '', ...reader } }
      : { kind, detail: reader }),
    recipients: [],
    // Email programs load an image twice and people click twice: the same copy in the same program
    // counts once a minute.
    identity:
      engagement.identity ?? `${whose} ${userAgent} ${ipAddress} ${Math.floor(nowMs / MINUTE_MS)}`,
    // A scanner that follows links says nothing about the reader. An open by a proxy does: Gmail's,
    // the most frequent of all, fetches the pixel when a person opens the email. So opens always
    // count, and carry `machine` for anyone who wants to distinguish them.
    raisesStatus: kind === 'opened' || !machine,
  };
}
