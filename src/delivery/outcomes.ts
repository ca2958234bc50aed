// Records the outcomes of attempts: events, status, stored attempts, and the due row, for many
// emails in one statement. Before: attempt.ts. After: the timeline shows it, and nothing can be
// half-written.
//
// A due row is changed only by its latest claim (`claims`): a worker that lost it changes nothing
// in it. Events are facts and are still recorded: what the relay accepted, it accepted.
import { ATTEMPT_COLUMNS, MOST_KEPT } from '../events/attempts.ts';
import { EVENT_COLUMNS, recordEventsValues, storable } from '../events/record.ts';
import { judgeBounces } from '../feedback/bounces.ts';
import { arrayLiteral } from '../store/binary.ts';
import { columnList } from '../store/columns.ts';
import type { Database, Queryable } from '../store/pool.ts';
import type { Next, Outcome } from './attempt.ts';

interface LeftOver {
  claimed: Outcome['claimed'];
  next: Exclude<Next, { state: 'finished' }>;
}

const FINISHED_COLUMNS = columnList<Outcome>({
  account_id: { type: 'bigint', of: ({ claimed }) => claimed.accountId },
  message_id: { type: 'uuid', of: ({ claimed }) => claimed.messageId },
  claims: { type: 'integer', of: ({ claimed }) => claimed.claims },
});

const LEFT_OVER_COLUMNS = columnList<LeftOver>({
  account_id: { type: 'bigint', of: ({ claimed }) => claimed.accountId },
  message_id: { type: 'uuid', of: ({ claimed }) => claimed.messageId },
  claims: { type: 'integer', of: ({ claimed }) => claimed.claims },
  state: { type: 'text', of: ({ next }) => next.state },
  after_ms: { type: 'integer', of: ({ next }) => (next.state === 'waiting' ? next.afterMs : null) },
  unbegun: { type: 'integer', of: ({ next }) => (next.left.begun ? 0 : 1) },
  remaining: { type: 'text', of: ({ next }) => listOf(next.left.remaining) },
  unknown: { type: 'text', of: ({ next }) => listOf(next.left.unknown) },
  response: { type: 'text', of: ({ next }) => responseOf(next) },
  reason: {
    type: 'text',
    of: ({ next }) => (next.state === 'set aside' ? bounded(next.reason) : null),
  },
});

const firstAttempt = EVENT_COLUMNS.length + 1;
const firstFinished = firstAttempt + ATTEMPT_COLUMNS.length;
const firstLeftOver = firstFinished + FINISHED_COLUMNS.length;

const after = firstLeftOver + LEFT_OVER_COLUMNS.length;

const RECORD_SQL = `SELECT record_outcomes(
  ${EVENT_COLUMNS.asArguments()},
  ${ATTEMPT_COLUMNS.asArguments(firstAttempt, 'k_')},
  ${FINISHED_COLUMNS.asArguments(firstFinished, 'f_')},
  ${LEFT_OVER_COLUMNS.asArguments(firstLeftOver, 'l_')},
  k_most => $${after}, p_home => $${after + 1})`;

/** For accounts of one shard. */
export async function recordOutcomes(
  all: Database,
  outcomes: readonly Outcome[],
  nowMs: number,
): Promise<void> {
  const database = all.near(outcomes[0]!.claimed.accountId);
  const bounces = outcomes.flatMap((outcome) => outcome.bounces);
  const forgotten = outcomes.filter(({ next, forgets }) => forgets && next.state === 'finished');
  if (bounces.length + forgotten.length === 0) return await write(database, outcomes, nowMs);
  await database.transaction(async (client) => {
    if (bounces.length > 0) await judgeBounces(client, bounces, nowMs);
    await write(client, outcomes, nowMs);
    for (const { claimed } of forgotten) await forgetContent(client, claimed);
  });
}

/**
 * The service's own emails contain links that act for anyone who reads them: join, verify, choose a
 * password, approve. Everywhere else these are stored as hashes. A worker that lost the claim
 * deletes nothing.
 */
async function forgetContent(
  client: Queryable,
  { accountId, messageId }: Outcome['claimed'],
): Promise<void> {
  await client.query(
    `DELETE FROM contents WHERE account_id = $1 AND message_id = $2 AND NOT EXISTS (
       SELECT 1 FROM due_messages WHERE account_id = $1 AND message_id = $2)`,
    [accountId, messageId],
  );
}

async function write(
  database: Queryable,
  outcomes: readonly Outcome[],
  nowMs: number,
): Promise<void> {
  const finished = outcomes.filter(({ next }) => next.state === 'finished');
  const leftOver = outcomes.flatMap(({ claimed, next }) =>
    next.state === 'finished' ? [] : [{ claimed, next }],
  );
  await database.call('record-outcomes', RECORD_SQL, [
    ...recordEventsValues(
      outcomes.flatMap((outcome) => outcome.events),
      nowMs,
    ),
    ...ATTEMPT_COLUMNS.values(outcomes.flatMap(({ kept }) => kept ?? [])),
    ...FINISHED_COLUMNS.values(finished),
    ...LEFT_OVER_COLUMNS.values(leftOver),
    MOST_KEPT,
    database.home(outcomes.map(({ claimed }) => claimed.accountId)),
  ]);
}

const listOf = (names: string[] | null): string | null => names && arrayLiteral(names);

const responseOf = (next: Next): string | null =>
  next.state === 'waiting' && next.response !== null ? bounded(next.response) : null;

/** A relay's reply may contain anything, at any length. */
const bounded = (text: string): string => storable(text.slice(0, 2000));
