// BASE_URL with a path, behind a proxy that removes the path: every page, call and frame is found
// under it.
import { createServer, request } from 'node:http';
import { afterAll, describe, expect, it } from 'vitest';
import { captured } from '../support/captured.ts';
import { freePort } from '../support/process.ts';
import { anEmail } from '../support/service.ts';
import { look, openDashboard } from './dashboard.ts';

const port = await freePort();
const inside = await freePort();
const dashboard = await openDashboard({
  PORT: String(inside),
  BASE_URL: `http://127.0.0.1:${port}/tools/mail`,
});
const outside: string[] = [];
const proxy = createServer((from, to) => {
  const path = from.url?.match(/^\/tools\/mail(\/.*)$/)?.[1];
  if (path === undefined) {
    outside.push(from.url ?? '');
    to.writeHead(404).end('another program');
    return;
  }
  const { method, headers } = from;
  const on = request(`http://127.0.0.1:${inside}${path}`, { method, headers }, (answer) => {
    to.writeHead(answer.statusCode!, answer.headers);
    answer.pipe(to);
  });
  from.pipe(on);
}).listen(port, '127.0.0.1');
afterAll(async () => {
  proxy.closeAllConnections();
  proxy.close();
  await dashboard?.stop();
});

describe.skipIf(!dashboard)('A path in BASE_URL', () => {
  it.each([
    ['a proxy that takes it away', `http://127.0.0.1:${port}/tools/mail`],
    ['one that leaves it', `http://127.0.0.1:${inside}/tools/mail`],
  ])('%s', async (_which, base) => {
    const { service, open } = dashboard!;
    const account = await service.account();
    const sent = await service.send(account.key, anEmail({ subject: 'Caught' }));
    await captured(service.database, sent.body.id);
    const page = await open({ accountId: account.id, role: 'developer' });
    await page.goto(`${base}/`);
    await page.getByRole('link', { name: 'Sandbox' }).first().click();
    await page.waitForURL(`${base}/sandbox`);
    await page.getByRole('link', { name: /Caught/ }).click();
    await page.frameLocator('iframe').getByText('Hello!').waitFor();
    // A link that someone kept.
    await page.goto(`${base}/messages/${sent.body.id}`);
    await page.getByText('Caught').first().waitFor();
    await look(page, 'base-path');
    const api = await fetch(`${base}/v1/messages/${sent.body.id}`, {
      headers: { 'x-api-key': account.key },
    });
    expect(api.status).toBe(200);
    expect(outside).toEqual([]);
  });
});
