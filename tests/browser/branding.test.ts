// Branding: mails change as one edits, a colour that is hard to read is told, and sends use what was saved.
import { readFileSync } from 'node:fs';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { captured } from '../support/captured.ts';
import { mail, type TestAccount } from '../support/service.ts';
import { look, openDashboard } from './dashboard.ts';

const sample = readFileSync('catalog/account/welcome/sample.json', 'utf8');
const welcome = { template: 'welcome', variables: { ...JSON.parse(sample), name: 'Bo' } };
const dashboard = await openDashboard();
afterAll(() => dashboard?.stop());

describe.skipIf(!dashboard)('Branding', () => {
  let account: TestAccount;
  let page: Page;

  beforeAll(async () => {
    account = await dashboard!.service.account();
    page = await dashboard!.open({ accountId: account.id, role: 'developer' });
  });

  it('changes several mails as one edits', async () => {
    await page.goto('/branding');
    const first = page.frameLocator('iframe[title="welcome in your branding"]');
    const order = page.frameLocator('iframe[title="order-confirmation in your branding"]');
    await page.getByLabel('Brand name').fill('Nest & Co');
    await first.getByText('Nest & Co').first().waitFor();
    await order.getByText('Nest & Co').first().waitFor();
    // However narrow, words stay whole.
    expect(await order.getByText('Confirmed', { exact: true }).evaluate(countLines)).toBe(1);
  });

  it('warns of colours that are hard to read, and of what cannot be', async () => {
    await page.getByRole('textbox', { name: 'Primary colour' }).fill('#ffee00');
    await page
      .getByText(/Hard to read on white \(1\.\d/)
      .first()
      .waitFor();
    await page.getByRole('textbox', { name: 'Primary colour' }).fill('#1d4ed8');
    await page
      .getByText(/Hard to read on white/)
      .nth(1)
      .waitFor({ state: 'detached' });
    await page.getByLabel('Privacy policy').fill('javascript:alert(1)');
    await page
      .getByRole('alert')
      .getByText(/privacy_policy_url/)
      .waitFor();
    await page.getByLabel('Privacy policy').fill('https://example.com/privacy');
    await page
      .frameLocator('iframe[title="welcome in your branding"]')
      .getByText('Privacy Policy')
      .waitFor();
    await look(page, 'branding');
  });

  it('goes into every send once it is saved', async () => {
    const { service } = dashboard!;
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Saved as version 1').waitFor();

    const sent = await service.send(
      account.key,
      mail({ ...welcome, subject: '', html: '', text: '' }),
    );
    const { html } = (await captured(service.database, sent.body.id)).mail;
    expect(html).toContain('Nest &amp; Co');
    expect(html).toContain('#1d4ed8');
  });
});

/** As it is laid out. Runs in the page, of which these types know nothing. */
function countLines(element: unknown): number {
  const { document } = globalThis as unknown as {
    document: {
      createRange(): { selectNodeContents(it: unknown): void; getClientRects(): object[] };
    };
  };
  const text = document.createRange();
  text.selectNodeContents(element);
  return text.getClientRects().length;
}
