// What once stopped the service, and the doors added since, attacked from outside: over real
// sockets, on the built program. Nothing ends in a 500, the event loop is never blocked, another
// account is served throughout, and memory stays bounded.
import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { showUuid } from '../../src/ids.ts';
import { head, openLine } from '../http/sockets.ts';
import { rpc } from '../mcp/support.ts';
import { logIn, openSmtp } from '../submission/client.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { freePort } from '../support/process.ts';
import { anEmail, makeAccount, request, type TestAccount } from '../support/service.ts';
import { until } from '../support/until.ts';
import { startWatched, type WatchedProcess } from '../support/watched-process.ts';
import { fromTemplate } from '../templates/support.ts';

let test: TestDatabase;
let service: WatchedProcess;
let attacker: TestAccount;
let bystander: TestAccount;
let smtpPort: number;
let feedbackPort: number;
beforeAll(async () => {
  test = await createTestDatabase();
  [smtpPort, feedbackPort] = [await freePort(), await freePort()];
  service = await startWatched({
    DATABASE_URL: test.url,
    SMTP_PORT: String(smtpPort),
    FEEDBACK_PORT: String(feedbackPort),
    BOUNCE_DOMAIN: 'bounce.example',
    // Large emails on a busy machine look to the relay's circuit like a relay that hangs.
    RELAY_DOWN: 'queue',
  });
  attacker = await makeAccount(test.database, {
    scopes: ['email:send', 'email:read', 'sandbox:read', 'messages:read'],
  });
  bystander = await makeAccount(test.database);
  for (const account of [attacker, bystander]) await post(account, '/v1/send', welcome());
});
afterAll(async () => {
  await service.end('SIGTERM');
  await test.drop();
});

const welcome = (changes = {}) =>
  fromTemplate('welcome', { name: 'Ada', action_url: 'https://example.com/' }, changes);

async function post(account: TestAccount, path: string, body: unknown): Promise<number> {
  const answer = await fetch(`${service.url}${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${account.key}`, 'content-type': 'application/json' },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });
  await answer.text();
  return answer.status;
}

/** What any single input may take beside its own weight. */
const MOST_MB = 64;

/** While it goes on, another account sends. */
async function expectUnmoved(attack: () => Promise<unknown>, mostMb = MOST_MB): Promise<void> {
  const { stands, grewMb } = await service.watch(async () => {
    let over = false;
    const attacked = attack().finally(() => {
      over = true;
    });
    attacked.catch(() => undefined);
    do expect(await post(bystander, '/v1/send', welcome())).toBe(202);
    while (!over);
    await attacked;
  });
  expect(stands).toEqual([]);
  expect(grewMb).toBeLessThan(mostMb);
  expect(service.child.exitCode).toBeNull();
}

const nested = (depth: number, open: string, close: string): string =>
  open.repeat(depth) + close.repeat(depth);

describe('HTML, through every door that takes it', () => {
  const HTML: Record<string, string> = {
    'spaces in <pre>': `<pre>${' '.repeat(30_000)}</pre>`,
    'blockquotes in one another': `${'<blockquote>'.repeat(150)}${'word '.repeat(5000)}`,
    'a prototype as text': '<p data-text="__proto__">x</p><a data-text="__proto__" href="#">x</a>',
    'tags that never close': '<a href="'.repeat(20_000),
    'a hundred thousand links': '<a href="https://example.com/">x</a>'.repeat(7000),
  };
  it.each(Object.keys(HTML))('%s', async (name) => {
    const html = HTML[name]!;
    const resend = { from: 'hello@example.com', to: 'ada@example.net', subject: 'x', html };
    await expectUnmoved(async () => {
      const answers = [
        await post(attacker, '/v1/send', anEmail({ html, text: undefined })),
        await post(
          attacker,
          '/v1/send/batch',
          new Array(5).fill(anEmail({ html, text: undefined })),
        ),
        await post(attacker, '/emails', resend),
        await post(attacker, '/emails/batch', [resend]),
      ];
      for (const status of answers) expect([200, 202, 400, 422]).toContain(status);
    });
  });
});

