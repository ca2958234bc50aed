// Emails as large as the contract allows, many at a time: nobody else waits for them. Whatever they
// are made of, the event loop goes on while they are accepted, stored, loaded, made, signed and
// handed over. On the built program, as a process of its own.
import { type AddressInfo, createServer } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { inFull } from '../support/longer.ts';
import type { ServiceProcess } from '../support/process.ts';
import { anEmail, makeAccount, request, type TestAccount } from '../support/service.ts';
import { until } from '../support/until.ts';
import { startWatched, type WatchedProcess } from '../support/watched-process.ts';

const MB = 1024 * 1024;
/** Less the rest of the request. */
const LARGEST = 25 * MB - 4096;

const filled = (pattern: string, bytes = LARGEST): string =>
  pattern.repeat(Math.floor(bytes / Buffer.byteLength(JSON.stringify(pattern).slice(1, -1))));

const SHAPES: Record<string, () => Record<string, unknown>> = {
  'an attachment': () => ({
    attachments: [
      {
        filename: 'a.bin',
        content_type: 'application/octet-stream',
        content_base64: filled('AbCd'),
      },
    ],
  }),
  'plain HTML': () => ({ html: filled(`<p>${'word '.repeat(15)}</p>\n`) }),
  'HTML with links': () => ({ html: filled('<a href="https://example.com/?a=1&amp;b=2">x</a>\n') }),
  'HTML in Japanese': () => ({ html: filled('<p>注文番号をご確認ください。</p>\n') }),
  'one line': () => ({ html: filled('é word ') }),
  'lines of dots': () => ({ text: filled('.\n') }),
  'emoji in escapes': () => ({ text: filled('\ud83d\ude00') }),
};

/** A relay that takes everything, and the service's own that keeps it for people to look at. */
const RELAYS = {
  'to a relay': async () => {
    const relay = await startSwallower();
    // The costliest to read, to change and to write.
    const shapes = inFull(Object.keys(SHAPES), [
      'an attachment',
      'HTML with links',
      'emoji in escapes',
    ]);
    return { env: { RELAY_URL: relay.url }, close: relay.close, shapes, emails: shapes.length };
  },
  // What differs is only who takes them.
  'to the sandbox': async () => ({
    env: {},
    close: () => undefined,
    shapes: ['an attachment', 'HTML with links'],
    emails: 2,
  }),
};

describe.each(Object.keys(RELAYS) as (keyof typeof RELAYS)[])('%s', (name) => {
  let test: TestDatabase;
  let service: WatchedProcess;
  let relay: Awaited<ReturnType<(typeof RELAYS)[typeof name]>>;
  beforeAll(async () => {
    relay = await RELAYS[name]();
    test = await createTestDatabase();
    service = await startWatched({
      DATABASE_URL: test.url,
      TRACKING_URL: 'http://127.0.0.1:9',
      // The relay shares this process with bodies of 25 MB: it may be late.
      RELAY_DOWN: 'queue',
      ...relay.env,
    });
  });
  afterAll(async () => {
    await service.end('SIGTERM');
    relay.close();
    await test.drop();
  });

  it('many emails of 25 MB never make the event loop stand still', async () => {
    const [sender, bystander] = [
      await makeAccount(test.database),
      await makeAccount(test.database),
    ];
    const waiting = () =>
      test.database.query('SELECT 1 FROM due_messages WHERE account_id = $1', [sender.id]);
    const bodies = relay.shapes.map((shape) => JSON.stringify(anEmail(SHAPES[shape]!())));
    const small = JSON.stringify(anEmail());
    const statuses: number[] = [];
    const others: number[] = [];
    const { stands } = await service.watch(async () => {
      for (let n = 0; n < relay.emails; n++) {
        void send(service, sender, bodies[n % bodies.length]!).then(({ status }) =>
          statuses.push(status),
        );
      }
      await until(async () => {
        others.push((await send(service, bystander, small)).status);
        return statuses.length === relay.emails && (await waiting()).length === 0;
      }, 240_000);
    });
    expect(statuses).toEqual(new Array(relay.emails).fill(202));
    expect(new Set(others)).toEqual(new Set([202]));
    expect(stands).toEqual([]);
  }, 250_000);
});

const send = ({ url }: ServiceProcess, account: TestAccount, body: string) =>
  request(`${url}/v1/send`, {
    method: 'POST',
    headers: { 'x-api-key': account.key, 'content-type': 'application/json' },
    body,
  });

/** Keeps nothing, so that it costs as little as can be. */
async function startSwallower() {
  const server = createServer((socket) => {
    let inData = false;
    let tail = '';
    socket.on('error', () => undefined);
    socket.write('220 swallower ESMTP\r\n');
    socket.on('data', (chunk) => {
      if (inData) {
        tail = (tail + chunk.subarray(-5).toString('latin1')).slice(-5);
        if (tail !== '\r\n.\r\n') return;
        inData = false;
        socket.write('250 ok\r\n');
        return;
      }
      for (const line of chunk.toString('latin1').split('\r\n').slice(0, -1)) {
        if (line === 'DATA') {
          inData = true;
          tail = '';
          socket.write('354 go\r\n');
        } else if (line.startsWith('EHLO')) socket.write('250-swallower\r\n250 PIPELINING\r\n');
        else socket.write(line === 'QUIT' ? '221 bye\r\n' : '250 ok\r\n');
      }
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return { url: `smtp://127.0.0.1:${port}?tls=off`, close: () => void server.close() };
}
