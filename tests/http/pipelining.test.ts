// Many requests over one connection at once: they are answered in order, with turns for everyone
// else in between.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { longestBlockedMs } from '../support/blocked.ts';
import { anEmail, startTestService, type TestService } from '../support/service.ts';
import { until } from '../support/until.ts';
import { head, openLine } from './sockets.ts';

let service: TestService;
beforeAll(async () => {
  service = await startTestService({ ROLES: 'api' });
});
afterAll(() => service.stop());

const answers = (said: string): string[] => said.match(/HTTP\/1\.1 \d{3}/g) ?? [];

it('200 of them are all answered', async () => {
  const line = await openLine(service.url);
  line.send(head('GET /healthz').repeat(200));
  await until(() => answers(line.said()).length === 200);
  line.socket.destroy();
});

it('who sends 4,000 without listening is cut off, and holds nobody up', async () => {
  // The best of three: what holds the loop for long does so every time.
  let longest = Number.POSITIVE_INFINITY;
  for (let run = 0; run < 3 && longest >= 100; run++) {
    const line = await openLine(service.url);
    const held = await longestBlockedMs(async () => {
      line.send(head('GET /openapi.json').repeat(4000));
      await line.closed;
    });
    longest = Math.min(longest, held);
  }
  expect(longest).toBeLessThan(100);
});

it('in their order, whatever each of them is', async () => {
  const { key } = await service.account();
  const body = JSON.stringify(anEmail());
  const post = (path: string): string =>
    head(
      `POST ${path}`,
      'content-type: application/json',
      `x-api-key: ${key}`,
      `content-length: ${Buffer.byteLength(body)}`,
    ) + body;
  const line = await openLine(service.url);
  line.send(
    head('GET /healthz') +
      post('/v1/send') +
      head('GET /nowhere') +
      post('/v1/send?') +
      post('/v1/send'),
  );
  await until(() => answers(line.said()).length === 5);
  expect(answers(line.said()).map((it) => it.slice(-3))).toEqual([
    '200',
    '202',
    '404',
    '202',
    '202',
  ]);
  line.socket.destroy();
});

it('who hangs up in the middle leaves nothing behind', async () => {
  for (let n = 0; n < 5; n++) {
    const line = await openLine(service.url);
    line.send(head('GET /openapi.json').repeat(200));
    await until(() => line.said().length > 0);
    line.socket.destroy();
  }
  expect((await fetch(`${service.url}/healthz`)).status).toBe(200);
});
