// Recording what came of attempts: events, status, kept attempts, and the due row, for many mails in one statement.
// Before: attempt.ts. After: the timeline tells it, and nothing of it can be half-written.
//
// A due row is changed only by its latest claim (`claims`): who lost it to others changes nothing of it. Events are facts and are
// recorded all the same: what the relay took, it took.
import { keepAttemptsSql, keepAttemptsValues } from '../events/attempts.ts';
import { RECORD_EVENTS_SQL, recordEventsValues, storable } from '../events/record.ts';
import { arrayLiteral, int4Array, int8Array, textArray, uuidArray } from '../store/binary.ts';
import type { Database } from '../store/pool.ts';
import type { Next, Outcome } from './attempt.ts';

const RECORD_SQL = `
  WITH recorded AS (${RECORD_EVENTS_SQL}),
  kept AS (${keepAttemptsSql(10)}),
  finished AS (
    DELETE FROM due_messages d USING unnest($17::bigint[], $18::uuid[], $19::integer[]) AS f (account_id, message_id, claims)
    WHERE d.account_id = f.account_id AND d.message_id = f.message_id AND d.claims = f.claims
  ), left_over AS (
    UPDATE due_messages d SET
      state = r.state::due_state,
      lease = NULL,
      deaths = 0,
      due_at = coalesce(now() + r.after_ms * interval '1 millisecond', d.due_at),
      attempts = d.attempts - r.unbegun,
      remaining = r.remaining::text[],
      unknown = r.unknown::text[],
      last_response = coalesce(r.response, d.last_response),
      reason = r.reason,
      set_aside_at = CASE WHEN r.reason IS NOT NULL THEN now() END
    FROM unnest($20::bigint[], $21::uuid[], $22::integer[], $23::text[], $24::integer[], $25::integer[], $26::text[], $27::text[],
                $28::text[], $29::text[])
      AS r (account_id, message_id, claims, state, after_ms, unbegun, remaining, unknown, response, reason)
    WHERE d.account_id = r.account_id AND d.message_id = r.message_id AND d.claims = r.claims
  )
  SELECT count(*) FROM recorded`;

export async function recordOutcomes(
  database: Database,
  outcomes: readonly Outcome[],
  nowMs: number,
): Promise<void> {
  const finished = outcomes.filter(({ next }) => next.state === 'finished');
  const leftOver = outcomes.flatMap(({ claimed, next }) =>
    next.state === 'finished' ? [] : [{ claimed, next }],
  );
  await database.prepared('record-outcomes', RECORD_SQL, [
    ...recordEventsValues(
      outcomes.flatMap((outcome) => outcome.events),
      nowMs,
    ),
    ...keepAttemptsValues(outcomes.flatMap(({ kept }) => kept ?? [])),
    int8Array(finished.map(({ claimed }) => claimed.accountId)),
    uuidArray(finished.map(({ claimed }) => claimed.messageId)),
    int4Array(finished.map(({ claimed }) => claimed.claims)),
    int8Array(leftOver.map(({ claimed }) => claimed.accountId)),
    uuidArray(leftOver.map(({ claimed }) => claimed.messageId)),
    int4Array(leftOver.map(({ claimed }) => claimed.claims)),
    textArray(leftOver.map(({ next }) => next.state)),
    int4Array(leftOver.map(({ next }) => (next.state === 'waiting' ? next.afterMs : null))),
    int4Array(leftOver.map(({ next }) => (next.left.begun ? 0 : 1))),
    textArray(leftOver.map(({ next }) => listOf(next.left.remaining))),
    textArray(leftOver.map(({ next }) => listOf(next.left.unknown))),
    textArray(leftOver.map(({ next }) => responseOf(next))),
    textArray(
      leftOver.map(({ next }) => (next.state === 'set aside' ? bounded(next.reason) : null)),
    ),
  ]);
}

const listOf = (names: string[] | null): string | null => names && arrayLiteral(names);

const responseOf = (next: Next): string | null =>
  next.state === 'waiting' && next.response !== null ? bounded(next.response) : null;

/** A relay may say anything, at any length. */
const bounded = (text: string): string => storable(text.slice(0, 2000));
