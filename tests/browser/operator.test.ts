// Operator: all accounts; one is created, given other limits, suspended (its keys are refused at
// once) and resumed.
import { afterAll, describe, expect, it } from 'vitest';
import { anEmail } from '../support/service.ts';
import { look, openDashboard, told } from './dashboard.ts';

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
    await page.getByLabel("Owner's email").fill('beta@example.org');
    await page.getByRole('button', { name: 'Create', exact: true }).click();
    await page.getByText('The link was emailed to its owner.').waitFor();
    expect(await page.getByTestId('secret').count()).toBe(0);
    await page.getByRole('button', { name: 'Done' }).click();

    await page.getByRole('button', { name: 'Manage Beta' }).click();
    await page.getByRole('menuitem', { name: 'Plan, quota and rate' }).click();
    await page.getByLabel('Recipients per day').fill('777');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('cell', { name: '777', exact: true }).waitFor();

    await page.getByRole('button', { name: 'Manage Test' }).click();
    await page.getByRole('menuitem', { name: 'Suspend' }).click();
    await page.getByLabel('Reason').fill('Too many complaints');
    await page.getByRole('button', { name: 'Suspend', exact: true }).click();
    await page.getByText('Too many complaints').waitFor();
    await look(page, 'operator');
    expect((await service.send(account.key, anEmail())).status).toBe(403);
    await page.getByRole('button', { name: 'Manage Test' }).click();
    await page.getByRole('menuitem', { name: 'Resume' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Resume' }).click();
    await told(page, 'may send again');
    expect((await service.send(account.key, anEmail())).status).toBe(202);
  });

  it('sees which processes run, and on every page that a role is missing', async () => {
    const { service, open } = dashboard!;
    const account = await service.account();
    const page = await open({ accountId: account.id, role: 'owner', operator: true });
    await page.goto('/operator');
    const roles = page.getByRole('region', { name: 'Roles' });
    await roles
      .getByRole('row', { name: /delivery/ })
      .getByText('Running')
      .waitFor();

    // A delivery process on another host died; this one takes its place in the table only.
    await service.database.query(`UPDATE processes SET roles = array_remove(roles, 'delivery')`);
    await service.database.query(
      `INSERT INTO processes (id, roles, host, pid, version, seen_at)
       VALUES (gen_random_uuid(), '{delivery}', 'mail-2', 7, '0', now() - interval '3 minutes')`,
    );
    const told = page.getByText('Last seen 3 min ago on host mail-2: no process with the role');
    await told.first().waitFor();
    await look(page, 'operator-processes');
    await page.goto('/messages');
    await told.first().waitFor();
    const other = await open({ accountId: account.id, role: 'owner' });
    await other.goto('/messages');
    await other.getByRole('heading', { name: 'Messages' }).waitFor();
    expect(await other.getByText('Last seen').count()).toBe(0);
  });
});
