// An upgrade while emails are sent: processes of the next version start one by one beside those of
// this one, the first of them migrates the database, then those of this version end. No send fails,
// and each email leaves once.
import {
  appendFileSync,
  cpSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { createTestDatabase } from '../support/database.ts';
import { type ServiceProcess, startProcess } from '../support/process.ts';
import { anEmail, makeAccount, request } from '../support/service.ts';
import { startSink } from '../support/smtp-sink.ts';
import { until } from '../support/until.ts';

const ROOT = join(import.meta.dirname, '../..');
const next = mkdtempSync(join(tmpdir(), 'sandmartin next version '));
afterAll(() => rmSync(next, { recursive: true, force: true }));

/**
 * This version with what a release brings: new columns on the busiest tables, and a changed
 * function.
 */
function makeNextVersion(): void {
  const isNeeded = (path: string) => !/\.map$|\.d\.ts$/.test(path);
  for (const part of ['bin', 'dist']) {
    cpSync(join(ROOT, part), join(next, part), { recursive: true, filter: isNeeded });
  }
  for (const part of ['catalog', 'docs', 'node_modules', 'openapi.json']) {
    symlinkSync(join(ROOT, part), join(next, part));
  }
  const about = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
  writeFileSync(join(next, 'package.json'), JSON.stringify({ ...about, version: '99.0.0' }));
  writeFileSync(
    join(next, 'dist/store/migrations/9001_of_the_next_version.sql'),
    `ALTER TABLE messages ADD COLUMN of_the_next text NOT NULL DEFAULT 'none';
     ALTER TABLE due_messages ADD COLUMN of_the_next text;`,
  );
  appendFileSync(join(next, 'dist/store/functions/accept_sends.sql'), '\n-- of the next version\n');
}

it('two versions on one database: no send fails, each email leaves once', {
  timeout: 240_000,
}, async () => {
  makeNextVersion();
  const test = await createTestDatabase();
  const sink = await startSink();
  const env = { DATABASE_URL: test.url, RELAY_URL: sink.url, RELAY_DOWN: 'queue' };
  const { key } = await makeAccount(test.database);
  /** Whom the load balancer asks, in turn. */
  let serving: ServiceProcess[] = [];
  const started: ServiceProcess[] = [];
  const start = async (root: string) => {
    const process = await startProcess(env, root);
    started.push(process);
    serving.push(process);
    return process;
  };
  const stop = async (process: ServiceProcess) => {
    serving = serving.filter((one) => one !== process);
    expect(await process.end('SIGTERM')).toBe(0);
  };

  const accepted: string[] = [];
  const refused: unknown[] = [];
  let done = false;
  const client = async () => {
    for (let turn = 0; !done; turn++) {
      const { status, body } = await request(`${serving[turn % serving.length]!.url}/v1/send`, {
        method: 'POST',
        headers: { 'x-api-key': key, 'content-type': 'application/json' },
        body: JSON.stringify(anEmail({ subject: `email ${accepted.length}` })),
      });
      if (status === 202) accepted.push(body.id);
      else refused.push({ status, body });
    }
  };
  const someMore = () => {
    const enough = accepted.length + 30;
    return until(() => accepted.length >= enough);
  };

  try {
    const before = await Promise.all([start(ROOT), start(ROOT)]);
    const clients = [client(), client(), client()];
    await someMore();
    await start(next);
    await someMore();
    await stop(before[0]!);
    await start(next);
    await stop(before[1]!);
    await someMore();
    done = true;
    await Promise.all(clients);

    expect(refused).toEqual([]);
    await until(() => sink.emails.length >= accepted.length);
    expect(sink.emails.map(({ envelopeId }) => envelopeId).sort()).toEqual(accepted.sort());
    const [row] = await test.database.query<{ count: number }>(
      `SELECT count(*) FROM messages WHERE of_the_next = 'none'`,
    );
    expect(Number(row!.count)).toBe(accepted.length);
    // Whoever goes back is told so instead of working on a database they do not know.
    await expect(start(ROOT)).rejects.toThrow(/newer Sandmartin/);
  } finally {
    done = true;
    await Promise.all(started.map((process) => process.end('SIGTERM')));
    await sink.stop();
    await test.drop();
  }
});
