// A database of its own for a test file, cloned from the migrated template in a few milliseconds.
import { randomBytes } from 'node:crypto';
import { inject } from 'vitest';
import { createLog } from '../../src/process/log.ts';
import { withPlaces } from '../../src/store/places.ts';
import { type Database, openDatabase } from '../../src/store/pool.ts';
import { databaseUrl, TEMPLATE } from './global-setup.ts';
import { until } from './until.ts';

export interface TestDatabase {
  url: string;
  database: Database;
  drop(): Promise<void>;
}

export async function createTestDatabase(options: { empty?: boolean } = {}): Promise<TestDatabase> {
  const urls = inject('serverUrls');
  const name = `test_${randomBytes(8).toString('hex')}`;
  const servers = urls.map((url) =>
    openDatabase(url, { connections: 1, onIdleError: () => undefined }),
  );
  // Files are copied in half the time that writing them to the log takes.
  const copied = options.empty ? '' : ` TEMPLATE ${TEMPLATE} STRATEGY FILE_COPY`;
  await Promise.all(servers.map((server) => server.query(`CREATE DATABASE ${name}${copied}`)));
  const url = databaseUrl(urls[0]!, name);
  const plain = openDatabase(url, { connections: 8, onIdleError: () => undefined });
  const database =
    urls.length === 1
      ? plain
      : await withPlaces({
          database: plain,
          openNode: ({ host, port }) => {
            const at = new URL(url);
            at.host = `${host}:${port}`;
            return openDatabase(at.href, { connections: 4, onIdleError: () => undefined });
          },
          log: createLog('silent'),
        });
  return {
    url,
    database,
    async drop() {
      await database.close();
      for (const server of servers) {
        // Citus starts a process of its own for each database, and may not have begun to: one that
        // comes while a database is dropped is not ended with the others.
        await until(() => server.query(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`));
        await server.close();
      }
    },
  };
}
