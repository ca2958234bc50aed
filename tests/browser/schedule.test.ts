// Scheduled emails: found in the list, moved, sent now or cancelled on their page. The service, not
// only the page, confirms what happened; a viewer can only look, and an email that has been sent
// says why it cannot be cancelled.
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { anEmail, type TestAccount } from '../support/service.ts';
import { until } from '../support/until.ts';
import { look, openDashboard, told } from './dashboard.ts';

const dashboard = await openDashboard();
afterAll(() => dashboard?.stop());

const HOUR_MS = 3_600_000;

describe.skipIf(!dashboard)('Scheduled emails', () => {
  let account: TestAccount;
  let page: Page;

  beforeAll(async () => {
    account = await dashboard!.service.account();
    page = await dashboard!.open({ accountId: account.id, role: 'developer' });
  });

  async function schedule(subject: string): Promise<string> {
    const scheduled_at = new Date(Date.now() + HOUR_MS).toISOString();
    const { body } = await dashboard!.service.send(account.key, anEmail({ subject, scheduled_at }));
    return body.id;
  }

  const read = async (id: string) =>
    (await dashboard!.service.get(account.key, `/v1/messages/${id}`)).body;

  it('stand in the list as scheduled, and are found by that', async () => {
    await schedule('In an hour');
    await dashboard!.service.send(account.key, anEmail({ subject: 'At once' }));
    await page.goto('/messages');
    const line = page.locator('.message-line', { hasText: 'In an hour' });
    await line.getByText('Scheduled').waitFor();
    await page.locator('.message-line', { hasText: 'At once' }).waitFor();
    await page.getByRole('searchbox').fill('status:scheduled');
    await page.getByText('One message, that is all').waitFor();
    await line.waitFor();
    await look(page, 'messages-scheduled');
  });

  it('are moved to another time', async () => {
    const id = await schedule('To be moved');
    await page.goto(`/messages/${id}`);
    await page.getByRole('button', { name: 'Change the time' }).click();
    const dialog = page.getByRole('dialog');
    const later = new Date(Date.now() + 5 * HOUR_MS);
    later.setSeconds(0, 0);
    const local = new Date(later.getTime() - later.getTimezoneOffset() * 60_000);
    await dialog.getByLabel('Date and time').fill(local.toISOString().slice(0, 16));
    await look(page, 'message-reschedule');
    await dialog.getByRole('button', { name: 'Change the time' }).click();
    await told(page, 'The time was changed');
    expect(Date.parse((await read(id)).scheduled_at)).toBe(later.getTime());
  });

  it('go out now when someone says so', async () => {
    const id = await schedule('Sooner after all');
    await page.goto(`/messages/${id}`);
    await page.getByRole('button', { name: 'Change the time' }).click();
    await page.getByRole('button', { name: 'Send it now' }).click();
    await until(async () => (await read(id)).status !== 'queued');
    await page.getByRole('button', { name: 'Change the time' }).waitFor({ state: 'detached' });
  });

  it('are cancelled after asking: nobody receives them, and the list says so', async () => {
    const id = await schedule('Never mind');
    await page.goto(`/messages/${id}`);
    await page.getByRole('button', { name: 'Cancel the email' }).click();
    await page.getByRole('dialog').getByText('It will not be sent to').waitFor();
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel the email' }).click();
    await told(page, 'Cancelled. It will not be sent');
    await page.getByText('Cancelled', { exact: true }).first().waitFor();
    await look(page, 'message-cancelled');
    const message = await read(id);
    expect(message).toMatchObject({ status: 'queued', events: [] });
    expect(message.cancelled_at).not.toBeNull();
    await page.goto('/messages');
    await page.locator('.message-line', { hasText: 'Never mind' }).getByText('Cancelled').waitFor();
  });

  it('that went meanwhile stay gone, and the page says why', async () => {
    const id = await schedule('Too late');
    await page.goto(`/messages/${id}`);
    await page.getByRole('button', { name: 'Cancel the email' }).click();
    // Another tab, while this one asks.
    const moved = await fetch(`${dashboard!.url}/v1/messages/${id}`, {
      method: 'PATCH',
      headers: { 'x-api-key': account.key, 'content-type': 'application/json' },
      body: JSON.stringify({ scheduled_at: 'now' }),
    });
    expect(moved.status).toBe(200);
    await until(async () => (await read(id)).status !== 'queued');
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel the email' }).click();
    await page
      .getByText(/cannot be changed: /)
      .first()
      .waitFor();
    expect((await read(id)).cancelled_at ?? null).toBeNull();
  });

  it('are only looked at by a viewer', async () => {
    const id = await schedule('Hands off');
    const viewer = await dashboard!.open({ accountId: account.id, role: 'viewer' });
    await viewer.goto(`/messages/${id}`);
    await viewer.getByText('Scheduled').first().waitFor();
    expect(await viewer.getByRole('button', { name: 'Cancel the email' }).count()).toBe(0);
    expect(await viewer.getByRole('button', { name: 'Change the time' }).count()).toBe(0);
    await viewer.context().close();
  });
});
