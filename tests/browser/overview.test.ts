// Overview: figures, chart, what needs an action; on a phone too. And what the browser loads at first.
import { gzipSync } from 'node:zlib';
import { afterAll, describe, expect, it } from 'vitest';
import { mail } from '../support/service.ts';
import { look, openDashboard } from './dashboard.ts';

const dashboard = await openDashboard();
afterAll(() => dashboard?.stop());

describe.skipIf(!dashboard)('Overview', () => {
  it('shows what became of the mails and what is to be done', async () => {
    const { service, open } = dashboard!;
    const account = await service.account({ dailyQuota: 5 });
    for (const name of ['opened', 'delivered', 'bounce', 'clicked', 'complaint']) {
      await service.send(account.key, mail({ to: [`${name}@simulator.test`], subject: name }));
    }
    const page = await open({ accountId: account.id, role: 'viewer' });
    await page.goto('/');
    await page.getByText('5 of 5 recipients today').waitFor();
    await page.getByRole('region', { name: 'Needs your attention' }).waitFor();
    await page.locator('.recharts-surface').first().waitFor();
    await page.locator('.message-line', { hasText: 'Clicked' }).waitFor();
    // Figures are counted every ten seconds at most, and asked for again by themselves.
    await page.getByText('1 complaint').waitFor({ timeout: 40_000 });
    await look(page, 'overview');

    await page.setViewportSize({ width: 390, height: 844 });
    await expect.poll(() => page.evaluate('document.documentElement.scrollWidth')).toBe(390);
    await look(page, 'overview-phone');
    await page.getByRole('button', { name: 'Open the navigation' }).click();
    await page.getByRole('link', { name: 'Messages', exact: true }).click();
    await page.getByRole('heading', { name: 'Messages' }).waitFor();
  });

  it('loads at most 250 KB of JavaScript at first, without charts and editor', async () => {
    const { service, open } = dashboard!;
    const account = await service.account();
    const page = await open({ accountId: account.id, role: 'viewer' });
    const scripts = new Map<string, number>();
    page.on('response', async (response) => {
      const { pathname } = new URL(response.url());
      if (pathname.endsWith('.js')) scripts.set(pathname, gzipSync(await response.body()).length);
    });
    await page.goto('/');
    await page.getByText('Waiting for your first mail').waitFor();
    await page.waitForLoadState('load');
    const bytes = [...scripts.values()].reduce((sum, size) => sum + size, 0);
    expect(bytes).toBeGreaterThan(50_000);
    expect(bytes).toBeLessThanOrEqual(250 * 1024);
    expect([...scripts.keys()].filter((name) => /codemirror|chart/.test(name))).toEqual([]);
  });
});
