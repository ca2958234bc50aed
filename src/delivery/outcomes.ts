// Recording what came of attempts: events, status, and the due row finished or put off, for many mails in one statement.
// Before: attempt.ts. After: the timeline tells it, and nothing of it can be half-written.
import { RECORD_EVENTS_SQL, recordEventsValues } from '../events/record.ts';
import { arrayLiteral, int8Array, textArray, uuidArray } from '../store/binary.ts';
import type { Database } from '../store/pool.ts';
import type { Outcome } from './attempt.ts';

const RECORD_SQL = `
  WITH recorded AS (${RECORD_EVENTS_SQL}),
  finished AS (
    DELETE FROM due_messages d USING unnest($10::bigint[], $11::uuid[]) AS f (account_id, message_id)
    WHERE d.account_id = f.account_id AND d.message_id = f.message_id
  ), put_off AS (
    UPDATE due_messages d SET due_at = r.due_at::timestamptz, lease = NULL, remaining = r.remaining::text[], last_response = r.response
    FROM unnest($12::bigint[], $13::uuid[], $14::text[], $15::text[], $16::text[])
      AS r (account_id, message_id, due_at, remaining, response)
    WHERE d.account_id = r.account_id AND d.message_id = r.message_id
  )
  SELECT count(*) FROM recorded`;

export async function recordOutcomes(
  database: Database,
  outcomes: readonly Outcome[],
  nowMs: number,
): Promise<void> {
  const finished = outcomes.filter((outcome) => outcome.retry === null);
  const putOff = outcomes.filter((outcome) => outcome.retry !== null);
  await database.prepared('record-outcomes', RECORD_SQL, [
    ...recordEventsValues(
      outcomes.flatMap((outcome) => outcome.events),
      nowMs,
    ),
    int8Array(finished.map((outcome) => outcome.claimed.accountId)),
    uuidArray(finished.map((outcome) => outcome.claimed.messageId)),
    int8Array(putOff.map((outcome) => outcome.claimed.accountId)),
    uuidArray(putOff.map((outcome) => outcome.claimed.messageId)),
    textArray(putOff.map((outcome) => new Date(nowMs + outcome.retry!.afterMs).toISOString())),
    textArray(putOff.map((outcome) => arrayLiteral(outcome.retry!.remaining))),
    textArray(putOff.map((outcome) => printable(outcome.retry!.response))),
  ]);
}

/** A relay may say anything; PostgreSQL's text takes no NUL. */
const printable = (text: string): string => text.replaceAll('\0', '�').slice(0, 2000);
