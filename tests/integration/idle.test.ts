// A service with nothing to do costs what it asks its database several times a second.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestService, type TestService } from '../support/service.ts';
import { until } from '../support/until.ts';

let service: TestService;
beforeAll(async () => {
  service = await startTestService();
});
afterAll(() => service.stop());

interface Reads {
  /** By table. */
  of: Record<string, number>;
  atMs: number;
}

async function countReads(tables: readonly string[]): Promise<Reads> {
  const [row] = await service.database.query<Reads>(
    `SELECT jsonb_object_agg(relname, seq_scan + coalesce(idx_scan, 0)) AS of,
            extract(epoch FROM clock_timestamp())::float8 * 1000 AS "atMs"
     FROM pg_stat_user_tables WHERE relname = ANY ($1)`,
    [tables],
  );
  return row!;
}

test('it seldom looks for what it would know of: steps of the sandbox, and the relays of other processes', async () => {
  const tables = ['sandbox_acts', 'delivery_processes'];
  const first = await countReads(tables);
  // What a connection counted is up to a second old.
  const last = await until(async () => {
    const reads = await countReads(tables);
    return reads.atMs > first.atMs + 6_000 && reads;
  });
  const seconds = (last.atMs - first.atMs) / 1000;
  for (const table of tables) {
    expect((last.of[table]! - first.of[table]!) / seconds, table).toBeLessThan(2.5);
  }
});
