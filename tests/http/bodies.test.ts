// Request bodies: the caller is checked before a byte is kept, memory is taken as bytes arrive, and
// nobody's bodies keep out another's.
import { PassThrough } from 'node:stream';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { BODY_LIMITS, createBodies } from '../../src/http/body.ts';
import { type BodyRoom, createBodyRoom, type Place } from '../../src/http/body-room.ts';
import { HTTP_LIMITS } from '../../src/http/server.ts';
import { anEmail, startTestService, type TestService } from '../support/service.ts';
import { until } from '../support/until.ts';
import { head, type Line, openLine } from './sockets.ts';

let service: TestService;
beforeAll(async () => {
  service = await startTestService(
    {},
    {
      bodyLimits: { ...BODY_LIMITS, giveWayAfterMs: 200 },
      httpLimits: { ...HTTP_LIMITS, lingerMs: 500 },
    },
  );
});
afterAll(() => service.stop());

const MB = 1024 * 1024;
const large = anEmail({
  attachments: [
    {
      filename: 'a.bin',
      content_type: 'application/octet-stream',
      content_base64: Buffer.alloc(15 * MB, 7).toString('base64'),
    },
  ],
});
const announcing = (key: string): string =>
  head(
    'POST /v1/send',
    'content-type: application/json',
    `x-api-key: ${key}`,
    'content-length: 26214400',
  );

describe('bodies that stop in the middle', () => {
  it('of anyone, at any path: a large send goes through', async () => {
    const { key } = await service.account();
    const lines: Line[] = [];
    for (const path of ['/nowhere', '/v1/send', '/v1/mcp', '/dashboard/api/session', '/u/x']) {
      for (let n = 0; n < 20; n++) {
        const line = await openLine(service.url);
        line.send(
          head(`POST ${path}`, 'content-type: application/json', 'content-length: 26214400'),
        );
        line.send('x'.repeat(700 * 1024));
        lines.push(line);
      }
    }
    expect((await service.send(key, large)).status).toBe(202);
    for (const line of lines) line.socket.destroy();
  });

  it('of one key, hundreds of them: a large send of another key goes through', async () => {
    const [one, other] = [await service.account(), await service.account()];
    const lines = await Promise.all(Array.from({ length: 60 }, () => openLine(service.url)));
    for (const line of lines) line.send(announcing(one.key) + ' '.repeat(1.5 * MB));
    expect((await service.send(other.key, large)).status).toBe(202);
    // Its own wait, and go on when the first of them have left.
    for (const line of lines) line.socket.destroy();
    expect((await service.send(one.key, large)).status).toBe(202);
  });

  it('of many keys: who hardly moves has to give way', async () => {
    const lines: Line[] = [];
    for (let n = 0; n < 6; n++) {
      const { key } = await service.account();
      for (let each = 0; each < 3; each++) {
        const line = await openLine(service.url);
        line.send(announcing(key) + ' '.repeat(20 * MB));
        lines.push(line);
      }
    }
    const { key } = await service.account();
    expect((await service.send(key, large)).status).toBe(202);
    await until(() => lines.some((line) => line.said().includes(' 503 ')));
    for (const line of lines) line.socket.destroy();
  });
});

describe('answered without reading', () => {
  it.each([
    ['an unknown path', 'POST /nowhere', 404],
    ['another method', 'PUT /v1/send', 404],
    ['another method of a known path', 'POST /healthz', 404],
    ['no key', 'POST /v1/send', 401],
    ['MCP without a key', 'POST /mcp', 401],
    ['a dashboard route without a session', 'POST /dashboard/api/session/password', 403],
    ['a body that is announced too large', 'POST /dashboard/api/session', 403],
  ])('%s', async (_, request, status) => {
    const line = await openLine(service.url);
    line.send(head(request, 'content-type: application/json', 'content-length: 26214400'));
    await until(() => line.said().includes('\r\n\r\n'));
    expect(line.said()).toMatch(new RegExp(`^HTTP/1.1 ${status} [\\s\\S]*connection: close`, 'i'));
    // What is still on its way is thrown away, but not forever.
    line.send('x'.repeat(700 * 1024));
    await line.closed;
  });

  it('a client that sends all of it before it reads gets its answer', async () => {
    const answer = await fetch(`${service.url}/nowhere`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: 'x'.repeat(20 * MB),
    });
    expect(answer.status).toBe(404);
    await answer.text();
  });

  it('nothing that comes behind such an answer is done', async () => {
    const { key, id } = await service.account();
    const line = await openLine(service.url);
    const send = JSON.stringify(anEmail());
    const rest = head(
      'POST /v1/send?',
      'content-type: application/json',
      `x-api-key: ${key}`,
      `content-length: ${send.length}`,
    );
    line.send(`${head('POST /nowhere', 'content-length: 4')}1`);
    await until(() => line.said().includes('404 Not'));
    line.send(`234${rest}${send}`);
    await line.closed;
    expect(line.said()).not.toContain('202 Accepted');
    const [row] = await service.database.query<{ count: number }>(
      'SELECT count(*)::int AS count FROM messages WHERE account_id = $1',
      [id],
    );
    expect(row!.count).toBe(0);
  });
});

