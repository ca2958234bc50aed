// Section 8: limits. Recipients, 25 MB, daily quota and rate: exact, also across processes.
import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { anEmail, startTestService, type TestService } from '../support/service.ts';
import { until } from '../support/until.ts';

let test: TestDatabase;
let service: TestService;
let second: TestService;
const DAY_MS = 86_400_000;
const MINUTE_MS = 60_000;

beforeAll(async () => {
  // A quota begins again at midnight: none of these tests is to be in the middle of two days.
  await until(() => Date.now() % DAY_MS < DAY_MS - MINUTE_MS, 2 * MINUTE_MS);
  test = await createTestDatabase();
  service = await startTestService({ ROLES: 'api' }, { on: test });
  second = await startTestService({ ROLES: 'api' }, { on: test });
});
afterAll(async () => {
  await service.stop();
  await second.stop();
  await test.drop();
});

const MOST = 26_214_400;

describe('25 MB', () => {
  /** A request of exactly so many bytes. */
  function bodyOf(bytes: number): string {
    const attach = (content_base64: string) =>
      JSON.stringify(
        anEmail({
          attachments: [
            { filename: 'a.bin', content_type: 'application/octet-stream', content_base64 },
          ],
        }),
      );
    const room = bytes - attach('').length;
    return attach('A'.repeat(room - (room % 4))).padEnd(bytes, ' ');
  }
  const post = async (body: string, key: string) => {
    const response = await fetch(`${service.url}/v1/send`, {
      method: 'POST',
      headers: { 'x-api-key': key, 'content-type': 'application/json' },
      body,
    });
    return { status: response.status, body: (await response.json()) as { detail: string } };
  };
  it('exactly 26,214,400 bytes are accepted', async () => {
    const { key } = await service.account();
    expect((await post(bodyOf(MOST), key)).status).toBe(202);
  });
  it('one byte more → 400', async () => {
    const { key } = await service.account();
    const answer = await post(bodyOf(MOST + 1), key);
    expect(answer.status).toBe(400);
    expect(answer.body.detail).toContain('25 MB');
  });
  it('over it without Content-Length → 400 while it streams in', async () => {
    const { key } = await service.account();
    const { hostname, port } = new URL(service.url);
    const answer = await new Promise<string>((resolve, reject) => {
      const socket = connect(Number(port), hostname);
      const chunk = 'a'.repeat(1024 * 1024);
      let text = '';
      let sent = 0;
      const more = () => {
        if (sent > 40 || socket.destroyed || text !== '') return;
        sent++;
        socket.write(`100000\r\n${chunk}\r\n`, more);
      };
      socket.write(
        `POST /v1/send HTTP/1.1\r\nhost: x\r\nx-api-key: ${key}\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n`,
        more,
      );
      socket.on('data', (data) => {
        text += data.toString();
        resolve(text);
        socket.destroy();
      });
      socket.on('error', (error) => (text === '' ? reject(error) : undefined));
    });
    expect(answer).toMatch(/^HTTP\/1\.1 400 /);
  });
});

describe('daily quota', () => {
  it('counts recipients: to + cc + bcc', async () => {
    const { key } = await service.account({ dailyQuota: 5 });
    const three = anEmail({ cc: ['b@example.net'], bcc: ['c@example.net'] });
    expect((await service.send(key, three)).status).toBe(202);
    expect((await service.send(key, three)).status).toBe(429);
    expect((await service.send(key, anEmail())).status).toBe(202);
    expect((await service.send(key, anEmail())).status).toBe(202);
    const toMidnight = () => 86_400 - (Math.floor(Date.now() / 1000) % 86_400);
    const most = toMidnight();
    const over = await service.send(key, anEmail());
    expect(over.status).toBe(429);
    const wait = Number(over.headers.get('retry-after'));
    expect(wait).toBeLessThanOrEqual(most + 2);
    expect(wait).toBeGreaterThanOrEqual(toMidnight() - 2);
  });
  it('says on success what is left', async () => {
    const { key } = await service.account({ dailyQuota: 5 });
    const answer = await service.send(key, anEmail());
    expect(answer.headers.get('ratelimit-limit')).toBe('5');
    expect(answer.headers.get('ratelimit-remaining')).toBe('4');
  });
  it('starts again with the UTC day', async () => {
    const { id, key } = await service.account({ dailyQuota: 1 });
    expect((await service.send(key, anEmail())).status).toBe(202);
    expect((await service.send(key, anEmail())).status).toBe(429);
    await service.database.query('UPDATE account_usage SET day = day - 1 WHERE account_id = $1', [
      id,
    ]);
    expect((await service.send(key, anEmail())).status).toBe(202);
  });
  it('two API processes never let one call too many through, nor one too few', async () => {
    const { key } = await service.account({ dailyQuota: 300 });
    const answers = await Promise.all(
      Array.from({ length: 500 }, (_, index) =>
        (index % 2 === 0 ? service : second).send(key, anEmail()),
      ),
    );
    expect(answers.filter((answer) => answer.status === 202)).toHaveLength(300);
    expect(answers.filter((answer) => answer.status === 429)).toHaveLength(200);
  });
  it('50,000 recipients a day on the paid plan unless set otherwise', async () => {
    const { key } = await service.account();
    expect((await service.send(key, anEmail())).headers.get('ratelimit-limit')).toBe('50000');
  });
});

describe('rate', () => {
  it('a burst of two seconds’ worth, then 429, exact across two processes', async () => {
    const { id, key } = await service.account({ ratePerSecond: 20 });
    // The bucket must not refill while the test runs: it is made to look at a clock that is ahead.
    expect((await service.send(key, anEmail())).status).toBe(202);
    await service.database.query(
      `UPDATE account_usage SET tokens = 40, refilled_at = now() + interval '1 hour' WHERE account_id = $1`,
      [id],
    );
    const answers = await Promise.all(
      Array.from({ length: 100 }, (_, index) =>
        (index % 2 === 0 ? service : second).send(key, anEmail()),
      ),
    );
    expect(answers.filter((answer) => answer.status === 202)).toHaveLength(40);
    const over = answers.find((answer) => answer.status === 429)!;
    expect(over.headers.get('retry-after')).toBe('1');
    expect(over.headers.get('ratelimit-limit')).toBe('20');
    expect(over.body.detail).toContain('20');
  });
  it('refills with time, up to the burst', async () => {
    const { id, key } = await service.account({ ratePerSecond: 5 });
    await service.send(key, anEmail());
    await service.database.query(
      `UPDATE account_usage SET tokens = 0, refilled_at = now() - interval '1 hour' WHERE account_id = $1`,
      [id],
    );
    expect((await service.send(key, anEmail())).status).toBe(202);
    const [row] = await service.database.query<{ tokens: number }>(
      'SELECT tokens FROM account_usage WHERE account_id = $1',
      [id],
    );
    expect(row?.tokens).toBeCloseTo(9, 0);
  });
  it('a refused call costs neither quota nor rate', async () => {
    const { id, key } = await service.account({ dailyQuota: 1, ratePerSecond: 100 });
    await service.send(key, anEmail());
    for (let call = 0; call < 5; call++) {
      expect((await service.send(key, anEmail())).status).toBe(429);
    }
    const [row] = await service.database.query<{ recipients: number }>(
      'SELECT recipients FROM account_usage WHERE account_id = $1',
      [id],
    );
    expect(row?.recipients).toBe(1);
  });
});
