// sandmartin approval: a held email is listed, read and decided at a terminal, by the SHA-256 of
// what was seen.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createKey } from '../../src/accounts/keys.ts';
import { registerApproval } from '../../src/cli/approval.ts';
import { registerKey } from '../../src/cli/key.ts';
import { readUuid } from '../../src/ids.ts';
import { systemClock } from '../../src/process/clock.ts';
import { runInProcess } from '../support/command.ts';
import {
  anEmail,
  startTestService,
  type TestAccount,
  type TestService,
} from '../support/service.ts';
import { until } from '../support/until.ts';

let service: TestService;
let account: TestAccount;
let agent: string;
beforeAll(async () => {
  service = await startTestService();
  account = await service.account();
  const { key } = await createKey(service.database, systemClock, {
    ...{ accountId: account.id, scopes: ['email:send'], limits: { approval: 'always' } },
  });
  agent = key;
});
afterAll(() => service.stop());

const run = (...args: string[]) =>
  runInProcess(registerApproval, ['approval', ...args, '--account', String(account.id)], {
    DATABASE_URL: service.databaseUrl,
  });
const hold = async (changes = {}): Promise<string> =>
  (await service.send(agent, anEmail(changes))).body.id;
const read = async (id: string) => (await service.get(account.key, `/v1/messages/${id}`)).body;
const hashOf = async (id: string): Promise<string> =>
  JSON.parse((await run('show', id, '--json')).stdout).sha256;

it('lists and shows what waits, and nothing in it steers the terminal', async () => {
  const id = await hold({
    subject: 'Pay\u202e now',
    text: 'Line\u001b[2Jone',
    cc: ['b@example.net'],
  });
  const list = await run('list');
  expect(list.stdout).toMatch(new RegExp(`^ID .*\\n.*${id}.*ada@example.net b@example.net`));
  const { stdout } = await run('show', id);
  for (const part of ['State: waiting', 'Held by: always', 'Cc: b@example.net', 'Line [2Jone']) {
    expect(stdout).toContain(part);
  }
  expect(stdout).toContain(`SHA-256: ${await hashOf(id)}`);
  expect(list.stdout + stdout).not.toMatch(/[\u001b\u202e]/);
  expect(JSON.parse((await run('list', '--json')).stdout)[0]).toMatchObject({ sm_mail_id: id });
});

it('approves exactly what was seen, and says who did', async () => {
  const id = await hold();
  const other = await run('approve', id, '--sha256', 'a'.repeat(64));
  expect([other.code, other.stderr]).toEqual([1, expect.stringContaining('not what you saw')]);
  const short = await run('approve', id, '--sha256', 'abc');
  expect([short.code, short.stderr]).toEqual([1, expect.stringContaining('64 hexadecimal')]);
  await expect(run('approve', id)).rejects.toThrow(/required option '--sha256/);
  expect((await read(id)).held).toBeDefined();
  const done = await run('approve', id, '--sha256', (await hashOf(id)).toUpperCase());
  expect(done).toEqual({ code: 0, stdout: `${id} is approved and will be sent.\n`, stderr: '' });
  await until(async () => (await read(id)).status === 'delivered');
  expect((await read(id)).approval).toMatchObject({ state: 'approved', by: 'a command' });
  const [audit] = await service.database.query(
    `SELECT actor_kind, door, after->>'state' AS state FROM audit WHERE target = $1`,
    [id],
  );
  expect(audit).toEqual({ actor_kind: 'command', door: 'cli', state: 'approved' });
});

it('declines permanently, and reports what expired or does not exist', async () => {
  const id = await hold();
  const sha256 = await hashOf(id);
  expect((await run('decline', id, '--sha256', sha256)).stdout).toBe(
    `${id} is declined: nobody receives it.\n`,
  );
  const late = await run('approve', id, '--sha256', sha256);
  expect([late.code, late.stderr]).toEqual([1, expect.stringContaining('was declined')]);
  const old = await hold();
  const oldHash = await hashOf(old);
  await service.database.query(
    `UPDATE approvals SET expires_at = now() - interval '1 second' WHERE message_id = $1`,
    [readUuid('msg_', old)],
  );
  const lapsed = await run('approve', old, '--sha256', oldHash);
  expect([lapsed.code, lapsed.stderr]).toEqual([1, expect.stringContaining('expired')]);
  expect((await run('show', 'msg_0000000000000000000000000A')).code).toBe(1);
  const sent = (await service.send(account.key, anEmail())).body.id;
  expect((await run('show', sent)).stderr).toMatch(/No email .* is waiting/);
});

it('key create --approval makes a key whose email waits', async () => {
  const made = await runInProcess(
    registerKey,
    [
      'key',
      'create',
      '--account',
      String(account.id),
      '--approval',
      'always',
      '--scope',
      'email:send',
      '--json',
    ],
    { DATABASE_URL: service.databaseUrl },
  );
  const { key, secret } = JSON.parse(made.stdout);
  const { body } = await service.send(secret ?? key, anEmail());
  expect((await read(body.id)).held).toMatchObject({ reason: 'always' });
});
