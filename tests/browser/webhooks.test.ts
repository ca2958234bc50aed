// Webhooks: an endpoint fails, its delivery is looked at and tried again, and arrives; test events,
// rotation, replay.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openSignedIn } from '../dashboard/dashboard-client.ts';
import { anEmail, type TestAccount } from '../support/service.ts';
import { until } from '../support/until.ts';
import { look, openDashboard, told } from './dashboard.ts';

const answers = { status: 500 };
const received: string[] = [];
/** Those of the last request, as they were sent. */
let headers: string[] = [];
const receiver = createServer((request, response) => {
  let body = '';
  request.on('data', (chunk) => {
    body += chunk;
  });
  request.on('end', () => {
    received.push(body);
    headers = request.rawHeaders;
    response.writeHead(answers.status).end(answers.status === 200 ? 'thanks' : 'no, not now');
  });
}).listen(0, '127.0.0.1');
const dashboard = await openDashboard({ WEBHOOK_ALLOW: '127.0.0.0/8' });
afterAll(async () => {
  await dashboard?.stop();
  receiver.close();
});

describe.skipIf(!dashboard)('Webhooks', () => {
  let account: TestAccount;
  let page: Page;

  beforeAll(async () => {
    const { service, open } = dashboard!;
    account = await service.account();
    page = await open({ accountId: account.id, role: 'developer' });
  });

  const state = (name: string): Locator => page.getByRole('radio', { name, exact: true });

  it('begin with an address, and a secret that is shown once', async () => {
    const url = hookUrl();
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
  });

  it('fail, are retried by hand, are delivered', async () => {
    const { service } = dashboard!;
    const sent = await service.send(account.key, anEmail({ to: ['delivered@simulator.test'] }));
    // Nobody reloads.
    const failed = page.getByRole('button', { name: /Pending.*answered 500 · 1 attempt/ });
    await failed.waitFor();
    await fact(page, 'Waiting', '1').waitFor();
    // Whom and what it is about.
    expect(await failed.innerText()).toContain('delivered@simulator.test');
    expect(await failed.innerText()).toContain(sent.body.id);
    await look(page, 'webhook');
    await state('Delivered').check();
    await page.getByText('No deliveries in this state').waitFor();
    await state('Failed').check();
    await failed.click();
    expect(new URL(page.url()).searchParams.get('state')).toBe('failed');
    const drawer = page.getByRole('dialog');
    await drawer.getByText('no, not now').waitFor();
    const request = await drawer.getByRole('region', { name: 'Request' }).innerText();
    for (let at = 0; at < headers.length; at += 2) {
      // Those of the connection are not ours.
      if (/^(host|connection|content-length)$/i.test(headers[at]!)) continue;
      expect(request.toLowerCase()).toContain(`${headers[at]}: ${headers[at + 1]}`.toLowerCase());
    }
    expect(await drawer.locator('.fact', { hasText: 'Next attempt' }).innerText()).toMatch(/\bin /);
    await look(page, 'webhook-delivery');
    answers.status = 200;
    await drawer.getByRole('button', { name: 'Send now' }).click();
    await drawer.getByText('Delivered', { exact: true }).waitFor();
    await page.keyboard.press('Escape');
    await page.getByText('No deliveries in this state').waitFor();
    await state('All').check();
    await page.getByRole('button', { name: /Delivered.*answered 200 · 2 attempts/ }).waitFor();
    await fact(page, 'Waiting', '0').waitFor();
    expect(JSON.parse(received.at(-1)!)).toMatchObject({ event_type: 'delivery' });
    // And again, from the page of the message.
    const before = received.length;
    await page.goto(`/messages/${sent.body.id}?tab=webhooks`);
    await page.getByRole('button', { name: 'Resend: delivery' }).click();
    await until(() => received.length > before);
    expect(received.at(-1)).toBe(received[before - 1]);
  });
});

