// First run: the owner sets up the service, makes the quickstart's call and watches the email until
// it is opened. Then the sign-in page: signing in and out, what an ended session looks like, and a
// forgotten password.
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { addIdentity } from '../../src/accounts/identities.ts';
import { showUuid } from '../../src/ids.ts';
import { captured } from '../support/captured.ts';
import { until } from '../support/until.ts';
import { look, openDashboard, PASSWORD } from './dashboard.ts';

const dashboard = await openDashboard();
afterAll(() => dashboard?.stop());

describe.skipIf(!dashboard)('First run', () => {
  let page: Page;

  beforeAll(async () => {
    page = await dashboard!.open();
  });

  it('goes from the set-up link to the quickstart', async () => {
    const { service } = dashboard!;
    await page.goto('/');
    await page.getByText('The service printed a one-time link').waitFor();
    await page.goto(service.service.setUpUrl!);
    await page.reload();
    await look(page, 'set-up');
    await page.getByLabel('Your name').fill('Ada');
    await page.getByLabel('Account').fill('Acme');
    await page.getByLabel('Email').fill('ada@example.com');
    await page.getByLabel('Password', { exact: true }).fill(PASSWORD);
    await page.getByRole('button', { name: 'Create the account' }).click();

    await page.getByText('Waiting for your first email').waitFor();
  });

  it('makes the quickstart’s call and watches the email until it is opened', async () => {
    const { service } = dashboard!;
    const [account] = await service.database.query<{ id: number }>('SELECT id FROM accounts');
    await addIdentity(service.database, account!.id, 'example.com', true);
    await page.reload();
    await page.getByRole('button', { name: 'Create a key' }).click();
    const key = (await page.getByTestId('secret').textContent())!;
    const call = await page.getByRole('region', { name: 'curl call' }).textContent();
    expect(call).toContain(`X-API-Key: ${key}`);
    await look(page, 'quickstart');

    // What the quickstart says, exactly.
    const body = /-d '([^']*)'/.exec(call!)![1]!;
    const sent = await service.send(key, JSON.parse(body) as Record<string, unknown>);
    expect(sent.status).toBe(202);
    await page.locator('[data-event=opened]').waitFor();
    await look(page, 'quickstart-arrived');
    await page.getByRole('button', { name: 'Go to the overview' }).click();
    await page.getByRole('heading', { name: 'Recipients', exact: true }).waitFor();
    await page.getByText('Hello from Sandmartin').waitFor();
  });

  it('goes out and in again, to where one was', async () => {
    const { service } = dashboard!;
    await page.getByRole('button', { name: 'Ada' }).click();
    await page.getByRole('menuitem', { name: 'Sign out' }).click();
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
    await look(page, 'sign-in');
    await page.goto('/messages?tag=welcome');
    await page.getByLabel('Email').fill('ada@example.com');
    await page.getByLabel('Password', { exact: true }).fill('not the password');
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('alert').getByText('the password is wrong').waitFor();
    await page.getByLabel('Password', { exact: true }).fill(PASSWORD);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('heading', { name: 'Messages' }).waitFor();
    expect(new URL(page.url()).search).toContain('tag=welcome');

    // A session that ends elsewhere is begun again over the open page, which stays as it is.
    await service.database.query('DELETE FROM sessions');
    const dialog = page.getByRole('dialog', { name: 'Your session has ended' });
    await dialog.waitFor();
    await dialog.getByLabel('Password', { exact: true }).fill(PASSWORD);
    await dialog.getByRole('button', { name: 'Sign in', exact: true }).click();
    await dialog.waitFor({ state: 'hidden' });
    await page.getByRole('heading', { name: 'Messages' }).waitFor();
    expect(new URL(page.url()).search).toContain('tag=welcome');
    await page.getByRole('button', { name: 'Ada' }).click();
    await page.getByRole('menuitem', { name: 'Sign out' }).click();
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
  });

  it('lets someone in again who forgot the password', async () => {
    const { service, open } = dashboard!;
    await page.goto('/sign-in');
    await page.getByRole('link', { name: 'Forgot your password?' }).click();
    await page.getByLabel('Email').fill('ada@example.com');
    await look(page, 'forgot-password');
    await page.getByRole('button', { name: 'Email me the link' }).click();
    await page.getByText('If this address has a login here').waitFor();
    await look(page, 'forgot-password-asked');

    const { email } = await until(async () => {
      const [row] = await service.database.query<{ uuid: string }>(
        `SELECT id AS uuid FROM messages WHERE tags = '{password-reset}'`,
      );
      return row && captured(service.database, showUuid('msg_', row.uuid));
    });
    const link = /http\S+\/new-password#\S+/.exec(email.text!)![0];
    await page.goto(link);
    await page.getByLabel('New password', { exact: true }).fill('a completely new one');
    await look(page, 'new-password');
    await page.getByRole('button', { name: 'Set the password' }).click();
    await page.getByRole('heading', { name: 'Overview', level: 1 }).waitFor();

    // Once.
    const again = await open();
    await again.goto(link);
    await again.getByRole('alert').getByText('no longer works').waitFor();
    await look(again, 'new-password-used');
    await again.getByRole('link', { name: 'Ask for a new link' }).click();
    await again.getByRole('heading', { name: 'Forgot your password?' }).waitFor();
  });
});
