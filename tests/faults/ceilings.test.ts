// One ceiling for any single input: the event loop is never blocked for 100 ms of work, and memory
// grows by at most 64 MB beyond the input itself, which exists once. Large sends and batches,
// delivering them and reading them back. On the built program, as a process of its own; each of the
// largest inputs meets a fresh one, in which earlier inputs have left nothing.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createKey } from '../../src/accounts/keys.ts';
import { systemClock } from '../../src/process/clock.ts';
import { logIn } from '../submission/client.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { inFull } from '../support/longer.ts';
import { freePort } from '../support/process.ts';
import { anEmail, makeAccount, type TestAccount } from '../support/service.ts';
import { until } from '../support/until.ts';
import { startWatched, type WatchedProcess } from '../support/watched-process.ts';
import { fromTemplate } from '../templates/support.ts';

const MB = 1024 * 1024;
const repeated = (piece: string, bytes: number): string =>
  piece.repeat(Math.floor(bytes / Buffer.byteLength(piece)));

let test: TestDatabase;
let service: WatchedProcess;
let account: TestAccount;
let smtpPort: number;
beforeAll(async () => {
  test = await createTestDatabase();
  smtpPort = await freePort();
  service = await startWatched({
    DATABASE_URL: test.url,
    ROLES: 'api',
    SMTP_PORT: String(smtpPort),
  });
  account = await makeAccount(test.database, {
    scopes: ['email:send', 'email:read', 'messages:read'],
    dailyQuota: 1_000_000,
  });
  for (let n = 0; n < 20; n++) await ask('/v1/send', welcome());
  await ask('/v1/send', anEmail({ text: repeated('warm ', 2 * MB) }));
});
afterAll(async () => {
  await service.end('SIGTERM');
  await test.drop();
});

/** Posts where there is a body. */
async function ask(
  path: string,
  body?: unknown,
  { url }: Pick<WatchedProcess, 'url'> = service,
  { key }: Pick<TestAccount, 'key'> = account,
): Promise<{ status: number; text: string }> {
  const response = await fetch(`${url}${path}`, {
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    ...(body === undefined
      ? {}
      : { method: 'POST', body: typeof body === 'string' ? body : JSON.stringify(body) }),
  });
  return { status: response.status, text: await response.text() };
}

const welcome = (variables: Record<string, unknown> = {}, changes = {}) =>
  fromTemplate(
    'welcome',
    { name: 'Ada', action_url: 'https://example.com/', ...variables },
    changes,
  );

/** `bytes`: what the input itself weighs. */
async function expectCeiling(bytes: number, work: () => Promise<unknown>): Promise<void> {
  const { stands, grewMb } = await service.watch(work);
  expect(stands).toEqual([]);
  expect(grewMb).toBeLessThan(64 + bytes / MB);
}

/** What 25 MB take of whole pages, with what the allocator keeps of them. */
const LARGEST_MB = 32;
/** A send stands there as text and as bytes; 49 to 69 MB were measured. */
const SENT_MB = 64 + LARGEST_MB / 2;
const file = (bytes: number) => ({
  filename: 'a.bin',
  content_type: 'application/octet-stream',
  content_base64: repeated('AbCd', bytes),
});

const LARGEST: Record<string, () => Record<string, unknown>> = {
  'a file of 18 MB': () => ({ attachments: [file(24 * MB)] }),
  'Japanese HTML': () => ({ html: repeated('<p>注文番号をご確認ください。</p>\n', 20 * MB) }),
  'HTML of links': () => ({ html: repeated('<a href=https://example.com/?a=1>x</a>\n', 24 * MB) }),
  'a line of text': () => ({ text: repeated('word é', 24 * MB) }),
};

// Those that take the most; a file of 18 MB goes all the way below.
describe.each(inFull(Object.keys(LARGEST), ['HTML of links', 'a line of text']))('%s', (name) => {
  let fresh: WatchedProcess;
  let id: string;
  beforeAll(async () => {
    fresh = await startWatched({ DATABASE_URL: test.url, ROLES: 'api' });
    for (let n = 0; n < 20; n++) await ask('/v1/send', welcome(), fresh);
    await ask('/v1/send', anEmail({ text: repeated('warm ', 2 * MB) }), fresh);
  });
  afterAll(() => fresh.end('SIGTERM'));

  it('is sent', async () => {
    const body = JSON.stringify(anEmail(LARGEST[name]!()));
    const { stands, aboveFirstMb } = await fresh.watch(async () => {
      const { status, text } = await ask('/v1/send', body, fresh);
      expect(status).toBe(202);
      id = JSON.parse(text).id;
    });
    expect(stands).toEqual([]);
    expect(aboveFirstMb).toBeLessThan(SENT_MB);
  });

  it.each(['content', 'source', 'attachments/0'])('is read: %s', async (part) => {
    const { stands, grewMb } = await fresh.watch(async () => {
      const { status, text } = await ask(`/v1/messages/${id}/${part}`, undefined, fresh);
      expect([200, 404]).toContain(status);
      JSON.parse(text);
    });
    expect(stands).toEqual([]);
    expect(grewMb).toBeLessThan(64 + 24);
  });
});