it('a body in chunks of one byte takes no more memory than its bytes', async () => {
  const { key } = await service.account();
  const json = JSON.stringify(anEmail({ text: 'x'.repeat(150_000) }));
  const line = await openLine(service.url);
  line.send(
    head(
      'POST /v1/send',
      'content-type: application/json',
      `x-api-key: ${key}`,
      'transfer-encoding: chunked',
    ),
  );
  line.send(`${[...json].map((character) => `1\r\n${character}\r\n`).join('')}0\r\n\r\n`);
  // node:http takes half a second of work for these chunks: on a busy machine that may be long.
  await until(() => line.said().includes('\r\n\r\n'));
  expect(line.said()).toContain('202 Accepted');
  line.socket.destroy();
});

describe('a process that was frozen', () => {
  const limits = { ...BODY_LIMITS, graceMs: 300, giveWayAfterMs: 300 };
  function freeze(ms: number): void {
    const until = performance.now() + ms;
    while (performance.now() < until);
  }

  it('does not take its own sleep for the sender’s', async () => {
    const bodies = createBodies({ addressOf: () => undefined, limits });
    const stream = new PassThrough();
    const reading = bodies.readStream(stream, { key: 'a', address: 'b' });
    freeze(600);
    // Timers come first when it wakes, before what arrived meanwhile.
    await new Promise((resolve) => setTimeout(resolve, 1));
    stream.end('here');
    expect((await reading).bytes.toString()).toBe('here');
  });

  it('does not send the body in the lane away', async () => {
    const room = createBodyRoom({ ...ROOM, leastBytesEveryMs: 300 });
    let sentAway = 0;
    const place = room.enter({ key: 'a' }, () => sentAway++);
    fillCommonRoom(room);
    expect(place.take(4)).toBe(true);
    void room.enter({ key: 'b' }, stays).take(1);
    freeze(600);
    await new Promise((resolve) => setTimeout(resolve, 1));
    expect(sentAway).toBe(0);
    await until(() => sentAway > 0);
  });
});

/** Until only the lane is left. */
function fillCommonRoom(room: BodyRoom): void {
  for (let n = 0; n < 11; n++) expect(room.enter({ key: `fills ${n}` }, stays).take(5)).toBe(true);
}
const ROOM = { totalBytes: 105, largestBytes: 25, leastBytes: 5, leastBytesEveryMs: 20 };
const stays = () => undefined;

it('whoever gets the lane has the whole time to bring something', async () => {
  const room = createBodyRoom({ ...ROOM, leastBytesEveryMs: 2000 });
  let sentAwayAt = 0;
  const first = room.enter({ key: 'first' }, stays);
  const second = room.enter({ key: 'second' }, () => {
    sentAwayAt = performance.now();
  });
  fillCommonRoom(room);
  expect(first.take(1)).toBe(true);
  const turn = second.take(1);
  void room.enter({ key: 'third' }, stays).take(1);
  // Most of the first one's time is over when the second gets the lane.
  await new Promise((resolve) => setTimeout(resolve, 1500));
  first.leave();
  await turn;
  const since = performance.now();
  await until(() => sentAwayAt > 0);
  // With the first one's time it would have been 500.
  expect(sentAwayAt - since).toBeGreaterThan(1000);
});

describe('the room', () => {
  const isWaiting = (taken: true | Promise<void>): boolean => taken !== true;

  it('takes what arrives, not what is announced', () => {
    const room = createBodyRoom(ROOM);
    for (let n = 0; n < 50; n++) expect(room.enter({ key: `${n}` }, stays).take(1)).toBe(true);
  });

  it('one key or one address never fills it', () => {
    for (const party of [{ key: 'a' }, { address: 'a' }]) {
      const room = createBodyRoom(ROOM);
      for (let n = 0; n < 10; n++) {
        const body = room.enter(party, stays);
        for (let byte = 0; byte < 25 && body.take(1) === true; byte++);
      }
      expect(isWaiting(room.enter(party, stays).take(1))).toBe(true);
      const other = room.enter({ key: 'b', address: 'b' }, stays);
      for (let byte = 0; byte < 25; byte++) expect(other.take(1)).toBe(true);
    }
  });

  it('of many bodies of one key, the next arrives while one is being processed, and no third', async () => {
    const room = createBodyRoom(ROOM);
    const bodies = Array.from({ length: 100 }, () => room.enter({ key: 'a' }, stays));
    const arrived: Place[] = [];
    for (const body of bodies) {
      void (async () => {
        for (let byte = 0; byte < 25; byte++) await body.take(1);
        body.complete();
        arrived.push(body);
      })();
    }
    for (let processed = 0; processed < bodies.length; processed++) {
      await until(() => arrived.length >= Math.min(processed + 2, bodies.length));
      // Nothing is on its way to a third: one more turn would show it.
      await new Promise((resolve) => setImmediate(resolve));
      expect(arrived.length).toBeLessThanOrEqual(processed + 3);
      arrived[processed]!.leave();
    }
  });

  it('whatever waits, one goes on, and then the next', async () => {
    const room = createBodyRoom(ROOM);
    let finished = 0;
    const upload = async (key: string): Promise<void> => {
      const body: Place = room.enter({ key }, stays);
      for (let byte = 0; byte < 25; byte++) await body.take(1);
      body.complete();
      body.leave();
      finished++;
    };
    await Promise.all(Array.from({ length: 200 }, (_, n) => upload(`${n % 7}`)));
    expect(finished).toBe(200);
  });
});
