// Team: an owner invites someone, who joins by the link, gets another role and is removed.
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { mailedInvitation } from '../support/invitation.ts';
import { look, openDashboard, PASSWORD, told } from './dashboard.ts';

const dashboard = await openDashboard();
afterAll(() => dashboard?.stop());

describe.skipIf(!dashboard)('Team', () => {
  let owner: Page;
  let guest: Page;
  let link: string;

  beforeAll(async () => {
    const { service, open } = dashboard!;
    const account = await service.account();
    owner = await open({ accountId: account.id, role: 'owner' });
    guest = await open();
  });

  it('invites someone', async () => {
    await owner.goto('/team');
    await owner.getByRole('button', { name: 'Invite' }).click();
    await owner.getByLabel('Email').fill('grace@example.org');
    await owner.getByRole('dialog').getByRole('button', { name: 'Invite' }).click();
    await owner.getByText('An email with the link went to grace@example.org').waitFor();
    ({ link } = await mailedInvitation(dashboard!.service.database, 'grace@example.org'));
    expect(await owner.content()).not.toContain(link);
    await look(owner, 'team-invited');
    await owner.getByRole('button', { name: 'Done' }).click();
    await owner.getByRole('cell', { name: 'grace@example.org' }).waitFor();
  });

  it('lets them join by the link', async () => {
    await guest.goto(link);
    await guest.getByRole('heading', { name: 'Join Test' }).waitFor();
    await look(guest, 'invitation');
    await guest.getByLabel('Your name').fill('Grace');
    await guest.getByLabel('Password', { exact: true }).fill(PASSWORD);
    await guest.getByRole('button', { name: 'Join' }).click();
    // The invitation was no first email of this account.
    await guest.getByText('Waiting for your first email').waitFor();
  });

  it('changes their role', async () => {
    await owner.reload();
    await owner.locator('input[aria-label="Role of Grace"]').click();
    await owner.getByRole('option', { name: 'Viewer' }).click();
    await told(owner, 'The role was changed');
    await look(owner, 'team');
    await guest.goto('/keys');
    await guest.getByRole('heading', { name: 'API keys' }).waitFor();
    expect(await guest.getByRole('button', { name: 'Create a key' }).count()).toBe(0);
  });

  it('removes them after asking', async () => {
    await owner.getByRole('button', { name: 'Remove Grace' }).click();
    await owner.getByRole('dialog').getByRole('button', { name: 'Remove' }).click();
    await told(owner, 'Grace was removed');
    const status = await guest.evaluate(
      `fetch('/v1/keys', { headers: { 'x-sm-dashboard': '1' } }).then((answer) => answer.status)`,
    );
    expect([401, 403]).toContain(status);
  });
});
