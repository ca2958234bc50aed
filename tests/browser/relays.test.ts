// The page of relays with one in every state, wide and narrow, and the line above every page about
// relays that report no deliveries.
import { randomUUID } from 'node:crypto';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { addRelay } from '../relays/support.ts';
import { anEmail } from '../support/service.ts';
import { type SmtpSink, startSink } from '../support/smtp-sink.ts';
import { type Dashboard, look, openDashboard } from './dashboard.ts';

const silent: SmtpSink = await startSink({ hideDSN: true });
const dashboard: Dashboard | undefined = await openDashboard({ RELAY_URL: silent.url });
afterAll(async () => {
  await dashboard?.stop();
  await silent.stop();
});

describe.skipIf(dashboard === undefined)('relays', () => {
  let page: Page;

  beforeAll(async () => {
    const { service } = dashboard!;
    const account = await service.account();
    const nowhere = 'smtp://user:secret@127.0.0.1:1';
    await addRelay(service, { name: 'backup-of-the-backup', url: nowhere, weight: 0 });
    await addRelay(service, {
      ...{ name: 'ses-eu', url: silent.url, weight: 30, connections: 20, ratePerSecond: 1400 },
      ...{ dailyLimit: 5_000_000 },
      rules: [
        { account_id: account.id, stream: 'news', recipient_domain: 'mailbox.example.org' },
        { tag: 'eu' },
      ],
    });
    await addRelay(service, { name: 'old', url: silent.url, enabled: false });
    // Another process, which finds one of them down.
    await service.database.query(
      `INSERT INTO delivery_processes (id, seen_at, relay_down, retry_at, relays)
       VALUES ($1, now() + interval '1 hour', false, now(), $2)`,
      [
        randomUUID(),
        JSON.stringify([
          { name: 'ses-eu', down: true, detail: '454 4.7.0 Too many logins', reports: null },
        ]),
      ],
    );
    await service.send(account.key, anEmail());
    page = await dashboard!.open({ accountId: account.id, role: 'owner', operator: true });
  });

  it('in every state', async () => {
    await page.goto('/operator/relays');
    const line = (name: string) => page.getByRole('row').filter({ hasText: name });
    await line('default').getByText('Up').waitFor();
    await line('backup-of-the-backup').getByText('Down').waitFor();
    await line('ses-eu').getByText('Down for some').waitFor();
    await line('ses-eu').getByText('Too many logins').waitFor();
    await line('ses-eu').getByText('of 5,000,000 today').waitFor();
    await line('old').getByText('Disabled').waitFor();
    expect(await page.content()).not.toContain('secret');
    await page.getByText('is never marked delivered').waitFor();
    await look(page, 'relays');
  });

  it('on a phone', async () => {
    await page.setViewportSize({ width: 390, height: 1600 });
    await page.getByText('Too many logins').waitFor();
    const wide = await page.evaluate<number>('document.documentElement.scrollWidth');
    expect(wide).toBeLessThanOrEqual(390);
    await look(page, 'relays-phone');
  });
});