describe('JSON', () => {
  it.each<[string, string]>([
    ['variables nested 5,000 deep', `{"variables":${nested(5000, '[', ']')}}`],
    ['objects nested 5,000 deep', `{"a":${nested(5000, '{"a":', '}').replace('}', '1}')}}`],
    ['a NUL in a tag', JSON.stringify(anEmail({ tags: ['a\0b'] }))],
    ['half a pair', JSON.stringify(anEmail({ subject: '\ud800' }))],
    ['a prototype', '{"__proto__":{"to":["a@example.net"]},"constructor":1}'],
    ['a list of 100,000 lists', `[${new Array(100_000).fill('[]').join(',')}]`],
  ])('%s', async (_, body) => {
    await expectUnmoved(async () => {
      for (const path of ['/v1/send', '/v1/send/batch', '/emails', '/emails/batch', '/mcp']) {
        expect([400, 406, 422]).toContain(await post(attacker, path, body));
      }
    });
  });
});

describe('HTML for which Resend’s door writes a text', () => {
  it.each(['<li>a ', '<br>', '<table><tr><td>a'])('256 KB of %s', async (piece) => {
    const html = piece.repeat(Math.floor((256 * 1024) / piece.length));
    const one = { from: 'hello@example.com', to: 'ada@example.net', subject: 'x', html };
    for (const [path, body] of [
      ['/emails', one],
      ['/emails/batch', new Array(5).fill(one)],
    ] as const) {
      await expectUnmoved(async () => {
        expect([200, 422, 429]).toContain(await post(attacker, path, body));
      });
    }
  });
});

it('a tool call of 20 MB that is refused, in words about what it said', async () => {
  const html = `<p>${'word '.repeat(4 * 1024 * 1024)}</p>`;
  const args = anEmail({ html, to: ['not an address'], variables: { a: 1 } });
  const call = rpc('modern', 'tools/call', { name: 'send_email', arguments: args });
  const body = JSON.stringify(call.body);
  await expectUnmoved(
    async () => {
      const { status } = await request(`${service.url}/mcp`, {
        method: 'POST',
        headers: { ...call.headers, 'x-api-key': attacker.key },
        body,
      });
      expect(status).toBe(200);
    },
    MOST_MB + body.length / (1024 * 1024),
  );
});

it('four connections of refused renders', async () => {
  const refused = welcome({ subject: "{{ ('a'*900000)|upper|length }}{{ 1/0 }}" });
  const flood = async () => {
    for (let n = 0; n < 25; n++) {
      expect([400, 429, 503]).toContain(await post(attacker, '/v1/send', refused));
    }
  };
  await expectUnmoved(() => Promise.all([flood(), flood(), flood(), flood()]));
});

it('4,000 requests in a row whose answers nobody reads', async () => {
  await expectUnmoved(async () => {
    const socket = connect(Number(new URL(service.url).port), '127.0.0.1').pause();
    socket.on('error', () => undefined);
    socket.write(head('GET /openapi.json').repeat(4000));
    // As long as it takes to serve others some.
    for (let n = 0; n < 20; n++) await post(bystander, '/v1/send', welcome());
    socket.destroy();
  });
});

