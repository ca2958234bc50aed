// A database of its own for a test file, cloned from the migrated template in a few milliseconds.
import { randomBytes } from 'node:crypto';
import { inject } from 'vitest';
import { type Database, openDatabase } from '../../src/store/pool.ts';
import { databaseUrl, TEMPLATE } from './global-setup.ts';

export interface TestDatabase {
  url: string;
  database: Database;
  drop(): Promise<void>;
}

export async function createTestDatabase(options: { empty?: boolean } = {}): Promise<TestDatabase> {
  const serverUrl = inject('serverUrl');
  const name = `test_${randomBytes(8).toString('hex')}`;
  const server = openDatabase(serverUrl, { connections: 1, onIdleError: () => undefined });
  await server.query(`CREATE DATABASE ${name}${options.empty ? '' : ` TEMPLATE ${TEMPLATE}`}`);
  const url = databaseUrl(serverUrl, name);
  const database = openDatabase(url, { connections: 8, onIdleError: () => undefined });
  return {
    url,
    database,
    async drop() {
      await database.close();
      await server.query(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
      await server.close();
    },
  };
}
