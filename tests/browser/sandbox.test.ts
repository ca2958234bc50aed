// Sandbox: captured emails as they went over the wire, the simulator's addresses, and an emptied
// inbox.
import { afterAll, describe, it } from 'vitest';
import { captured } from '../support/captured.ts';
import { anEmail } from '../support/service.ts';
import { look, openDashboard } from './dashboard.ts';

const dashboard = await openDashboard();
afterAll(() => dashboard?.stop());

describe.skipIf(!dashboard)('Sandbox', () => {
  it('shows what was captured and can be emptied', async () => {
    const { service, open } = dashboard!;
    const account = await service.account();
    const sent = await service.send(
      account.key,
      anEmail({ subject: 'Caught', text: 'Hello! Your code is 482 913.' }),
    );
    await captured(service.database, sent.body.id);
    const page = await open({ accountId: account.id, role: 'developer' });
    await page.goto('/sandbox');
    await page.getByText('bounce@simulator.test').waitFor();
    await look(page, 'sandbox');
    await page.getByRole('link', { name: /Caught/ }).click();
    await page.frameLocator('iframe').getByText('Hello!').waitFor();
    await page.getByText('482913').waitFor();
    // Who the reader sees, not the return path.
    await page
      .locator('.fact', { hasText: 'From' })
      .getByText('Acme <hello@example.com>')
      .waitFor();
    await look(page, 'sandbox-mail');
    await page.getByRole('tab', { name: 'Raw' }).click();
    await page.getByText('DKIM-Signature').or(page.getByText('Subject: Caught')).first().waitFor();
    await page.getByRole('link', { name: 'Sandbox' }).first().click();
    await page.getByRole('button', { name: 'Empty the inbox' }).click();
    await page.getByRole('button', { name: 'Empty it' }).click();
    await page.getByText('Nothing captured yet').waitFor();
  });
});
