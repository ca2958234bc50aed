// Webhooks: an endpoint fails, its delivery is looked at and tried again, and arrives; test events, rotation, replay.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, describe, expect, it } from 'vitest';
import { mail } from '../support/service.ts';
import { until } from '../support/until.ts';
import { look, openDashboard } from './dashboard.ts';

const answers = { status: 500 };
const received: string[] = [];
const receiver = createServer((request, response) => {
  let body = '';
  request.on('data', (chunk) => {
    body += chunk;
  });
  request.on('end', () => {
    received.push(body);
    response.writeHead(answers.status).end(answers.status === 200 ? 'thanks' : 'no, not now');
  });
}).listen(0, '127.0.0.1');
const dashboard = await openDashboard({ WEBHOOK_ALLOW: '127.0.0.0/8' });
afterAll(async () => {
  await dashboard?.stop();
  receiver.close();
});

describe.skipIf(!dashboard)('Webhooks', () => {
  it('fails, is retried by hand, is delivered', async () => {
    const { service, open } = dashboard!;
    const account = await service.account();
    const page = await open({ accountId: account.id, role: 'developer' });
    const url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/hook`;
    await page.goto('/webhooks');
    await page.getByText('No endpoints').waitFor();
    await look(page, 'webhooks-empty');
    await page.getByRole('button', { name: 'Add an endpoint' }).click();
    await page.getByLabel('Address').fill(url);
    await page.getByRole('button', { name: 'Add', exact: true }).click();
    expect(await page.getByTestId('secret').textContent()).toMatch(/^whsec_/);
    await look(page, 'webhook-secret');
    await page.getByRole('button', { name: 'Done' }).click();
    await page.getByRole('link', { name: url }).click();

    await service.send(account.key, mail({ to: ['delivered@simulator.test'] }));
    const failed = page.getByRole('button', { name: /Pending.*answered 500 · 1 attempt/ });
    await until(async () => {
      await page.getByRole('button', { name: 'Refresh' }).click();
      return failed.count();
    });
    await look(page, 'webhook');
    await failed.click();
    const drawer = page.getByRole('dialog');
    await drawer.getByText('no, not now').waitFor();
    await look(page, 'webhook-delivery');
    answers.status = 200;
    await drawer.getByRole('button', { name: 'Retry now' }).click();
    await page.reload();
    await until(async () => {
      await page.getByRole('button', { name: 'Refresh' }).click();
      return page.getByRole('button', { name: /Delivered.*answered 200 · 2 attempts/ }).count();
    });
    expect(JSON.parse(received.at(-1)!)).toMatchObject({ event_type: 'delivery' });

    await page.getByRole('button', { name: 'Send a test event' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Send', exact: true }).click();
    await page.getByText('Taken with 200').waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: 'More' }).click();
    await page.getByRole('menuitem', { name: 'Replay events' }).click();
    await page.getByLabel('Only those that were abandoned').click();
    await page.getByRole('button', { name: 'Count first' }).click();
    await page.getByText('One event would be posted').waitFor();
    await look(page, 'webhook-replay');
    await page.getByRole('button', { name: 'Replay', exact: true }).click();
    await page.getByText('One event is posted again').waitFor();
  }, 120_000);
});
