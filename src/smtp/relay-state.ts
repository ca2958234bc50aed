// What the processes know about the relays: each delivery process reports their state, and every
// API process reads it. They count as down if all delivery processes seen recently report that none
// can take email.

import { bytesToUuid, newIdBytes } from '../ids.ts';
import type { Clock } from '../process/clock.ts';
import type { Log } from '../process/log.ts';
import { recurringFault } from '../process/recurring-fault.ts';
import { repeatedly } from '../process/repeatedly.ts';
import type { Database } from '../store/pool.ts';

const POLL_EVERY_MS = 200;
const TELL_EVERY_MS = 1000;
/** A dead or frozen process reports nothing; its last report counts no longer than this. */
const SEEN_LATELY_SECONDS = 5;

export interface RelayFinding {
  down: boolean;
  retryAfterMs: number;
  detail: string | null;
  /** The state of each of several. */
  relays: readonly RelayState[];
}

export interface RelayState {
  name: string;
  down: boolean;
  detail: string | null;
  /** Whether deliveries through it are ever reported; null: not known yet. */
  reports: boolean | null;
}

/**
 * The delivery side: reports the relay's state as seen by this process, at once when it changes and
 * every second as a sign of life.
 */
export function openRelayReporting(deps: { database: Database; clock: Clock; log: Log }) {
  const couldNotTell = recurringFault(deps.log, 'warn', 'could not record the state of the relay');
  const id = bytesToUuid(newIdBytes(deps.clock.nowMs()));
  let last: RelayFinding = { down: false, retryAfterMs: 0, detail: null, relays: [] };
  let telling: Promise<void> | undefined;
  let isNews = false;

  /** One report at a time, and always the newest: a slow database gets no outdated ones. */
  function tell(report: RelayFinding): Promise<void> {
    last = report;
    isNews = true;
    telling ??= tellNews().finally(() => {
      telling = undefined;
    });
    return telling;
  }
  async function tellNews(): Promise<void> {
    while (isNews) {
      isNews = false;
      await write(last).catch(couldNotTell);
    }
  }
  const write = ({ down, retryAfterMs, detail, relays }: RelayFinding): Promise<unknown> =>
    deps.database.query(
      `INSERT INTO delivery_processes (id, seen_at, relay_down, retry_at, detail, relays)
       VALUES ($1, now(), $2, now() + $3 * interval '1 millisecond', $4, $5)
       ON CONFLICT (id) DO UPDATE SET seen_at = excluded.seen_at, relay_down = excluded.relay_down,
         retry_at = excluded.retry_at, detail = excluded.detail, relays = excluded.relays`,
      [id, down, retryAfterMs, detail, JSON.stringify(relays)],
    );

  const timer = setInterval(() => void tell(last), TELL_EVERY_MS);
  return {
    tell,
    async close() {
      clearInterval(timer);
      await telling;
      await deps.database
        .query('DELETE FROM delivery_processes WHERE id = $1', [id])
        .catch(() => undefined);
    },
  };
}

/** The state of each relay as seen by the delivery processes that are alive, by name. */
export async function readRelayStates(database: Database): Promise<Map<string, RelayState[]>> {
  const rows = await database.query<RelayState>(
    `SELECT r.name, r.down, r.detail, r.reports
     FROM delivery_processes p, jsonb_to_recordset(p.relays)
       AS r (name text, down boolean, detail text, reports boolean)
     WHERE p.seen_at > now() - $1 * interval '1 second' ORDER BY p.id`,
    [SEEN_LATELY_SECONDS],
  );
  const states = new Map<string, RelayState[]>();
  for (const state of rows) states.set(state.name, [...(states.get(state.name) ?? []), state]);
  return states;
}

export async function countDeliveryProcesses(database: Database): Promise<number> {
  const [row] = await database.query<{ count: number }>(
    `SELECT count(*) FROM delivery_processes WHERE seen_at > now() - $1 * interval '1 second'`,
    [SEEN_LATELY_SECONDS],
  );
  return row?.count ?? 0;
}

export type RelayReporting = ReturnType<typeof openRelayReporting>;

export interface RelayWatch {
  isDown(): boolean;
  retryAfterSeconds(): number;
  close(): Promise<void>;
}

/**
 * The API side: polls several times a second, so that reading it on the hot path costs nothing.
 * While the delivery of this process can take email, the others are not asked: one is enough.
 */
export async function watchRelay(deps: {
  database: Database;
  log: Log;
  canTakeHere: () => boolean;
}): Promise<RelayWatch> {
  const couldNotAsk = recurringFault(deps.log, 'warn', 'could not read the state of the relay');
  let down = false;
  let retryAfterSeconds = 1;

  async function ask(): Promise<void> {
    if (deps.canTakeHere()) {
      down = false;
      return;
    }
    const [row] = await deps.database.prepared<{ down: boolean | null; wait: number | null }>(
      'watch-relay',
      `SELECT bool_and(relay_down) AS down, extract(epoch FROM min(retry_at) - now())::float8 AS wait
       FROM delivery_processes WHERE seen_at BETWEEN now() - $1 * interval '1 second' AND now() + $1 * interval '1 second'`,
      [SEEN_LATELY_SECONDS],
    );
    down = row?.down ?? false;
    retryAfterSeconds = Math.max(1, Math.ceil(row?.wait ?? 1));
  }

  await ask();
  const asking = repeatedly(POLL_EVERY_MS, ask, couldNotAsk);
  return {
    isDown: () => down,
    retryAfterSeconds: () => retryAfterSeconds,
    close: asking.stop,
  };
}
