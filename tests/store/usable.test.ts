// Databases that cannot be used: the service says why and what to do, without a stack.
import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, expect, inject, it } from 'vitest';
import { type Database, openDatabase } from '../../src/store/pool.ts';
import { databaseUrl } from '../support/global-setup.ts';
import { runCommand } from '../support/process.ts';

const name = `test_${randomBytes(8).toString('hex')}`;
let server: Database;

beforeAll(() => {
  server = openDatabase(inject('serverUrls')[0]!, { connections: 1, onIdleError: () => undefined });
});
afterAll(async () => {
  for (const kind of ['latin1', 'locked']) {
    await server.query(`DROP DATABASE IF EXISTS ${name}_${kind} WITH (FORCE)`);
  }
  await server.query(`DROP ROLE IF EXISTS ${name}_guest`);
  await server.close();
});

const serve = (url: string) =>
  runCommand(['serve'], { DATABASE_URL: url, PORT: '0', FEEDBACK_PORT: '0' });

it('one in LATIN1', async () => {
  await server.query(
    `CREATE DATABASE ${name}_latin1 ENCODING 'LATIN1' LOCALE_PROVIDER libc LC_COLLATE 'C' LC_CTYPE 'C' TEMPLATE template0`,
  );
  const { code, stdout, stderr } = await serve(
    databaseUrl(inject('serverUrls')[0]!, `${name}_latin1`),
  );
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
  expect(stderr).toMatch(/^The database "test_\w+_latin1" is in LATIN1.*ENCODING 'UTF8'.*\n$/);
});

it('one in which the user may create nothing', async () => {
  await server.query(`CREATE DATABASE ${name}_locked`);
  await server.query(`CREATE ROLE ${name}_guest LOGIN PASSWORD 'guest'`);
  const url = new URL(databaseUrl(inject('serverUrls')[0]!, `${name}_locked`));
  url.username = `${name}_guest`;
  url.password = 'guest';
  const { code, stderr } = await serve(url.href);
  expect(code).toBe(1);
  expect(stderr).toMatch(/^The user "test_\w+_guest" may not create tables .*GRANT ALL .*\n$/);
});