describe('taken, delivered into the sandbox, reported and opened by a script', () => {
  const ways = ['a file of 18 MB', 'HTML of links'];
  it.each(inFull([...ways, 'a line of text'], ways))('%s', async (name) => {
    const own = await createTestDatabase();
    const all = await startWatched({ DATABASE_URL: own.url });
    try {
      const sender = await makeAccount(own.database);
      const of = (table: string) => own.database.query(`SELECT FROM ${table}`);
      const isQuiet = async () =>
        (await of('due_messages')).length === 0 && (await of('sandbox_acts')).length === 0;
      const to = ['clicked@simulator.test'];
      for (let n = 0; n < 20; n++) await ask('/v1/send', anEmail({ to }), all, sender);
      await until(isQuiet);
      const body = JSON.stringify(anEmail({ ...LARGEST[name]!(), to }));
      const { stands, aboveFirstMb } = await all.watch(async () => {
        expect((await ask('/v1/send', body, all, sender)).status).toBe(202);
        await until(isQuiet);
      });
      expect(stands).toEqual([]);
      expect(aboveFirstMb).toBeLessThan(64 + body.length / MB);
    } finally {
      await all.end('SIGTERM');
      await own.drop();
    }
  });
});

describe('refused, or made small', () => {
  it.each<[string, string, () => unknown]>([
    [
      '1.5 million fields',
      '/v1/send',
      () => `{${Array.from({ length: 1_500_000 }, (_, n) => `"f${n}":1`).join(',')}}`,
    ],
    ['25 MB of brackets', '/v1/send', () => '['.repeat(25 * MB)],
    ['the same through Resend’s door', '/emails', () => '['.repeat(25 * MB)],
    [
      '95,000 numbers',
      '/v1/send',
      () => welcome({ a: Array.from({ length: 95_000 }, (_, n) => `${n}`.padStart(18, '9')) }),
    ],
    [
      '100 × 240 KB of text',
      '/v1/send/batch',
      () => Array.from({ length: 100 }, () => anEmail({ text: 'x'.repeat(240_000) })),
    ],
    [
      '90 × 250 KB of a subject that may read a variable',
      '/v1/send/batch',
      () => {
        const subject = `{{ '${'a '.repeat(125_000)}'|length }}`;
        return Array.from({ length: 90 }, (_, n) => welcome({ v: n }, { subject }));
      },
    ],
    [
      '100 × 400 variables',
      '/v1/send/batch',
      () => {
        const many = Object.fromEntries(Array.from({ length: 400 }, (_, n) => [`v${n}`, 'x']));
        return Array.from({ length: 100 }, () => welcome(many));
      },
    ],
  ])('%s', async (_, path, make) => {
    const made = make();
    const body = typeof made === 'string' ? made : JSON.stringify(made);
    await expectCeiling(body.length, async () => {
      expect([202, 400, 422, 429]).toContain((await ask(path, body)).status);
    });
  });
});

it('24 MB of character references, looked through for links because of a rule of the key', async () => {
  const limited = await createKey(test.database, systemClock, {
    accountId: account.id,
    scopes: ['email:send'],
    limits: { linkHosts: ['example.com'] },
  });
  const body = JSON.stringify(anEmail({ html: repeated(`${'&#x41;'.repeat(500)} `, 24 * MB) }));
  const sends = async (): Promise<void> => {
    expect((await ask('/v1/send', body, service, limited)).status).toBe(202);
  };
  await expectCeiling(body.length, sends);
});

it('100 hostile subjects', async () => {
  const subject = "{{ (['A'*900000]*100000)|sort|length }}";
  const body = Array.from({ length: 100 }, () => welcome({}, { subject }));
  await expectCeiling(0, async () => {
    expect((await ask('/v1/send/batch', body)).status).toBe(400);
  });
});

describe('by SMTP', () => {
  const part = (encoding: string, disposition: string): string =>
    [
      'From: hello@example.com',
      'To: ada@example.net',
      'Subject: Hello',
      'MIME-Version: 1.0',
      'Content-Type: text/html; charset=iso-2022-jp',
      `Content-Disposition: ${disposition}`,
      `Content-Transfer-Encoding: ${encoding}`,
      '',
      '',
    ].join('\r\n');
  it.each<[string, string, string]>([
    ['24 MB of quoted-printable', part('quoted-printable', 'inline'), '=E3=81'.repeat(12)],
    [
      'a file of 24 MB in quoted-printable',
      part('quoted-printable', 'attachment; filename=a'),
      '=E3=81'.repeat(12),
    ],
    ['a file of 24 MB in base64', part('base64', 'attachment; filename=a'), 'AbCd'.repeat(19)],
  ])(
    '%s',
    async (_, head, line) => {
      const client = await logIn(smtpPort, account.key);
      await client.say('MAIL FROM:<hello@example.com>');
      await client.say('RCPT TO:<ada@example.net>');
      await client.say('DATA');
      let id: string | undefined;
      await expectCeiling(24 * MB, async () => {
        client.send(`${head}${repeated(`${line}\r\n`, 24 * MB)}.\r\n`);
        id = /msg_\w+/.exec(await client.reply())?.[0];
      });
      client.socket.destroy();
      for (const read of ['content', 'source', 'attachments/0']) {
        await expectCeiling(24 * MB, async () => {
          expect([200, 404]).toContain((await ask(`/v1/messages/${id}/${read}`)).status);
        });
      }
    },
    240_000,
  );
});
