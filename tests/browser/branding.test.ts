// Branding: emails change as you edit, a colour that is hard to read gets a warning, and sends use
// what was saved.
import { readFileSync } from 'node:fs';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { captured } from '../support/captured.ts';
import { anEmail, type TestAccount } from '../support/service.ts';
import { look, openDashboard, told } from './dashboard.ts';

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

  it('changes several emails as one edits', async () => {
    await page.goto('/branding');
    const first = page.frameLocator('iframe[title="welcome in your branding"]');
    const order = page.frameLocator('iframe[title="order-confirmation in your branding"]');
    await page.getByLabel('Brand name').fill('Nest & Co');
    await first.getByText('Nest & Co').first().waitFor();
    await order.getByText('Nest & Co').first().waitFor();
    // However little room there is, it is laid out as on a desktop.
    expect(await order.getByText('Confirmed', { exact: true }).evaluate(countLines)).toBe(1);
    const last = page.frames().at(-1)!;
    expect(await last.evaluate('innerWidth')).toBe(640);
    // Down to its footer.
    await expect
      .poll(() => last.evaluate('innerHeight - document.documentElement.scrollHeight'))
      .toBeGreaterThanOrEqual(0);
  });

  it('asks before one leaves what was not saved', async () => {
    const toKeys = page.getByRole('navigation').getByRole('link', { name: 'API keys' });
    await toKeys.click();
    const asked = page.getByRole('dialog', { name: 'Leave without saving?' });
    await asked.getByRole('button', { name: 'Cancel' }).click();
    await asked.waitFor({ state: 'detached' });
    expect(await page.getByLabel('Brand name').inputValue()).toBe('Nest & Co');
    await toKeys.click();
    await asked.getByRole('button', { name: 'Leave' }).click();
    await page.getByRole('heading', { name: 'API keys', level: 1 }).waitFor();
    await page.goBack();
    await page.getByText('These are your unsaved changes').waitFor();
    expect(await page.getByLabel('Brand name').inputValue()).toBe('Nest & Co');
  });

  it('gives back what was not saved, after the tab was closed', async () => {
    const tab = await page.context().newPage();
    await tab.goto('/branding');
    await tab.getByLabel('Support page').fill('https://example.com/not-saved');
    await tab.waitForFunction(`JSON.stringify(localStorage).includes('not-saved')`);
    await tab.close();
    const again = await page.context().newPage();
    await again.goto('/branding');
    await again.getByText('These are your unsaved changes').waitFor();
    expect(await again.getByLabel('Support page').inputValue()).toBe(
      'https://example.com/not-saved',
    );
    await again.getByRole('button', { name: 'Discard them' }).click();
    await again.close();
  });

  it('warns of colours that are hard to read, and of what cannot be', async () => {
    await page.getByRole('textbox', { name: 'Primary colour', exact: true }).fill('#ffee00');
    await page
      .getByText(/Hard to read on white \(1\.\d/)
      .first()
      .waitFor();
    await page.getByRole('textbox', { name: 'Primary colour', exact: true }).fill('#1d4ed8');
    await page
      .getByText(/Hard to read on white/)
      .nth(1)
      .waitFor({ state: 'detached' });
    // Said where it is wrong; the emails stay.
    for (const [field, wrong, why, right] of [
      ['Primary colour', 'blueish', 'must be a hex colour such as', '#1d4ed8'],
      ['Logo', 'logo.png', 'must be an http or https address', ''],
      [
        ...(['Privacy policy', 'javascript:alert(1)', 'must be an http or https address'] as const),
        'https://example.com/privacy',
      ],
    ] as const) {
      const box = page.getByRole('textbox', { name: field, exact: true });
      await box.fill(wrong);
      await page.getByText(why).waitFor();
      expect(await box.getAttribute('aria-invalid')).toBe('true');
      await page
        .frameLocator('iframe[title="welcome in your branding"]')
        .getByText('Nest & Co')
        .first()
        .waitFor();
      await box.fill(right);
      await page.getByText(why).waitFor({ state: 'detached' });
    }
    await page
      .frameLocator('iframe[title="welcome in your branding"]')
      .getByText('Privacy Policy')
      .waitFor();
    await look(page, 'branding');
  });

  it('goes into every send once it is saved', async () => {
    const { service } = dashboard!;
    const mail = () => anEmail({ ...welcome, subject: '', html: '', text: '' });
    const earlier = (await service.send(account.key, mail())).body.id;
    await page.getByRole('button', { name: 'Save…' }).click();
    const dialog = page.getByRole('dialog', { name: 'Save this branding?' });
    // As the last emails that were really sent would look.
    await dialog
      .getByText('Of the last 1 email: 1 would look different, 0 would stay the same.')
      .waitFor();
    await dialog
      .getByRole('row', { name: /Brand name/ })
      .getByText('Nest & Co')
      .waitFor();
    await dialog
      .frameLocator('iframe[title="The email as it would be"]')
      .getByText('Nest & Co')
      .first()
      .waitFor();
    await look(page, 'branding-save');
    await dialog.getByRole('button', { name: 'Save', exact: true }).click();
    await told(page, 'Saved as version 1');

    const before = (await captured(service.database, earlier)).email;
    expect(before.html).not.toContain('Nest &amp; Co');
    const sent = await service.send(account.key, mail());
    const { html } = (await captured(service.database, sent.body.id)).email;
    expect(html).toContain('Nest &amp; Co');
    expect(html).toContain('#1d4ed8');
  });

  it('has a logo that is uploaded, and carried by every email', async () => {
    const { service } = dashboard!;
    await page.getByLabel('Support page').fill('https://example.com/help');
    const file = { name: 'logo.svg', mimeType: 'image/svg+xml', buffer: Buffer.from('<svg/>') };
    await page.locator('input[type=file]').setInputFiles(file);
    await page.getByRole('alert').getByText('is not a PNG, JPEG, GIF or WebP image').waitFor();
    await page.locator('input[type=file]').setInputFiles({ ...file, buffer: TOO_LARGE });
    await page.getByRole('alert').getByText('a logo may be at most 128').waitFor();
    await page.locator('input[type=file]').setInputFiles({ ...file, buffer: LOGO });
    await told(page, 'Uploaded. New emails show this logo.');
    await page.getByRole('switch', { name: 'Every email carries the logo' }).click();
    await page
      .frameLocator('iframe[title="welcome in your branding"]')
      .locator('img[src^="data:image/gif"]')
      .waitFor();
    await look(page, 'branding-logo');
    // What was edited meanwhile is saved over the upload, which was a version of its own.
    await page.getByRole('button', { name: 'Save…' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Save', exact: true }).click();
    await told(page, 'Saved as version 3');
    const sent = await service.send(
      account.key,
      anEmail({ ...welcome, subject: '', html: '', text: '' }),
    );
    const { attachments } = (await captured(service.database, sent.body.id)).email;
    expect(attachments.map(({ mimeType }) => mimeType)).toEqual(['image/gif']);
    expect(await page.getByLabel('Support page').inputValue()).toBe('https://example.com/help');
  });

  it('two people: what each changed stands together, or is chosen', async () => {
    const { service, open } = dashboard!;
    await page.getByLabel('Brand name').fill('Mine');
    await page.getByLabel('Terms').fill('https://example.com/terms');
    const other = await open({ accountId: account.id, role: 'owner' });
    await other.goto('/branding');
    await other.getByLabel('Brand name').fill('Theirs');
    await other.getByLabel('Support email').fill('help@example.com');
    await other.getByRole('button', { name: 'Save…' }).click();
    await other.getByRole('dialog').getByRole('button', { name: 'Save', exact: true }).click();
    await told(other, 'Saved as version 4');

    await page.getByRole('button', { name: 'Save…' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Save', exact: true }).click();
    const conflict = page.getByRole('dialog', { name: 'Someone else changed the branding' });
    await conflict.getByText('It changes Brand name, Support email').waitFor();
    await look(page, 'branding-conflict');
    await conflict.getByText('Take theirs').click();
    await conflict.getByRole('button', { name: 'Merge into my changes' }).click();
    await page.getByRole('button', { name: 'Save…' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Save', exact: true }).click();
    await told(page, 'Saved as version 5');
    const [row] = await service.database.query<{ fields: object }>(
      'SELECT fields FROM branding WHERE account_id = $1 ORDER BY version DESC LIMIT 1',
      [account.id],
    );
    expect(row!.fields).toMatchObject({
      brand_name: 'Theirs',
      support_email: 'help@example.com',
      terms_url: 'https://example.com/terms',
    });
  });
});

const LOGO = Buffer.from('R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7', 'base64');
const TOO_LARGE = Buffer.concat([LOGO, Buffer.alloc(128 * 1024)]);

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
