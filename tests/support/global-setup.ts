// Once per test run: a real PostgreSQL (embedded, or TEST_DATABASE_URL) with a migrated template
// database to clone from. With TEST_CITUS=1 it is a Citus of three servers, and the template is
// distributed: any suite runs on it (npm run test:citus).
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { openEmbedded } from '../../src/store/embedded/open.ts';
import { migrate } from '../../src/store/migrate.ts';
import { makePartitions } from '../../src/store/partitions.ts';
import { openDatabase } from '../../src/store/pool.ts';
import { createCitusDatabase, startCluster } from './citus.ts';

declare module 'vitest' {
  export interface ProvidedContext {
    /** The first is the one that is asked; on Citus those of the nodes come behind it. */
    serverUrls: string[];
    /** When the machine stood still (stood-still.ts). */
    stillsFile: string;
  }
}

export const TEMPLATE = 'sandmartin_test_template';

/**
 * Nobody reads it after a crash: what only serves that is left out. Tests about crashes have
 * servers of their own.
 */
const SHORT_LIVED = {
  fsync: 'off',
  full_page_writes: 'off',
  wal_level: 'minimal',
  max_wal_senders: '0',
  max_wal_size: '4GB',
  autovacuum: 'off',
  scram_iterations: '1',
};

export default async function setup(project: TestProject) {
  buildWhenStale();
  const folder = mkdtempSync(join(tmpdir(), 'sandmartin-test-'));
  const stop =
    process.env.TEST_CITUS === undefined
      ? await onOneServer(project, folder)
      : await onCluster(project);
  const stopWatching = await watchForStills(project, join(folder, 'stills'));
  return async () => {
    stopWatching();
    await stop();
    rmSync(folder, { recursive: true, force: true });
  };
}

async function onOneServer(project: TestProject, folder: string) {
  const embedded =
    process.env.TEST_DATABASE_URL === undefined
      ? await openEmbedded(join(folder, 'postgres'), {
          as: 'owner',
          log: () => undefined,
          settings: { max_connections: '300', ...SHORT_LIVED },
        })
      : undefined;
  const serverUrl = process.env.TEST_DATABASE_URL ?? embedded!.url;
  if (embedded) await shortenLogins(embedded.url, join(folder, 'postgres/postgres/data'));
  await makeTemplate(serverUrl);
  project.provide('serverUrls', [serverUrl]);
  return async () => {
    await embedded?.stop();
  };
}

/**
 * The same password, said as it is and hashed once instead of 4096 times: a login was two fifths of
 * what a connection costs, and every service opens a dozen.
 */
async function shortenLogins(url: string, data: string): Promise<void> {
  const rules = join(data, 'pg_hba.conf');
  writeFileSync(rules, readFileSync(rules, 'utf8').replaceAll('scram-sha-256', 'password'));
  const server = openDatabase(url, { connections: 1, onIdleError: () => undefined });
  await server.query(`ALTER ROLE CURRENT_USER PASSWORD '${new URL(url).password}'`);
  await server.query('SELECT pg_reload_conf()');
  await server.close();
}

/** Says at the end how often and how long. */
async function watchForStills(project: TestProject, file: string): Promise<() => void> {
  writeFileSync(file, '');
  const script = join(import.meta.dirname, 'stood-still-watch.ts');
  const [url] = project.getProvidedContext().serverUrls;
  const watch = spawn(process.execPath, ['--import', 'tsx', script, url!, file], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  await once(watch.stdout!, 'data');
  project.provide('stillsFile', file);
  return () => {
    watch.kill();
    const lengths = readFileSync(file, 'utf8')
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => line.split(' ').map(Number))
      .map(([beganMs, endedMs]) => `${((endedMs! - beganMs!) / 1000).toFixed(1)} s`);
    if (lengths.length > 0)
      console.info(`The machine stood still ${lengths.length} times: ${lengths.join(', ')}.`);
  };
}

async function onCluster(project: TestProject) {
  const cluster = await startCluster();
  const { database } = await createCitusDatabase(cluster, TEMPLATE);
  await database.close();
  const urls = [cluster.coordinator, ...cluster.nodes].map(({ url }) => url);
  for (const url of urls) {
    const server = openDatabase(url, { connections: 1, onIdleError: () => undefined });
    // Citus' own connections would stand in the way of copies.
    await server.query(`ALTER DATABASE ${TEMPLATE} ALLOW_CONNECTIONS false`);
    await server.query(
      'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = $1',
      [TEMPLATE],
    );
    await server.close();
  }
  project.provide('serverUrls', urls);
  return () => cluster.stop();
}

/** Tests that start processes run what was built; after a change of a source that is made again. */
export function buildWhenStale(): void {
  const root = join(import.meta.dirname, '../..');
  const built = join(root, 'dist/cli/main.js');
  const newest = Math.max(
    ...readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' }).map(
      (file) => statSync(join(root, 'src', file)).mtimeMs,
    ),
  );
  if (existsSync(built) && statSync(built).mtimeMs > newest) return;
  const compile = [join(root, 'scripts/compile.js'), '--noCheck'];
  execFileSync(process.execPath, compile, { stdio: 'inherit' });
}

async function makeTemplate(serverUrl: string): Promise<void> {
  const options = { connections: 4, onIdleError: () => undefined };
  const server = openDatabase(serverUrl, options);
  await server.query(`DROP DATABASE IF EXISTS ${TEMPLATE} WITH (FORCE)`);
  await server.query(`CREATE DATABASE ${TEMPLATE}`);
  await server.close();
  const template = openDatabase(databaseUrl(serverUrl, TEMPLATE), options);
  await migrate(template);
  await makePartitions(template, Date.now());
  await template.close();
}

export function databaseUrl(serverUrl: string, name: string): string {
  const url = new URL(serverUrl);
  url.pathname = `/${name}`;
  return url.href;
}