describe('emails of 8 MB', () => {
  const READERS = 25;
  const to = ['read@example.net'];
  let id: string;
  beforeAll(async () => {
    const html = '<p>word</p>'.repeat((8 * 1024 * 1024) / 11);
    for (let n = 0; n < 4; n++) await post(attacker, '/v1/send', anEmail({ html, to }));
    const [row] = await test.database.query<{ id: string }>(
      'SELECT message_id AS id FROM contents ORDER BY octet_length(html) DESC NULLS LAST LIMIT 1',
    );
    id = showUuid('msg_', row!.id);
  });

  it.each(['content', 'source'])('asked for by many who read nothing: %s', async (part) => {
    await expectUnmoved(async () => {
      const lines = await Promise.all(
        Array.from({ length: READERS }, async () => {
          const line = await openLine(service.url);
          line.socket.pause();
          line.send(head(`GET /v1/messages/${id}/${part}`, `x-api-key: ${attacker.key}`));
          return line;
        }),
      );
      for (let n = 0; n < 20; n++) await post(bystander, '/v1/send', welcome());
      for (const { socket } of lines) socket.destroy();
    }, MOST_MB + 32);
  });

  it('exported, page by page', async () => {
    const pages: number[] = [];
    await expectUnmoved(async () => {
      let next: string | null = '';
      while (next !== null) {
        const cursor: string = next === '' ? '' : `&cursor=${next}`;
        const path = `/v1/recipients/${to[0]}?limit=100${cursor}`;
        const { status, body } = await request(service.url + path, {
          headers: { authorization: `Bearer ${attacker.key}` },
        });
        expect(status).toBe(200);
        pages.push(body.data.length);
        ({ next } = body);
      }
    }, MOST_MB + 32);
    expect(pages).toEqual([1, 1, 1, 1]);
  });

  it('sent again by many at once', async () => {
    await expectUnmoved(async () => {
      const again = () => post(attacker, `/v1/messages/${id}/send-again`, {});
      for (const status of await Promise.all(Array.from({ length: 10 }, again))) {
        expect([202, 429, 503]).toContain(status);
      }
    }, MOST_MB + 32);
  });
});

describe('pages for anyone', () => {
  const TOKENS = ['x', 'a'.repeat(7000), '%00', '..%2f..', '%F0%9F', 'A'.repeat(64), '__proto__'];
  it.each(['/u/', '/c/', '/o/', '/preferences/', '/verify/', '/dashboard/'])('%s', async (path) => {
    await expectUnmoved(async () => {
      for (const token of TOKENS) {
        for (const method of ['GET', 'POST']) {
          const form = 'application/x-www-form-urlencoded';
          const answer = await fetch(`${service.url}${path}${token}?a=${token}`, {
            method,
            redirect: 'manual',
            ...(method === 'POST' && {
              headers: { 'content-type': form },
              body: 'List-Unsubscribe=One-Click&'.repeat(10_000),
            }),
          }).catch(() => undefined);
          expect(answer?.status ?? 400, `${method} ${path}${token}`).not.toBe(500);
          await answer?.arrayBuffer().catch(() => undefined);
        }
      }
    });
  });
});

it('waits for test email, from hundreds of connections that then hang up', async () => {
  // What was sent before may still be captured meanwhile.
  const mailbox = '/v1/sandbox/messages?to=nobody@example.net';
  await expectUnmoved(async () => {
    const after = new Date().toISOString();
    const lines = await Promise.all(Array.from({ length: 200 }, () => openLine(service.url)));
    for (const line of lines) {
      line.send(head(`GET ${mailbox}&wait=60&after=${after}`, `x-api-key: ${attacker.key}`));
    }
    await until(() => lines.filter((line) => line.said().includes(' 429 ')).length >= 50);
    for (const line of lines) line.socket.destroy();
  });
  // Their places are free again.
  const path = `${mailbox}&wait=0.1&after=${new Date().toISOString()}`;
  await until(async () => {
    const { status } = await fetch(service.url + path, { headers: { 'x-api-key': attacker.key } });
    return status === 200;
  });
});

