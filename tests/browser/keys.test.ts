// API keys: shown once, limited for an agent, revoked after asking and refused at once. A viewer
// only looks.
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openSignedIn } from '../dashboard/dashboard-client.ts';
import { anEmail } from '../support/service.ts';
import { until } from '../support/until.ts';
import { look, openDashboard } from './dashboard.ts';

const dashboard = await openDashboard({ SMTP_PORT: '0' });
afterAll(() => dashboard?.stop());

describe.skipIf(!dashboard)('API keys', () => {
  let accountId: number;
  let page: Page;
  let secret: string;

  beforeAll(async () => {
    const { service, open } = dashboard!;
    accountId = (await service.account()).id;
    page = await open({ accountId, role: 'developer' });
  });

  it('makes a limited key and shows it once', async () => {
    await page.goto('/keys');
    await page.getByRole('button', { name: 'Create a key' }).click();
    await page.getByLabel('Name').fill('Support agent');
    await page.getByRole('combobox', { name: 'Expires' }).click();
    await page.getByRole('option', { name: 'In 30 days' }).click();
    await page.getByRole('button', { name: 'Limit it, for an agent' }).click();
    await page.getByLabel('No bcc').check();
    await look(page, 'key-new');
    await page.getByRole('button', { name: 'Create the key' }).click();
    secret = (await page.getByTestId('secret').textContent())!;
    await page.getByRole('button', { name: 'Copy API key' }).click();
    expect(await page.evaluate('navigator.clipboard.readText()')).toBe(secret);
    const dialog = page.getByRole('dialog');
    await dialog.getByText(`${dashboard!.service.service.smtpPort} with STARTTLS`).waitFor();
    await dialog.getByRole('button', { name: 'Copy the password' }).click();
    expect(await page.evaluate('navigator.clipboard.readText()')).toBe(secret);
    await look(page, 'key-secret');
    // Escape does not throw away what is shown once.
    await page.keyboard.press('Escape');
    expect(await page.getByTestId('secret').textContent()).toBe(secret);
    await page.getByRole('button', { name: 'Done' }).click();
    expect(await page.content()).not.toContain(secret);
    // A program that sends by SMTP finds the same settings where the others find their snippets.
    await page.goto('/connect');
    await page.getByText(`${dashboard!.service.service.smtpPort} with STARTTLS`).waitFor();
  });

  it('tells when it was last used, and when it expires', async () => {
    const { service } = dashboard!;
    await page.goto('/keys');
    const cell = (label: string) =>
      page.getByRole('row', { name: /^Support agent/ }).locator(`[data-label="${label}"]`);
    await cell('Last used').getByText('Never').waitFor();
    await cell('Expires').getByText('in 30 days').waitFor();
    expect((await service.send(secret, anEmail({ bcc: ['bo@example.net'] }))).status).toBe(403);
    expect((await service.send(secret, anEmail())).status).toBe(202);
    // Its use a moment ago is seen without a reload; the exact time stands behind the words.
    await cell('Last used').locator('time').hover();
    await page
      .getByRole('tooltip')
      .getByText(/\d{4}-\d\d-\d\dT\S+Z/)
      .waitFor();
    await look(page, 'keys');
  });

  it('says of one that has expired that it did', async () => {
    const { service } = dashboard!;
    const { api } = await openSignedIn(service, { accountId });
    const { secret } = await api.keys.create({
      ...{ name: 'For a moment', scopes: ['email:send'] },
      expires_at: new Date(Date.now() + 2000).toISOString(),
    });
    // Nobody reloads.
    const row = page.getByRole('row', { name: /^For a moment/ });
    await row.getByText('Expired', { exact: true }).waitFor();
    expect(await row.getByRole('button').count()).toBe(0);
    expect((await service.send(secret, anEmail())).status).toBe(401);
  });

  it('revokes it after asking: 401 at once', async () => {
    const { service } = dashboard!;
    await page.getByRole('button', { name: 'Revoke Support agent' }).click();
    await page.getByRole('dialog').getByText('cannot be undone').waitFor();
    await page.getByRole('button', { name: 'Revoke the key' }).click();
    await page.getByText('The key no longer works').waitFor();
    expect((await service.send(secret, anEmail())).status).toBe(401);
  });

  it('lets a viewer look, and nothing else', async () => {
    const { service, open } = dashboard!;
    const account = await service.account();
    const page = await open({ accountId: account.id, role: 'viewer' });
    for (const [path, heading, button] of [
      ['/keys', 'API keys', /Create a key|Revoke/],
      ['/senders', 'Senders', /Add a|Remove/],
      ['/webhooks', 'Webhooks', /Add an endpoint/],
      ['/suppressions', 'Suppressions', /Add addresses/],
      ['/team', 'Team', /Invite|Remove/],
      ['/templates/welcome', 'Welcome', /Clone|Test send/],
      ['/branding', 'Branding', /Save|Defaults/],
    ] as const) {
      await page.goto(path);
      await page.getByRole('heading', { name: heading, level: 1 }).waitFor();
      // A page may load more than one thing.
      await until(async () => (await page.locator('[aria-busy=true]').count()) === 0);
      expect(await page.getByRole('button', { name: button }).count(), path).toBe(0);
    }
    // The pages only hide what the server refuses.
    const refused = await page.evaluate(
      `fetch('/v1/keys', { method: 'POST', headers: { 'x-sm-dashboard': '1', 'content-type': 'application/json' }, body: '{"scopes":["email:send"]}' }).then((answer) => answer.status)`,
    );
    expect(refused).toBe(403);
  });
});
