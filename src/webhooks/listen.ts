// `webhook listen`: an account's new events, forwarded to a developer's machine as a webhook would
// deliver them. It reads the events themselves, so it needs no endpoint, and it retries nothing: it
// shows the result of each.
import { setTimeout as wait } from 'node:timers/promises';
import type { Dispatcher } from 'undici';
import type { Database } from '../store/pool.ts';
import {
  bodyOf,
  type EventKey,
  eventIdOf,
  loadEvents,
  nameOf,
  type StoredEvent,
} from './event-body.ts';
import { type PostResult, postWebhook } from './post.ts';
import { attemptHeaders } from './sign.ts';

const POLL_EVERY_MS = 300;
/**
 * An event gets its time before it is committed: within this period a later one may be seen first.
 */
const OVERLAP_MS = 10_000;

/** Events recorded after this returns, in order, until the signal. */
export async function openStream(
  database: Database,
  accountId: number,
  signal: AbortSignal,
): Promise<AsyncGenerator<StoredEvent>> {
  const [now] = await database.query<{ at: Date }>('SELECT clock_timestamp() AS at');
  return newEvents(database, accountId, now!.at.getTime(), signal);
}

async function* newEvents(
  database: Database,
  accountId: number,
  startMs: number,
  signal: AbortSignal,
): AsyncGenerator<StoredEvent> {
  let seen = new Map<string, number>();
  let newestMs = startMs;
  while (!signal.aborted) {
    const rows = await database.query<EventKey & { atMs: number }>(
      `SELECT account_id AS "accountId", message_id AS "messageUuid", id AS "eventUuid",
              extract(epoch FROM at)::float8 * 1000 AS "atMs"
       FROM events WHERE account_id = $1 AND sequence IS NOT NULL AND at >= $2 ORDER BY at`,
      [accountId, new Date(Math.max(startMs, newestMs - OVERLAP_MS))],
    );
    const fresh = rows.filter((key) => !seen.has(nameOf(key)));
    const events = await loadEvents(database, fresh);
    for (const { atMs, ...key } of fresh) {
      const event = events.get(nameOf(key));
      if (event === undefined) continue;
      seen.set(nameOf(key), atMs);
      newestMs = Math.max(newestMs, atMs);
      yield event;
    }
    seen = new Map([...seen].filter(([, atMs]) => atMs >= newestMs - 2 * OVERLAP_MS));
    await wait(POLL_EVERY_MS, undefined, { signal }).catch(() => undefined);
  }
}

/** Signed like a real delivery. */
export async function forward(
  agent: Dispatcher,
  url: string,
  secret: string,
  event: StoredEvent,
  nowMs: number,
): Promise<PostResult> {
  const body = bodyOf(event);
  const eventId = eventIdOf(event.eventUuid);
  const headers = attemptHeaders({ eventId, attempt: 1, body, secrets: [secret], nowMs });
  return await postWebhook(agent, { url, body, headers });
}
