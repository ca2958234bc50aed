// Messages: search, the endless list, and everything about one email while it happens.
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openSignedIn } from '../dashboard/dashboard-client.ts';
import { anEmail } from '../support/service.ts';
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
          anEmail({
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

  it('reads on after a fault when someone says so, and not by itself forever', async () => {
    await page.goto('/account');
    let refused = 0;
    await page.route(/v1\/messages\?.*cursor=/, (route) => {
      refused++;
      return route.fulfill({ status: 429, json: { detail: 'Too many calls.' } });
    });
    await page.getByRole('link', { name: 'Messages', exact: true }).click();
    await page.locator('.message-line').nth(49).scrollIntoViewIfNeeded();
    await page.getByRole('alert').getByText('Too many calls.').waitFor();
    await page.getByRole('heading', { level: 1 }).scrollIntoViewIfNeeded();
    await page.locator('.message-line').nth(49).scrollIntoViewIfNeeded();
    const again = page.getByRole('button', { name: 'Try again' });
    await again.waitFor();
    expect(refused).toBe(1);
    await page.unroute(/v1\/messages\?.*cursor=/);
    await again.click();
    await page.getByText('70 messages, that is all').waitFor();
  });

  it('finds emails by recipient, tag and status', async () => {
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

  it('finds emails by words of the subject and by id', async () => {
    await page.goto('/messages');
    await page.getByRole('searchbox').fill('subject:letter 50');
    await page.getByText('One message, that is all').waitFor();
    await page.getByRole('link', { name: /Letter 50/ }).click();
    await page.getByRole('heading', { name: 'Letter 50' }).waitFor();
    const id = new URL(page.url()).pathname.split('/').at(-1)!;
    await page.goto('/messages');
    await page.getByRole('searchbox').fill(id);
    await page.getByText('One message, that is all').waitFor();
    await page.getByText('Letter 50').waitFor();
  });

  it('combines what is asked for, says what it does not understand, and keeps it in the address', async () => {
    await page.goto('/messages');
    await page.getByRole('searchbox').fill('to:@example.net letter tag:rare from:@example.com');
    await page.getByText('One message, that is all').waitFor();
    const time = page.getByRole('combobox', { name: 'Time' });
    await time.selectOption({ label: 'Last hour' });
    await page.waitForURL(/after/);
    await page.reload();
    await page.getByText('Letter 7', { exact: true }).waitFor();
    expect(await page.getByRole('searchbox').inputValue()).toBe(
      'to:@example.net letter tag:rare from:@example.com after:1h',
    );
    expect(await time.inputValue()).toBe('1h');
    await page.getByRole('searchbox').fill('after:2020-01-01 before:2020-01-02');
    await page.getByText('Nothing matches').waitFor();
    await page.getByRole('searchbox').fill('colour:red status:lost');
    await page.getByText('You cannot search by colour:').waitFor();
    await page.getByText('There is no status lost').waitFor();
    await look(page, 'messages-fault');
  });

  it('searches are given a name and found again', async () => {
    await page.getByRole('searchbox').fill('tag:rare');
    await page.getByText('One message, that is all').waitFor();
    await page.getByRole('button', { name: 'Views' }).click();
    await page.getByRole('menuitem', { name: 'Save this search' }).click();
    await page.getByLabel('Name').fill('The rare ones');
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await page.goto('/messages');
    await page.locator('.message-line').nth(49).waitFor();
    await page.getByRole('button', { name: 'Views' }).click();
    await page.getByRole('menuitem', { name: /^The rare ones/ }).click();
    await page.getByText('One message, that is all').waitFor();
  });
});

describe.skipIf(!dashboard)('One message', () => {
  it('shows one email: its live story, looks, source, attachments, and sends it again', async () => {
    const { service, open } = dashboard!;
    const account = await service.account();
    const page = await open({ accountId: account.id, role: 'developer' });
    const sent = await service.send(
      account.key,
      anEmail({
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
    const frame = page.frameLocator('iframe[title="Email: Your invoice"]');
    await frame.getByRole('heading', { name: 'Invoice' }).waitFor();
    await page.getByText('Phone', { exact: true }).click();
    await page.getByRole('button', { name: 'Dark mode' }).click();
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

  it('goes on with its story after the service was out of order', async () => {
    const { service, open } = dashboard!;
    const account = await service.account();
    const page = await open({ accountId: account.id, role: 'developer' });
    const inAnHour = new Date(Date.now() + 3_600_000).toISOString();
    const sent = await service.send(account.key, anEmail({ scheduled_at: inAnHour }));
    let refused = 0;
    await page.route(/\/live\?/, (route) => {
      refused++;
      return route.fulfill({ status: 503 });
    });
    await page.route(/\/v1\/.*\/content/, (route) => route.fulfill({ status: 503 }));
    await page.goto(`/messages/${sent.body.id}`);
    await expect.poll(() => refused).toBeGreaterThan(0);
    // What cannot be read now is not said to be deleted.
    await page.getByRole('alert').getByText('The service answered 503').waitFor();
    await page.unroute(/\/v1\/.*\/content/);
    await page.getByRole('button', { name: 'Try again' }).click();
    await page.frameLocator('iframe').getByText('Hello').first().waitFor();
    await page.unroute(/\/live\?/);
    const { api } = await openSignedIn(service, { accountId: account.id });
    await api.messages.reschedule({ sm_mail_id: sent.body.id, scheduled_at: 'now' });
    await page.locator('[data-event=delivered]').waitFor();
  });

  it('to many: one header, what happened to how many, and a table to look through', async () => {
    const { service, open } = dashboard!;
    const account = await service.account();
    const page = await open({ accountId: account.id, role: 'viewer' });
    const to = Array.from({ length: 30 }, (_, n) =>
      n % 3 === 0 ? `bounce+${n}@simulator.test` : `delivered+${n}@simulator.test`,
    );
    const sent = await service.send(account.key, anEmail({ to, subject: 'To many' }));
    await page.goto(`/messages/${sent.body.id}`);
    await page.getByText('30 recipients: 20 delivered, 10 bounced').waitFor();
    await page.locator('[data-event=delivered]').getByText('20 delivered').waitFor();
    await page.locator('[data-event=bounced]').getByText('10 bounced').waitFor();
    // When, to the second, and how long it took.
    expect(await page.locator('[data-event=delivered]').innerText()).toMatch(
      /\d{4}, \d\d:\d\d:\d\d.* · [\d.]+ s after it was accepted/,
    );
    const envelope = page.locator('.envelope');
    expect(await envelope.innerText()).toMatch(/To\s+bounce\+0@simulator\.test, /);
    expect(await envelope.innerText()).toMatch(/From\s+Acme <hello@example\.com>/);
    await look(page, 'message-many');
    expect(await page.evaluate('document.documentElement.scrollHeight')).toBeLessThan(2500);
    await envelope.getByRole('link', { name: 'and 26 more' }).click();
    await page.getByText('10 bounced', { exact: true }).last().click();
    await page.getByRole('table').getByText('bounce+0@simulator.test').waitFor();
    const rows = page.getByRole('table').locator('tbody tr');
    await expect.poll(() => rows.count()).toBe(10);
    await page.getByLabel('Part of an address').fill('bounce+2');
    await expect.poll(() => rows.count()).toBe(3);
    // The tab is in the address.
    expect(new URL(page.url()).searchParams.get('tab')).toBe('recipients');
    await page.getByRole('tab', { name: 'Headers' }).click();
    for (const name of ['Message-ID', 'MIME-Version', 'Date']) {
      await page.getByRole('rowheader', { name, exact: true }).waitFor();
    }
  });

  it('that a receiver defers: with its answer, and when it is tried next', async () => {
    const { service, open } = dashboard!;
    const account = await service.account();
    const page = await open({ accountId: account.id, role: 'viewer' });
    const to = ['greylist@simulator.test'];
    const sent = await service.send(account.key, anEmail({ to, subject: 'Later' }));
    await page.goto(`/messages/${sent.body.id}`);
    const deferred = page.locator('[data-event=deferred]');
    await deferred.waitFor();
    expect(await deferred.innerText()).toMatch(/Response\s+450 .*Next try\s+\w+ \d+/s);
    await page.getByRole('tab', { name: 'Relay' }).click();
    const attempts = page.getByRole('region', { name: 'Deferred attempts' });
    expect(await attempts.innerText()).toMatch(/greylist@simulator\.test\s+Deferred\s+450 /);
  });
});
