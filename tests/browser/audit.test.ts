// Audit: owners see who changed what, and what it was before; others do not find the page.
import { afterAll, describe, expect, it } from 'vitest';
import { openSignedIn } from '../dashboard/dashboard-client.ts';
import { look, openDashboard } from './dashboard.ts';

const dashboard = await openDashboard();
afterAll(() => dashboard?.stop());

describe.skipIf(!dashboard)('Audit', () => {
  it('shows changes of people and programs, and finds those of one thing', async () => {
    const { service, open } = dashboard!;
    const account = await service.account();
    const { api, email } = await openSignedIn(service, { accountId: account.id });
    await api.branding.set({ brand_name: 'Nest' });
    await api.branding.set({ brand_name: 'Nest & Co' });
    await api.templates.clone({ slug: 'welcome' });
    const page = await open({ accountId: account.id, role: 'owner' });
    await page.goto('/');
    await page.getByRole('link', { name: 'Audit' }).click();
    const branding = page.getByRole('row', { name: /Set branding/ }).first();
    await branding.getByText(email).waitFor();
    expect(await branding.locator('del').textContent()).toBe('Nest');
    expect(await branding.locator('ins').textContent()).toBe('Nest & Co');
    await page.getByRole('row', { name: /Clone template/ }).waitFor();
    await look(page, 'audit');
    await page.getByRole('searchbox').fill('welcome');
    await branding.waitFor({ state: 'detached' });
    await page.getByRole('row', { name: /Clone template/ }).waitFor();
  });

  it('is for owners', async () => {
    const { service, open } = dashboard!;
    const account = await service.account();
    const page = await open({ accountId: account.id, role: 'developer' });
    await page.goto('/audit');
    await page.getByText(/needs the scope audit:read/).waitFor();
    expect(await page.getByRole('link', { name: 'Audit' }).count()).toBe(0);
  });
});
