// Overview: figures, chart, what needs attention.
import { readFileSync } from 'node:fs';
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
    const account = await service.account({ dailyQuota: 10 });
    for (const name of ['opened', 'delivered', 'clicked', 'complaint']) {
      await service.send(account.key, anEmail({ to: [`${name}@simulator.test`], subject: name }));
    }
    const to = ['bounce', 'bounce+1', 'bounce+2', 'bounce+3', 'delivered+1', 'delivered+2'];
    await service.send(
      account.key,
      anEmail({ to: to.map((name) => `${name}@simulator.test`), subject: 'bounce' }),
    );
    page = await open({ accountId: account.id, role: 'viewer' });
  });

  it('shows what happens now and what is to be done', async () => {
    await page.goto('/');
    await page.getByText('10 of 10 recipients today').waitFor();
    await page.getByRole('region', { name: 'Needs your attention' }).waitFor();
    await page.getByRole('figure', { name: 'Recipients by day' }).waitFor();
    await page.locator('.message-line', { hasText: 'Clicked' }).waitFor();
  });

  it('shows what happened to the emails', async () => {
    // Figures are counted every ten seconds at most, and asked for again by themselves.
    await page.getByText('1 complaint').waitFor();
    // Of the recipients; of the messages it would be one in five.
    await page.getByText('4 recipients, 1 complaint').waitFor();
    await page.locator('.figure', { hasText: /^40\s?%$/ }).waitFor();
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
    expect(csv.at(-1)).toMatch(/^domain,"simulator\.test",10,/);
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
});
