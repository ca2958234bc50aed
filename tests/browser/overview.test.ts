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
      await service.send(
        account.key,
        anEmail({ to: [`${name}@simulator.test`], subject: name, tags: ['orders'] }),
      );
    }
    const to = ['bounce', 'bounce+1', 'bounce+2', 'mailbox-full', 'delivered+1', 'delayed'];
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
  });

  it('says how long delivery took, and why recipients bounced', async () => {
    const box = (title: string) => page.locator('.below-table > *', { hasText: title });
    // One in six took five seconds, which half of them do not show.
    const seconds = async () => {
      const said = await box('Time to deliver').innerText();
      return /Half within ([\d.]+) s, 95 of 100 within ([\d.]+) s/.exec(said)?.slice(1).map(Number);
    };
    await expect.poll(async () => (await seconds())?.[1]).toBeGreaterThanOrEqual(10);
    const [half, most] = (await seconds())!;
    expect(half).toBeLessThanOrEqual(most!);
    await expect
      .poll(() => box('Why recipients bounced').innerText())
      .toMatch(/bounced\s+user-unknown\s+3\s+mailbox-full\s+1$/);
  });

  it('tells recipients apart, with a way to the messages', async () => {
    for (const [by, value, recipients] of [
      ['Tag', 'orders', 4],
      ['Stream', 'transactional', 10],
      ['Relay', 'sandbox', 10],
    ] as const) {
      await page.getByText(by, { exact: true }).click();
      const rows = page.getByRole('region', { name: `Recipients by ${by.toLowerCase()}` });
      await rows.getByRole('row', { name: new RegExp(`^${value}\\s+${recipients}\\b`) }).waitFor();
    }
    // The choice is in the address.
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
