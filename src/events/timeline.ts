// The timeline: one message's events in the order they were recorded, as the contract shows them.
import { createGroupCommit } from '../process/group-commit.ts';
import type { Database } from '../store/pool.ts';
import { EVENT_KINDS, type EventKindName } from './kinds.ts';

export interface TimelineEvent {
  type: EventKindName;
  /** UTC with microseconds and no zone suffix. */
  timestamp: string;
  [field: string]: unknown;
}

export interface Timeline {
  status: string;
  /** Not handed over before then; null: at once. */
  scheduledAt: Date | null;
  /** Cancelled before any of it was handed over. */
  cancelledAt: Date | null;
  /** A person was asked to approve it, whatever they decided (approvals/). */
  neededApproval: boolean;
  events: TimelineEvent[];
  /** The relays that accepted it. */
  relays: string[];
}

/** Undefined: the account has no such message. */
export type TimelineOf = (accountId: number, messageUuid: string) => Promise<Timeline | undefined>;

/** Timelines that are asked for at the same time are read together. */
export function openTimelines(database: Database): TimelineOf {
  const group = createGroupCommit<Asked, Timeline | undefined>({
    mostInFlight: 2,
    worthAnother: WORTH_ANOTHER,
    mostItems: 32,
    ownerOf: ({ accountId }) => accountId,
    apart: ({ accountId }) => database.shardOf(accountId),
    write: (asked) => readTimelines(database.near(asked[0]!.accountId), asked),
  });
  return (accountId, messageUuid) => group.add({ accountId, messageUuid });
}

/** One alone costs the server 160 µs, one of eight 50. */
const WORTH_ANOTHER = 8;

interface Asked {
  accountId: number;
  messageUuid: string;
}

async function readTimelines(
  database: Database,
  asked: readonly Asked[],
): Promise<(Timeline | undefined)[]> {
  const accounts = asked.map(({ accountId }) => accountId);
  const messages = asked.map(({ messageUuid }) => messageUuid);
  const sorted = messages.toSorted();
  const rows = await database.call<TimelineRow>('read-timelines', READ_TIMELINES, [
    accounts,
    messages,
    sorted[0],
    sorted.at(-1),
    database.home(accounts),
  ]);
  const found = asked.map((): TimelineRow[] => []);
  for (const row of rows) found[row.place - 1]!.push(row);
  return found.map(toTimeline);
}

export const READ_TIMELINES = `
  SELECT place, status, scheduled_at AS "scheduledAt", cancelled_at AS "cancelledAt",
         needed_approval AS "neededApproval", kind, at AS timestamp, recipients, detail
  FROM read_timelines($1, $2, $3, $4, $5)`;

interface EventRow extends Omit<Timeline, 'events' | 'relays'> {
  /** Which of those asked for, from 1. */
  place: number;
  kind: EventKindName;
  timestamp: string;
  recipients: string[];
  detail: Record<string, unknown>;
}

/** A message without events is returned as one row without a kind. */
type TimelineRow = EventRow | (Omit<EventRow, 'kind'> & { kind: null });

function toTimeline(rows: readonly TimelineRow[]): Timeline | undefined {
  if (rows[0] === undefined) return undefined;
  const { status, scheduledAt, cancelledAt, neededApproval } = rows[0];
  const events = rows.filter((row): row is EventRow => row.kind !== null);
  return {
    status,
    scheduledAt,
    cancelledAt,
    neededApproval,
    events: events.map(toEvent),
    relays: [...new Set(events.flatMap(({ detail: { relay } }) => (relay ? [String(relay)] : [])))],
  };
}

function toEvent(row: EventRow): TimelineEvent {
  const { relay: _, ...fields } = row.detail;
  return {
    type: row.kind,
    timestamp: row.timestamp,
    ...('recipients' in EVENT_KINDS[row.kind].fields ? { recipients: row.recipients } : {}),
    ...fields,
  };
}
