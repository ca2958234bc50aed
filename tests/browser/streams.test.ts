// Streams in a browser: the account's page of them, and the page where a recipient chooses, without
// script.
import { afterAll, describe, expect, it } from 'vitest';
import { openStreams } from '../streams/support.ts';
import { findings, look, openDashboard, screenshot } from './dashboard.ts';

const dashboard = await openDashboard();
afterAll(() => dashboard?.stop());

describe.skipIf(!dashboard)('Streams', () => {
  it('are made, changed and archived', async () => {
    const { service, open } = dashboard!;
    const account = await service.account();
    const page = await open({ accountId: account.id, role: 'developer' });
    await page.goto('/streams');
    await page.getByText('Service emails').waitFor();
    await page.getByRole('button', { name: 'New stream' }).click();
    await page.getByRole('dialog').getByLabel('Name').fill('product-news');
    await page.getByRole('dialog').getByLabel('Title').fill('Product news');
    await page.getByRole('dialog').getByLabel('Description').fill('What is new, once a month.');
    await page.getByRole('button', { name: 'Create it' }).click();
    await page.getByText('What is new, once a month.').waitFor();
    await look(page, 'streams');
    await page.getByRole('button', { name: 'Archive Product news' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Archive' }).click();
    await page.getByText('Archived', { exact: true }).waitFor();
  });
});

describe.skipIf(!dashboard)('The preference page', () => {
  it('is used with the keyboard and without script, and keeps what was chosen', async () => {
    const { service, open } = dashboard!;
    const mine = await openStreams(service);
    await mine.put('news', { kind: 'broadcast', title: 'Product news', description: 'Monthly.' });
    await mine.put('offers', { kind: 'broadcast', title: 'Offers' });
    await mine.call('PATCH', '/v1/branding', {
      brand_name: 'Alder & Finch',
      primary_color: '#7a3cff',
      support_email: 'help@example.com',
    });
    const id = await mine.send({ to: ['ada@example.net'], stream: 'news' });
    const url = (await mine.unsubscribeUrl(id))!;

    const page = await open({ accountId: mine.account.id, role: 'viewer' });
    const browser = page.context().browser()!;
    const context = await browser.newContext({ javaScriptEnabled: false });
    const reader = await context.newPage();
    await reader.goto(url);
    await reader.getByRole('link', { name: 'Choose which emails you get' }).click();
    const news = reader.getByRole('checkbox', { name: 'Product news' });
    const offers = reader.getByRole('checkbox', { name: 'Offers' });
    expect([await news.isChecked(), await offers.isChecked()]).toEqual([true, true]);
    await news.focus();
    await reader.keyboard.press('Space');
    await reader.getByRole('button', { name: 'Save' }).press('Enter');
    await reader.getByRole('status').getByText('Your choices are saved.').waitFor();
    expect([await news.isChecked(), await offers.isChecked()]).toEqual([false, true]);
    await reader.getByRole('button', { name: 'Unsubscribe from everything' }).click();
    await reader.getByText('You are unsubscribed from everything').waitFor();
    expect([await news.isChecked(), await offers.isChecked()]).toEqual([false, false]);
    await news.check();
    await reader.getByRole('button', { name: 'Save' }).click();
    expect([await news.isChecked(), await offers.isChecked()]).toEqual([true, false]);
    const whole = reader.url();
    await context.close();

    await page.goto(whole);
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme });
      for (const width of [1280, 390]) {
        await page.setViewportSize({ width, height: 900 });
        await screenshot(page, `preferences-${colorScheme}-${width}`);
        expect(await findings(page), `${colorScheme}, ${width}`).toEqual([]);
        const wide = await page.evaluate('document.documentElement.scrollWidth');
        expect(wide).toBeLessThanOrEqual(width);
      }
    }
  });
});
