// Operator: all accounts; one is made, given other figures, suspended (its keys are refused at once) and resumed.
import { afterAll, describe, expect, it } from 'vitest';
import { mail } from '../support/service.ts';
import { look, openDashboard } from './dashboard.ts';

const dashboard = await openDashboard();
afterAll(() => dashboard?.stop());

describe.skipIf(!dashboard)('Operator', () => {
  it('makes, changes, suspends and resumes accounts', async () => {
    const { service, open } = dashboard!;
    const account = await service.account();
    const page = await open({ accountId: account.id, role: 'owner', operator: true });
    await page.goto('/operator');
    await page.getByRole('button', { name: 'New account' }).click();
    await page.getByLabel('Name').fill('Beta');
    await page.getByLabel("Owner's e-mail").fill('beta@example.org');
    await page.getByRole('button', { name: 'Create', exact: true }).click();
    expect(await page.getByTestId('secret').textContent()).toContain('/invitation#');
    await page.getByRole('button', { name: 'Done' }).click();

    await page.getByRole('button', { name: 'Manage Beta' }).click();
    await page.getByRole('menuitem', { name: 'Plan, quota and rate' }).click();
    await page.getByLabel('Recipients a day').fill('777');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('cell', { name: '777' }).waitFor();

    await page.getByRole('button', { name: 'Manage Test' }).click();
    await page.getByRole('menuitem', { name: 'Suspend' }).click();
    await page.getByLabel('Reason').fill('Too many complaints');
    await page.getByRole('button', { name: 'Suspend', exact: true }).click();
    await page.getByText('Too many complaints').waitFor();
    await look(page, 'operator');
    expect((await service.send(account.key, mail())).status).toBe(403);
    await page.getByRole('button', { name: 'Manage Test' }).click();
    await page.getByRole('menuitem', { name: 'Resume' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Resume' }).click();
    await page.getByText('may send again').waitFor();
    expect((await service.send(account.key, mail())).status).toBe(202);
  });
});