describe('SMTP', () => {
  it('10,000 recipients in one breath', async () => {
    await expectUnmoved(async () => {
      const client = await logIn(smtpPort, attacker.key);
      await client.say('MAIL FROM:<hello@example.com>');
      client.send(
        Array.from({ length: 10_000 }, (_, n) => `RCPT TO:<ada${n}@example.net>\r\n`).join(''),
      );
      for (let n = 0; n < 50; n++) expect(await client.reply()).toMatch(/^250/);
      expect(await client.reply()).toMatch(/^452/);
      client.socket.destroy();
    });
  });

  it('a line without an end', async () => {
    await expectUnmoved(async () => {
      const client = await openSmtp(smtpPort);
      await client.reply();
      for (let n = 0; n < 64; n++) client.send('A'.repeat(256 * 1024));
      await client.closed;
    });
  });

  it('10,000 commands in one breath, and half a greeting of TLS', async () => {
    await expectUnmoved(async () => {
      const client = await openSmtp(smtpPort);
      await client.reply();
      client.send('NOOP\r\n'.repeat(10_000));
      const half = await openSmtp(smtpPort);
      await half.reply();
      await half.say('EHLO a');
      half.send('STARTTLS\r\n\x16\x03\x01\x02\x00\x01');
      for (let n = 0; n < 10; n++) await post(bystander, '/v1/send', welcome());
      for (const { socket } of [client, half]) socket.destroy();
    });
  });

  it('a login of a megabyte', async () => {
    await expectUnmoved(async () => {
      const client = await openSmtp(smtpPort);
      await client.reply();
      await client.say('EHLO a');
      client.send(`AUTH PLAIN ${'A'.repeat(1024 * 1024)}\r\n`);
      await Promise.race([client.reply(), client.closed]);
      client.socket.destroy();
    });
  });
});

describe('the feedback listener', () => {
  it('a line without an end', async () => {
    await expectUnmoved(async () => {
      const client = await openSmtp(feedbackPort);
      await client.reply();
      for (let n = 0; n < 64; n++) client.send('A'.repeat(256 * 1024));
      expect(await client.reply()).toMatch(/^421/);
      client.socket.destroy();
    });
  });

  it.each([
    ['10,000 recipients', 'RCPT TO:<bounce+x@bounce.example>\r\n'],
    [
      'recipients that begin anew',
      'RSET\r\nMAIL FROM:<>\r\nRCPT TO:<complaints@bounce.example>\r\nRCPT TO:<x@bounce.example>\r\n',
    ],
    ['commands that do not exist', 'BDAT 2147483648\r\n'],
  ])('%s in one breath', async (_, commands) => {
    await expectUnmoved(async () => {
      const client = await openSmtp(feedbackPort);
      await client.reply();
      await client.say('EHLO a');
      await client.say('MAIL FROM:<>');
      client.send(commands.repeat(10_000));
      await client.closed;
    });
  });
});

it('half-closed connections are closed on our side too, at every door', async () => {
  const http = Number(new URL(service.url).port);
  const key = `x-api-key: ${attacker.key}`;
  const after = new Date().toISOString();
  const DOORS: [number, string][] = [
    [http, head('GET /v1/templates', key)],
    [http, head(`GET /v1/sandbox/messages?wait=60&after=${after}`, key)],
    [http, `${head('POST /v1/send', key, 'content-length: 100')}{`],
    [http, `${head('POST /v1/send', key, 'content-length: 10000000')}{`],
    [http, `${head('POST /mcp', key, 'content-length: 100')}{`],
    [smtpPort, 'EHLO a\r\nMAIL'],
    [feedbackPort, 'EHLO a\r\nMAIL FROM:<>\r\nRCPT TO:<complaints@bounce.example>\r\nDATA\r\nx'],
  ];
  await expectUnmoved(async () => {
    const ends = DOORS.map(async ([port, text]) => {
      const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true }).resume();
      const ended = new Promise((resolve) => socket.once('end', resolve).once('error', resolve));
      socket.end(text);
      await ended;
      socket.destroy();
    });
    await Promise.all(ends);
  });
});

it('strangers who are refused by the thousand do not fill the log', async () => {
  const before = service.output().length;
  const doors = ['/v1/send', '/emails', '/mcp', '/inbound/mailgun', '/inbound/ses'];
  for (let n = 0; n < 100; n++) {
    const answers = doors.map((path) => post({ ...attacker, key: 'sm_live_wrong' }, path, '{}'));
    for (const status of await Promise.all(answers)) expect([401, 403]).toContain(status);
  }
  const lines = service
    .output()
    .slice(before)
    .split('\n')
    .filter((line) => line.includes('refused'));
  expect(lines.length).toBeGreaterThan(0);
  expect(lines.length).toBeLessThan(100);
});
