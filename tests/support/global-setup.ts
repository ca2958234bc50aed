// Once per test run: a real PostgreSQL (embedded, or TEST_DATABASE_URL) with a migrated template database to clone from.
import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { openEmbedded } from '../../src/store/embedded/open.ts';
import { migrate } from '../../src/store/migrate.ts';
import { makePartitions } from '../../src/store/partitions.ts';
import { openDatabase } from '../../src/store/pool.ts';

declare module 'vitest' {
  export interface ProvidedContext {
    serverUrl: string;
  }
}

export const TEMPLATE = 'sandmartin_test_template';

export default async function setup(project: TestProject) {
  buildWhenStale();
  const folder = mkdtempSync(join(tmpdir(), 'sandmartin-test-'));
  const embedded =
    process.env.TEST_DATABASE_URL === undefined
      ? await openEmbedded(folder, {
          as: 'owner',
          log: () => undefined,
          settings: { max_connections: '300' },
        })
      : undefined;
  const serverUrl = process.env.TEST_DATABASE_URL ?? embedded!.url;
  await makeTemplate(serverUrl);
  project.provide('serverUrl', serverUrl);
  return async () => {
    await embedded?.stop();
    rmSync(folder, { recursive: true, force: true });
  };
}

/** Tests that start processes run what was built; after a change of a source that is made anew. */
export function buildWhenStale(): void {
  const root = join(import.meta.dirname, '../..');
  const built = join(root, 'dist/cli/main.js');
  const newest = Math.max(
    ...readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' }).map(
      (file) => statSync(join(root, 'src', file)).mtimeMs,
    ),
  );
  if (existsSync(built) && statSync(built).mtimeMs > newest) return;
  const tsc = join(root, 'node_modules/typescript/bin/tsc');
  execFileSync(process.execPath, [tsc, '-p', 'tsconfig.build.json'], {
    cwd: root,
    stdio: 'inherit',
  });
  for (const folder of ['migrations', 'functions']) {
    rmSync(join(root, 'dist/store', folder), { recursive: true, force: true });
    cpSync(join(root, 'src/store', folder), join(root, 'dist/store', folder), { recursive: true });
  }
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
