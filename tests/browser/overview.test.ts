// Overview: figures, chart, what needs attention. And what the browser loads first.
import { readFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { anEmail } from '../support/service.ts';
import { look, openDashboard } from './dashboard.ts';

const dashboard = await openDashboard();
afterAll(() => dashboard?.stop());

describe.skipIf(!dashboard)('Overview', () => {
  let page: Page;

  beforeAll(async () => {
    const { service, open } = dashboard!;
    const account = await service.account({ dailyQuota: 5 });
    for (const name of ['opened', 'delivered', 'bounce', 'clicked', 'complaint']) {
      await service.send(account.key, anEmail({ to: [`${name}@simulator.test`], subject: name }));
    }
    page = await open({ accountId: account.id, role: 'viewer' });
  });

  it('shows what happens now and what is to be done', async () => {
    await page.goto('/');
    await page.getByText('5 of 5 recipients today').waitFor();
    await page.getByRole('region', { name: 'Needs your attention' }).waitFor();
    await page.getByRole('figure', { name: 'Recipients by day' }).waitFor();
    await page.locator('.message-line', { hasText: 'Clicked' }).waitFor();
  });

  it('shows what happened to the emails', async () => {
    // Figures are counted every ten seconds at most, and asked for again by themselves.
    await page.getByText('1 complaint').waitFor();
    await look(page, 'overview');
    // Told apart, with a way to the messages; the choice is in the address.
    await page.getByText('Domain', { exact: true }).click();
    const row = page.getByRole('region', { name: 'Recipients by domain' }).getByRole('row').last();
    await row.getByText('simulator.test').waitFor();
    expect(new URL(page.url()).searchParams.get('by')).toBe('domain');
    const [file] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'CSV' }).click(),
    ]);
    expect(file.suggestedFilename()).toBe('sandmartin-by-domain.csv');
    const csv = readFileSync(await file.path(), 'utf8').split('\r\n');
    expect(csv[0]).toBe('kind,value,recipients,delivered,opened,clicked,bounced,complained');
    expect(csv.at(-1)).toMatch(/^domain,"simulator\.test",5,/);
    await page.getByRole('link', { name: 'simulator.test', exact: true }).click();
    await page.getByText('5 messages, that is all').waitFor();
    expect(await page.getByRole('searchbox').inputValue()).toBe('to:@simulator.test after:7d');
  });

  it('says no figure that it does not know yet', async () => {
    await page.route('**/v1/**', () => undefined);
    await page.goto('/');
    await page.getByRole('main').getByRole('progressbar').first().waitFor();
    const figures = await page.getByRole('main').locator('.figure, .figure-note').allInnerTexts();
    expect(figures.length).toBeGreaterThan(4);
    expect(figures.join(' ')).not.toMatch(/\d/);
    expect(await page.getByRole('main').innerText()).not.toMatch(/\d of \d/);
    await page.unroute('**/v1/**');
  });

  it('tells nobody to publish a placeholder in DNS', async () => {
    const { service, open } = dashboard!;
    const account = await service.account();
    const page = await open({ accountId: account.id, role: 'developer' });
    await page.goto('/senders');
    await page.getByRole('button', { name: 'Add a domain' }).click();
    await page.getByRole('dialog').getByLabel('Domain').fill('mail.example.org');
    await page.getByRole('button', { name: 'Add', exact: true }).click();
    await page.getByText('Nothing to publish yet').first().waitFor();
    expect(await page.getByText('bounces.localhost').count()).toBe(0);
  });

  it('says that there is no such page where the navigation is at hand', async () => {
    const { service, open } = dashboard!;
    const account = await service.account();
    const page = await open({ accountId: account.id, role: 'owner' });
    for (const path of ['/no-such-page', '/operator']) {
      await page.goto(path);
      await page.getByRole('heading', { name: 'Nothing nests here' }).waitFor();
      await page.getByRole('navigation', { name: 'Pages' }).waitFor();
      expect(await page.getByRole('button', { name: 'New account' }).count()).toBe(0);
    }
  });

  it('loads at most 250 KB of JavaScript at first, without the editor', async () => {
    const { service, open } = dashboard!;
    const account = await service.account();
    const page = await open({ accountId: account.id, role: 'viewer' });
    const scripts = new Map<string, number>();
    page.on('response', async (response) => {
      const { pathname } = new URL(response.url());
      if (pathname.endsWith('.js')) scripts.set(pathname, gzipSync(await response.body()).length);
    });
    await page.goto('/');
    await page.getByText('Waiting for your first email').waitFor();
    await page.waitForLoadState('load');
    const bytes = [...scripts.values()].reduce((sum, size) => sum + size, 0);
    expect(bytes).toBeGreaterThan(50_000);
    expect(bytes).toBeLessThanOrEqual(250 * 1024);
    expect([...scripts.keys()].filter((name) => /codemirror/.test(name))).toEqual([]);
  });
});
