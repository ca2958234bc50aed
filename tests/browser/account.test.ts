// Account and plan: quota and rate, what a free account cannot do and why, tracking, name,
// password.
import { afterAll, describe, expect, it } from 'vitest';
import { look, openDashboard, PASSWORD, told } from './dashboard.ts';

const dashboard = await openDashboard();
afterAll(() => dashboard?.stop());

describe.skipIf(!dashboard)('Account & plan', () => {
  it('shows figures, changes name and tracking', async () => {
    const { service, open } = dashboard!;
    const account = await service.account({ dailyQuota: 1234 });
    const page = await open({ accountId: account.id, role: 'owner' });
    await page.goto('/account');
    await page.getByText('1,234').first().waitFor();
    await look(page, 'account');
    await page.getByLabel('Clicks').click();
    await told(page, 'Saved');
    await page.getByLabel('Name of the account').fill('Nest & Co');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.locator('.account-name', { hasText: 'Nest & Co' }).waitFor();
  });

  it('tells a free account what is blocked', async () => {
    const { service, open } = dashboard!;
    const account = await service.account({ plan: 'free' });
    const page = await open({ accountId: account.id, role: 'owner' });
    await page.goto('/');
    await page.getByRole('link', { name: 'See what is blocked' }).click();
    await page.getByText('Some things are blocked').waitFor();
    await look(page, 'account-free');
  });

  it('changes the password', async () => {
    const { service, open } = dashboard!;
    const account = await service.account();
    const page = await open({ accountId: account.id, role: 'viewer' });
    await page.goto('/profile');
    await page.getByLabel('Current password').fill('wrong');
    await page.getByLabel('New password').fill('another good password');
    await page.getByRole('button', { name: 'Change the password' }).click();
    await page.getByRole('alert').getByText('this is not your password').waitFor();
    await page.getByLabel('Current password').fill(PASSWORD);
    await page.getByRole('button', { name: 'Change the password' }).click();
    await told(page, 'The password was changed');
    await look(page, 'profile');
    expect(await page.getByLabel('New password').inputValue()).toBe('');
  });
});
