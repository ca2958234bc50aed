// Attempts without a final result: deferrals are recorded, and a connection that breaks after the
// email is reported as what it is: unknown.
import { afterEach, expect, it } from 'vitest';
import { changeAccount } from '../../src/accounts/accounts.ts';
import { registerMessage } from '../../src/cli/message.ts';
import { readUuid } from '../../src/ids.ts';
import { runInProcess } from '../support/command.ts';
import { type Peer, type ScriptedSmtp, scriptedSmtp } from '../support/scripted-smtp.ts';
import {
  anEmail,
  startTestService,
  type TestAccount,
  type TestService,
} from '../support/service.ts';
import { until } from '../support/until.ts';

let relay: ScriptedSmtp;
let service: TestService;
let account: TestAccount;
/** Message-IDs of the emails that came whole. */
let came: string[];

/**
 * The relay does as it is told with each email: takes it, defers the recipient, or cuts the line
 * after the final dot.
 */
async function start(behaviour: (n: number) => 'take' | 'defer' | 'cut'): Promise<void> {
  came = [];
  let emails = 0;
  relay = await scriptedSmtp((peer) => serve(peer, () => behaviour(emails++)));
  service = await startTestService({ RELAY_URL: `${relay.url}?tls=off` });
  account = await service.account();
}

async function serve(peer: Peer, next: () => 'take' | 'defer' | 'cut'): Promise<void> {
  peer.send('220 relay');
  // A probe hangs up right after the greeting.
  if ((await peer.line().catch(() => '')) === '') return;
  peer.send('250 relay');
  for (;;) {
    const line = await peer.line().catch(() => 'QUIT');
    if (line.startsWith('QUIT')) {
      peer.socket.destroy();
      return;
    }
    if (line.startsWith('RSET')) peer.send('250 reset');
    if (!line.startsWith('MAIL')) continue;
    peer.send('250 ok');
    const what = next();
    await peer.expect(/^RCPT/);
    if (what === 'defer') {
      peer.send('450 4.2.1 greylisted, come again');
      continue;
    }
    peer.send('250 ok');
    await peer.expect(/^DATA/);
    peer.send('354 go');
    came.push(/Message-ID: (\S+)/.exec(await peer.data())![1]!);
    if (what === 'cut') {
      peer.socket.destroy();
      return;
    }
    peer.send('250 2.0.0 taken');
  }
}
afterEach(async () => {
  await service.stop();
  await relay.close();
});

const send = async (): Promise<string> => (await service.send(account.key, anEmail())).body.id;
const read = async (id: string) => (await service.get(account.key, `/v1/messages/${id}`)).body;
const command = async (...args: string[]) =>
  await runInProcess(registerMessage, ['message', ...args], {
    DATABASE_URL: service.databaseUrl,
  });
const waiting = (id: string) =>
  until(async () => {
    const [row] = await service.database.query<{ unknown: string[] | null }>(
      `SELECT unknown FROM due_messages WHERE message_id = $1 AND state = 'waiting'`,
      [readUuid('msg_', id)],
    );
    return row;
  });
const hurry = () =>
  service.database.query(`UPDATE due_messages SET due_at = now() WHERE state = 'waiting'`);

it('each deferral is kept, and the timeline stays as it is', async () => {
  await start((n) => (n < 2 ? 'defer' : 'take'));
  const id = await send();
  await waiting(id);
  await hurry();
  await until(
    async () => (await service.database.query('SELECT FROM delivery_attempts')).length === 2,
  );
  await hurry();
  await until(async () => (await read(id)).status === 'sent');
  expect((await read(id)).events.map((it: { type: string }) => it.type)).toEqual(['sent']);
  const { attempts } = JSON.parse((await command('show', id, '--json')).stdout);
  expect(attempts).toMatchObject([
    {
      attempt: 1,
      server: '127.0.0.1',
      recipients: [
        {
          recipient: 'ada@example.net',
          result: 'deferred',
          reply: expect.stringContaining('450 4.2.1'),
        },
      ],
      next_at: expect.any(String),
    },
    { attempt: 2 },
  ]);
  const { stdout } = await command('show', id);
  expect(stdout).toMatch(
    /deferred {2}ada@example\.net, attempt 1 at 127\.0\.0\.1: 450 4\.2\.1 greylisted/,
  );
  expect(stdout.indexOf('attempt 2')).toBeLessThan(stdout.indexOf('sent  {'));
});

it('a line cut after the email is unknown, and sent again with the same Message-ID', async () => {
  await start((n) => (n === 0 ? 'cut' : 'take'));
  const id = await send();
  expect(await waiting(id)).toEqual({ unknown: ['ada@example.net'] });
  expect((await command('show', id)).stdout).toContain(
    'unknown whether the relay has it for ada@example.net',
  );
  expect(await (await fetch(`${service.url}/metrics`)).text()).toMatch(
    /^sandmartin_unknown_outcomes_total 1$/m,
  );
  await hurry();
  await until(async () => (await read(id)).status === 'sent');
  expect(came).toHaveLength(2);
  expect(new Set(came).size).toBe(1);
});

it('an account can have it counted as sent, and a person can still have it sent again', async () => {
  await start((n) => (n === 0 ? 'cut' : 'take'));
  await changeAccount(service.database, account.id, { unknownOutcome: 'count_as_sent' });
  const id = await send();
  await until(async () => (await read(id)).status === 'sent');
  expect((await read(id)).events).toMatchObject([
    { type: 'sent', recipients: ['ada@example.net'] },
  ]);
  expect(came).toHaveLength(1);
  expect((await command('resolve', id, '--as', 'again')).stdout).toContain('ada@example.net');
  await until(() => came.length === 2);
  await until(async () => (await read(id)).events.length === 2);
});

it('a person decides that it counts as sent: nothing goes out again', async () => {
  await start(() => 'cut');
  const id = await send();
  await waiting(id);
  expect((await command('resolve', id, '--as', 'sent')).stdout).toContain('Counts as sent');
  expect((await read(id)).status).toBe('sent');
  expect(await service.database.query('SELECT FROM due_messages')).toEqual([]);
  expect(came).toHaveLength(1);
  expect((await command('resolve', 'msg_00000000000000000000000000', '--as', 'sent')).code).toBe(1);
});
