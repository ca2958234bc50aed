// Statements that wait for a lock, on any of the database's servers: on a cluster they wait on the
// nodes.
import type { Database } from '../../src/store/pool.ts';

/** How many there are, of those that contain these words and have run for so long. */
export async function countLockWaits(
  database: Database,
  { words = '', forMs = 0 }: { words?: string; forMs?: number } = {},
): Promise<number> {
  const servers = new Set([database, ...database.nodes().map((node) => node.database)]);
  const counts = await Promise.all(
    [...servers].map((server) =>
      server.query<{ count: number }>(
        `SELECT count(*)::int AS count FROM pg_stat_activity
         WHERE datname = current_database() AND wait_event_type = 'Lock'
           AND query LIKE '%' || $1 || '%'
           AND clock_timestamp() - query_start >= $2 * interval '1 ms'`,
        [words, forMs],
      ),
    ),
  );
  return counts.reduce((sum, [row]) => sum + row!.count, 0);
}