describe.skipIf(!dashboard)('An endpoint that works', () => {
  let page: Page;
  let secret: string;

  beforeAll(async () => {
    ({ page, secret } = await openEndpoint());
  });

  const dialog = (): Locator => page.getByRole('dialog');
  const more = async (name: string): Promise<void> => {
    await page.getByRole('button', { name: 'More' }).click();
    await page.getByRole('menuitem', { name }).click();
  };

  it('gets test events and replays what it had', async () => {
    await page.getByRole('button', { name: 'Send a test event' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Send', exact: true }).click();
    await page.getByText('Accepted with 200').waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: /Delivered/ }).waitFor();
    await page.getByRole('button', { name: 'More' }).click();
    await page.getByRole('menuitem', { name: 'Remove' }).waitFor();
    await look(page, 'webhook-menu');
    await page.getByRole('menuitem', { name: 'Replay events' }).click();
    await page.getByLabel('Only abandoned events').click();
    await page.getByRole('button', { name: 'Count first' }).click();
    await page.getByText('One event would be posted').waitFor();
    await look(page, 'webhook-replay');
    await page.getByRole('button', { name: 'Replay', exact: true }).click();
    await told(page, 'One event is being posted again');
    await dialog().waitFor({ state: 'detached' });
  });

  it('is changed', async () => {
    await more('Edit');
    await dialog().getByLabel('Address').fill('http://10.0.0.1/inside');
    await dialog().getByRole('button', { name: 'Save' }).click();
    await dialog().getByRole('alert').waitFor();
    await dialog().getByLabel('Address').fill(`${hookUrl()}?changed`);
    await dialog().getByLabel('In order, one at a time').click();
    await look(page, 'webhook-edit');
    await dialog().getByRole('button', { name: 'Save' }).click();
    await page.getByRole('heading', { name: `${hookUrl()}?changed` }).waitFor();
    await fact(page, 'Order', 'One at a time, in order').waitFor();
  });

  it('gets another secret, shown once', async () => {
    await more('Rotate the secret');
    await dialog().getByRole('button', { name: 'Replace it' }).click();
    const fresh = (await page.getByTestId('secret').textContent())!;
    expect(fresh).toMatch(/^whsec_/);
    expect(fresh).not.toBe(secret);
    await look(page, 'webhook-rotated');
    await page.keyboard.press('Escape');
    await page.getByText('Old secret also signs').waitFor();
    // Shown only once.
    await page.reload();
    await page.getByText('Old secret also signs').waitFor();
    expect(await page.content()).not.toContain(fresh);
  });

  it('is switched off, and removed after asking', async () => {
    await more('Switch off');
    await fact(page, 'State', 'Off').waitFor();
    await more('Remove');
    await dialog().getByText('cannot be undone').waitFor();
    await dialog().getByRole('button', { name: 'Cancel' }).click();
    await more('Remove');
    await dialog().getByRole('button', { name: 'Remove the endpoint' }).click();
    await page.getByText('No endpoints').waitFor();
  });
});

const hookUrl = (): string => `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/hook`;

/** The page of an endpoint that works and had one event. */
async function openEndpoint(): Promise<{ page: Page; secret: string }> {
  const { service, open } = dashboard!;
  answers.status = 200;
  const account = await service.account();
  const client = await openSignedIn(service, { accountId: account.id });
  const made = await client.api.webhooks.create({ url: hookUrl() });
  const before = received.length;
  await service.send(account.key, anEmail({ to: ['delivered@simulator.test'] }));
  await until(() => received.length > before);
  const page = await open({ accountId: account.id, role: 'developer' });
  await page.goto(`/webhooks/${made.id}`);
  await page.getByRole('heading', { name: hookUrl() }).waitFor();
  return { page, secret: made.secret };
}

const fact = (page: Page, label: string, value: string): Locator =>
  page.locator('.fact', { hasText: new RegExp(`^${label}${value}$`) });
