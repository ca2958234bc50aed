// Pixel and redirect do not need the database: they answer at once while it is away, and what they
// saw is recorded when it is back.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { PATIENCE } from '../../src/store/connection.ts';
import { slowness } from '../support/blocked.ts';
import { captured, hrefs, pixelOf } from '../support/captured.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import {
  anEmail,
  startTestService,
  type TestAccount,
  type TestService,
} from '../support/service.ts';
import { startTcpProxy, type TcpProxy } from '../support/tcp-proxy.ts';
import { until } from '../support/until.ts';

const AGENT = 'Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Thunderbird/128.4.0';
let database: TestDatabase;
let proxy: TcpProxy;
let service: TestService;
let account: TestAccount;

beforeAll(async () => {
  database = await createTestDatabase();
  proxy = await startTcpProxy(database.url);
  service = await startTestService({}, { on: { ...database, url: proxy.url } });
  account = await service.account();
});
afterAll(async () => {
  await service.stop();
  await proxy.close();
  await database.drop();
});

async function sendTracked() {
  const html = '<p><a href="https://shop.example/">Shop</a></p>';
  const { body } = await service.send(account.key, anEmail({ html }));
  const { email: got } = await captured(database.database, body.id);
  return { id: body.id as string, pixel: pixelOf(got.html)!, link: hrefs(got.html)[0]! };
}

const visit = (url: string, agent = AGENT) =>
  fetch(url, { redirect: 'manual', headers: { 'user-agent': agent } });

const typesOf = async (id: string) =>
  (await service.get(account.key, `/v1/messages/${id}`)).body.events.map(
    (event: { type: string }) => event.type,
  );

it('answers while the database is away and records when it is back, each once', async () => {
  const { id, pixel, link } = await sendTracked();
  await until(async () => (await typesOf(id)).includes('delivered'));
  await proxy.shut();
  for (let turn = 0; turn < 3; turn++) {
    const begun = performance.now();
    expect((await visit(pixel)).status).toBe(200);
    expect((await visit(link)).headers.get('location')).toBe('https://shop.example/');
    // Neither waited for a connection.
    expect(performance.now() - begun).toBeLessThan(PATIENCE.calls.connectMs);
  }
  await proxy.open();
  await until(async () => {
    const types: string[] = await typesOf(id);
    return types.includes('opened') && types.includes('clicked');
  });
  const types: string[] = await typesOf(id);
  // A minute may have turned between the visits.
  expect(types.filter((type) => type === 'opened').length).toBeLessThanOrEqual(2);
  expect(types.filter((type) => type === 'clicked').length).toBeLessThanOrEqual(2);
});

it('takes less than 5 ms of work for an answer', async () => {
  const { pixel, link } = await sendTracked();
  // Warm connections and code first.
  for (let turn = 0; turn < 50; turn++) await visit(turn % 2 ? pixel : link);
  const visits = 100;
  let spentMs = Number.POSITIVE_INFINITY;
  for (let round = 0; round < 6 && spentMs > 5; round++) {
    const by = slowness() * visits * 1000;
    const before = process.cpuUsage();
    for (let turn = 0; turn < visits; turn++)
      await visit(turn % 2 ? pixel : link, `${AGENT} ${round} ${turn}`);
    const { user, system } = process.cpuUsage(before);
    // Client, server and recording together, in this one process.
    spentMs = Math.min(spentMs, (user + system) / by);
  }
  process.stderr.write(`tracking: ${spentMs.toFixed(2)} ms of CPU a visit, client included\n`);
  expect(spentMs).toBeLessThan(5);
});
