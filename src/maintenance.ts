// Maintenance: partitions made ahead and dropped when old, expired idempotency keys and sandbox mails removed.
// Every process runs it; each step is safe to run anywhere at any time and does nothing when another just did it.
import type { Clock } from './clock.ts';
import type { Log } from './log.ts';
import { pruneCaptured } from './sandbox/inbox.ts';
import { dropOldPartitions, makePartitions, type Retention } from './store/partitions.ts';
import type { Database } from './store/pool.ts';

const EVERY_MS = 10 * 60_000;

export interface MaintenanceDeps {
  database: Database;
  clock: Clock;
  log: Log;
  retention: Retention;
}

export async function runMaintenance(deps: MaintenanceDeps): Promise<void> {
  const { database, clock } = deps;
  await makePartitions(database, clock.nowMs());
  const dropped = await dropOldPartitions(database, clock.nowMs(), deps.retention);
  if (dropped.length > 0) deps.log.info({ dropped }, 'dropped partitions past their days');
  await database.query(
    `DELETE FROM idempotency_keys WHERE created_at < now() - interval '24 hours'`,
  );
  await database.query(`DELETE FROM delivery_processes WHERE seen_at < now() - interval '1 hour'`);
  await pruneCaptured(database);
}

/** The first run is part of starting: without today's partitions nothing can be accepted. */
export async function startMaintenance(
  deps: MaintenanceDeps,
): Promise<{ stop: () => Promise<void> }> {
  await runMaintenance(deps);
  let running: Promise<void> | undefined;
  const timer = setInterval(() => {
    running ??= runMaintenance(deps)
      .catch((error) => deps.log.error({ err: error }, 'maintenance failed'))
      .finally(() => {
        running = undefined;
      });
  }, EVERY_MS);
  return {
    async stop() {
      clearInterval(timer);
      await running;
    },
  };
}
