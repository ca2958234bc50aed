// Templates: clone, edit, see the fault where it is, fix, publish, send a test; compare versions and roll back.
import { readFileSync } from 'node:fs';
import { afterAll, describe, expect, it } from 'vitest';
import { captured } from '../support/captured.ts';
import { mail } from '../support/service.ts';
import { look, openDashboard } from './dashboard.ts';

const sample = readFileSync('catalog/account/welcome/sample.json', 'utf8');
const welcome = { template: 'welcome', variables: { ...JSON.parse(sample), name: 'Bo' } };
const dashboard = await openDashboard();
afterAll(() => dashboard?.stop());

describe.skipIf(!dashboard)('Templates', () => {
  it('shows the gallery with thumbnails', async () => {
    const { service, open } = dashboard!;
    const account = await service.account();
    const page = await open({ accountId: account.id, role: 'viewer' });
    await page.goto('/templates');
    const thumbnail = page.frameLocator('iframe[title="Preview of magic-link"]');
    await thumbnail.locator('body *').first().waitFor({ state: 'attached' });
    for (const slug of ['one-time-code', 'password-changed', 'password-reset']) {
      await page
        .frameLocator(`iframe[title="Preview of ${slug}"]`)
        .locator('table')
        .first()
        .waitFor();
    }
    await look(page, 'templates');
    await page.getByRole('searchbox').fill('invoice');
    await page.getByRole('link', { name: /^Invoice/ }).waitFor();
    expect(await page.getByRole('button', { name: 'New template' }).count()).toBe(0);
  }, 90_000);

  it('clones, edits, shows a fault at its line, publishes and sends', async () => {
    const { service, open } = dashboard!;
    const account = await service.account();
    const page = await open({ accountId: account.id, role: 'developer' });
    await page.goto('/templates/welcome');
    await page.frameLocator('iframe').getByRole('heading', { name: 'Welcome' }).waitFor();
    await look(page, 'template');
    // Without the browser's own emulation, which would reach into the frame by itself.
    await page.emulateMedia({ colorScheme: null });
    await page.getByRole('button', { name: 'Dark mail program' }).click();
    const isDark = `matchMedia('(prefers-color-scheme: dark)').matches`;
    expect(await page.frames().at(-1)!.evaluate(isDark)).toBe(true);
    expect(await page.evaluate(isDark)).toBe(false);
    await page.getByRole('button', { name: 'Clone' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Clone' }).click();

    const editor = page.getByRole('textbox', { name: 'HTML source' });
    await editor.click();
    await page.keyboard.press('Control+End');
    await page.keyboard.press('Enter');
    await page.keyboard.type('{% if ', { delay: 5 });
    await page
      .getByRole('alert')
      .getByText(/HTML, line \d+, column \d+/)
      .waitFor();
    await page.locator('.cm-lint-marker-error').waitFor();
    await look(page, 'editor-fault');
    expect(await page.getByRole('button', { name: 'Publish' }).isDisabled()).toBe(true);

    for (const key of ['End', 'Shift+Home', 'Delete']) await page.keyboard.press(key);
    await page.getByLabel('Subject').fill('Hello {{ name }}, from us');
    await page.getByText('Hello Sofía, from us').waitFor();
    await page.getByRole('alert').waitFor({ state: 'hidden' });
    await page.getByRole('tab', { name: 'Values' }).click();
    await page.getByLabel('name', { exact: true }).fill('Zoë');
    await page.getByText('Hello Zoë, from us').waitFor();
    await look(page, 'editor');
    await page.getByRole('button', { name: 'Publish' }).click();
    await page.getByText(/Version \d is in use/).waitFor();

    await page.getByRole('button', { name: 'Test send' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Send', exact: true }).click();
    await page.getByRole('dialog').locator('[data-event=opened]').waitFor();
    await page.getByRole('dialog').getByRole('button', { name: 'Done' }).click();

    // The API uses it too.
    const sent = await service.send(
      account.key,
      mail({ ...welcome, subject: '', html: '', text: '' }),
    );
    expect(sent.body).toMatchObject({ status: 'queued' });
    expect((await captured(service.database, sent.body.id)).mail.subject).toBe('Hello Bo, from us');

    await page.getByRole('link', { name: 'Welcome' }).first().click();
    await page
      .getByRole('button', { name: /Diff of version/ })
      .first()
      .click();
    await page.getByRole('textbox', { name: 'What changed' }).waitFor();
    await look(page, 'template-diff');
  }, 120_000);
});
