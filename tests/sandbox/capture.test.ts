// How the sandbox captures an email: byte for byte, however long it is; a long one in slices, and
// nothing of one that breaks off.
import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { connect } from 'node:net';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { systemClock } from '../../src/process/clock.ts';
import { createLog } from '../../src/process/log.ts';
import { type SandboxRelay, startSandboxRelay } from '../../src/sandbox/relay.ts';
import { createRelay, type Relay } from '../../src/smtp/relay.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { until } from '../support/until.ts';

const MB = 1024 * 1024;
let test: TestDatabase;
let sandbox: SandboxRelay;
let relay: Relay;
beforeAll(async () => {
  test = await createTestDatabase();
  sandbox = await startSandboxRelay({
    ...{ database: test.database, clock: systemClock, log: createLog('silent') },
    ...{ returnPathKeys: [], trackingKeys: [], trackingUrl: () => 'http://a', player: undefined },
  });
  relay = createRelay({ url: sandbox.url, name: 'test' });
});
afterAll(async () => {
  await relay.close();
  await sandbox.stop();
  await test.drop();
});

const digest = (bytes: Buffer): string => createHash('md5').update(bytes).digest('hex');

/** Its first line is found in it, and others begin with dots. */
function emailOf(bytes: number): Buffer {
  const line = Buffer.from(`${randomBytes(30).toString('hex')}\r\n..${'x'.repeat(40)}\r\n`);
  const email = Buffer.alloc(bytes, line);
  email.write('Subject: Your code is 314159\r\n\r\n');
  email.write('\r\n', bytes - 2);
  return email;
}

it.each([
  ['a short one', 3000],
  ['one of exactly the beginning', MB],
  ['one byte more', MB + 1],
  ['a slice and a byte more', 9 * MB + 1],
])('%s', async (_, bytes) => {
  const email = emailOf(bytes);
  const envelope = { from: '', recipients: ['a@example.com'], envelopeId: `${bytes}` };
  const { recipients } = await relay.hand({ ...envelope, smtputf8: false }, [email]);
  expect(recipients[0]?.result).toBe('accepted');
  const stored = await test.database.query(
    `SELECT md5(raw) AS digest, octet_length(raw) AS bytes, subject, codes
     FROM sandbox_mails WHERE envelope_id = $1`,
    [`${bytes}`],
  );
  const found = { subject: 'Your code is 314159', codes: ['314159'] };
  expect(stored).toEqual([{ digest: digest(email), bytes, ...found }]);
});

it('one whose sender hangs up in the middle leaves nothing behind', async () => {
  const count = async () =>
    (await test.database.query<{ n: number }>('SELECT count(*)::int AS n FROM sandbox_mails'))[0]!
      .n;
  const open = async () =>
    (
      await test.database.query(
        "SELECT FROM pg_stat_activity WHERE datname = current_database() AND state LIKE 'idle in%'",
      )
    ).length;
  const before = await count();
  const socket = connect(Number(new URL(sandbox.url).port), '127.0.0.1');
  for (const line of ['EHLO a', 'MAIL FROM:<>', 'RCPT TO:<a@example.com>', 'DATA']) {
    await once(socket, 'data');
    socket.write(`${line}\r\n`);
  }
  await once(socket, 'data');
  socket.write(emailOf(2 * MB));
  await until(async () => (await open()) > 0);
  socket.destroy();
  await until(async () => (await open()) === 0);
  expect(await count()).toBe(before);
});
