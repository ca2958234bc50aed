// Suppressions: an address that complained is listed automatically; one is added by hand, found,
// and removed after confirmation.
import { readFileSync } from 'node:fs';
import { afterAll, describe, expect, it } from 'vitest';
import { anEmail } from '../support/service.ts';
import { look, openDashboard } from './dashboard.ts';

const dashboard = await openDashboard();
afterAll(() => dashboard?.stop());

describe.skipIf(!dashboard)('Suppressions', () => {
  it('lists, adds, searches and removes', async () => {
    const { service, open } = dashboard!;
    const account = await service.account();
    const page = await open({ accountId: account.id, role: 'developer' });
    await page.goto('/suppressions');
    await page.getByText('Nobody is suppressed').waitFor();
    const sent = await service.send(account.key, anEmail({ to: ['complaint@simulator.test'] }));
    await page.goto(`/messages/${sent.body.id}`);
    await page.locator('[data-event=complained]').waitFor();
    await page.getByRole('link', { name: 'Suppressions' }).click();
    await page.getByRole('cell', { name: 'complaint@simulator.test', exact: true }).waitFor();

    await page.getByRole('button', { name: 'Add addresses' }).click();
    await page.getByRole('dialog').getByLabel('Addresses').fill('bo@example.net\ncy@@example.net');
    await page.getByRole('button', { name: 'Suppress', exact: true }).click();
    await page.getByRole('alert').getByText('"cy@@example.net" is not an email address').waitFor();
    await page.getByRole('dialog').getByLabel('Addresses').fill('bo@example.net\ncy@example.net');
    await page.getByRole('button', { name: 'Suppress', exact: true }).click();
    await page.getByRole('cell', { name: 'bo@example.net', exact: true }).waitFor();
    const downloading = page.waitForEvent('download');
    await page.getByRole('button', { name: 'Export' }).click();
    const exported = readFileSync(await (await downloading).path(), 'utf8');
    expect(exported).toMatch(
      /^address,reason,.*\nbo@example\.net,manual,,.*\ncomplaint@simulator\.test,complaint,msg_.*\ncy@/,
    );
    await look(page, 'suppressions');
    await page.getByRole('searchbox').fill('bo@');
    await page
      .getByRole('cell', { name: 'complaint@simulator.test', exact: true })
      .waitFor({ state: 'hidden' });
    await page.getByRole('button', { name: 'Remove bo@example.net' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click();
    await page.getByText('Nothing matches').waitFor();
  });
});
