// Messages: search, the endless list, and everything about one mail while it happens.
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { mail } from '../support/service.ts';
import { look, openDashboard } from './dashboard.ts';

const dashboard = await openDashboard();
afterAll(() => dashboard?.stop());

describe.skipIf(!dashboard)('Searching messages', () => {
  let page: Page;

  beforeAll(async () => {
    const { service, open } = dashboard!;
    const account = await service.account();
    await Promise.all(
      Array.from({ length: 70 }, (_, number) =>
        service.send(
          account.key,
          mail({
            to: [`reader${number}@example.net`],
            subject: `Letter ${number}`,
            tags: number === 7 ? ['rare'] : [],
          }),
        ),
      ),
    );
    page = await open({ accountId: account.id, role: 'viewer' });
  });

  it('scrolls without end', async () => {
    await page.goto('/messages');
    await page.locator('.message-line').nth(49).waitFor();
    await look(page, 'messages');
    await page.locator('.message-line').nth(49).scrollIntoViewIfNeeded();
    await page.getByText('70 messages, that is all').waitFor();
  });

  it('finds mails by recipient, tag and status', async () => {
    await page.goto('/messages');
    await page.getByRole('searchbox').fill('reader33@example.net');
    await page.getByText('One message, that is all').waitFor();
    await page.getByText('Letter 33').waitFor();
    await page.goto('/messages?tag=rare');
    await page.getByText('One message, that is all').waitFor();
    await page.getByText('Letter 7', { exact: true }).waitFor();
    await page.goto('/messages?status=complained');
    await page.getByText('Nothing matches').waitFor();
    await look(page, 'messages-none');
  });

  it('finds mails by subject and id', async () => {
    await page.goto('/messages');
    await page.locator('input[aria-label="Search by"]').click();
    await page.getByRole('option', { name: 'Subject' }).click();
    await page.getByRole('searchbox').fill('letter 5');
    await page.getByText('11 messages, that is all').waitFor();
    await page.getByRole('link', { name: /Letter 50/ }).click();
    const id = new URL(page.url()).pathname.split('/').at(-1)!;
    await page.goto(`/messages?id=${id}`);
    await page.getByText('One message, that is all').waitFor();
    await page.getByText('Letter 50').waitFor();
  });

  it('finds mails by when they were sent', async () => {
    await page.goto('/messages');
    await page.locator('input[aria-label=Time]').click();
    await page.getByRole('option', { name: 'Last hour' }).click();
    await page.locator('.message-line').nth(49).waitFor();
    expect(new URL(page.url()).searchParams.get('from')).toMatch(/Z/);
    await page.locator('input[aria-label=Time]').click();
    await page.getByRole('option', { name: 'Between' }).click();
    await page.getByLabel('From').fill('2020-01-01T00:00');
    await page.getByLabel('Until').fill('2020-01-02T00:00');
    await page.getByText('Nothing matches').waitFor();
    await page.getByLabel('Until').fill('2099-01-01T00:00');
    await page.locator('.message-line').nth(49).waitFor();
    // The address holds the search, so it can be passed on.
    await page.reload();
    expect(await page.getByLabel('Until').inputValue()).toBe('2099-01-01T00:00');
    await page.locator('.message-line').nth(49).waitFor();
  });
});

describe.skipIf(!dashboard)('One message', () => {
  it('shows one mail: its live story, looks, source, attachments, and sends it again', async () => {
    const { service, open } = dashboard!;
    const account = await service.account();
    const page = await open({ accountId: account.id, role: 'developer' });
    const sent = await service.send(
      account.key,
      mail({
        to: ['clicked@simulator.test'],
        cc: ['bounce@simulator.test'],
        subject: 'Your invoice',
        html: '<h1 style="color: rgb(10, 20, 30)">Invoice</h1><a href="https://example.com/pay">Pay</a>',
        tags: ['billing'],
        headers: { 'X-Invoice': '4711' },
        attachments: [
          { filename: 'invoice.txt', content_base64: 'SGVsbG8=', content_type: 'text/plain' },
        ],
      }),
    );
    await page.goto(`/messages/${sent.body.id}`);
    // Live: nobody reloads.
    await page.locator('[data-event=clicked]').waitFor();
    await page.locator('[data-event=bounced]').waitFor();
    const frame = page.frameLocator('iframe[title="Mail: Your invoice"]');
    await frame.getByRole('heading', { name: 'Invoice' }).waitFor();
    await page.getByText('Mobile').last().click();
    await page.getByRole('button', { name: 'Dark mail program' }).click();
    await look(page, 'message');

    await page.getByRole('tab', { name: 'Recipients' }).click();
    await page.getByRole('cell', { name: 'bounce@simulator.test' }).waitFor();
    await page.getByRole('tab', { name: 'Headers' }).click();
    await page.getByText('X-Invoice').waitFor();
    await page.getByRole('tab', { name: 'Source' }).click();
    await page
      .getByRole('region', { name: 'Raw source' })
      .getByText('Subject: Your invoice')
      .waitFor();
    await look(page, 'message-source');
    await page.getByRole('tab', { name: 'Relay' }).click();
    await page.getByText('mx.simulator.test').first().waitFor();
    await page.getByRole('tab', { name: 'Attachments' }).click();
    const download = page.waitForEvent('download');
    await page.getByRole('button', { name: 'invoice.txt' }).click();
    expect((await download).suggestedFilename()).toBe('invoice.txt');

    await page.getByRole('button', { name: 'Send again' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Send again' }).click();
    await page.waitForURL((url) => !url.pathname.endsWith(sent.body.id));
    await page.getByText('Dashboard').waitFor();
  });
});
