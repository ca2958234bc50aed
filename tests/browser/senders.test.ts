// Senders: a domain is verified when its records are in DNS, an address when its link is followed.
import { readFile } from 'node:fs/promises';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { showUuid } from '../../src/ids.ts';
import { captured } from '../support/captured.ts';
import { startDns } from '../support/dns-server.ts';
import { look, openDashboard } from './dashboard.ts';

const dns = await startDns();
const dashboard = await openDashboard({
  DNS_SERVERS: dns.address,
  BOUNCE_DOMAIN: 'bounces.example.net',
  SYSTEM_SENDER: 'Sandmartin <no-reply@service.example>',
});
afterAll(async () => {
  await dashboard?.stop();
  await dns.close();
});

describe.skipIf(!dashboard)('Senders', () => {
  let page: Page;

  beforeAll(async () => {
    const { service, open } = dashboard!;
    const account = await service.account({ identities: [] });
    page = await open({ accountId: account.id, role: 'developer' });
  });

  it('adds a domain and tells what is missing', async () => {
    await page.goto('/senders');
    await page.getByText('No domain yet').waitFor();
    await look(page, 'senders-empty');
    await page.getByRole('button', { name: 'Add a domain' }).click();
    await page.getByRole('dialog').getByLabel('Domain').fill('mail.example.com');
    await page.getByRole('button', { name: 'Add', exact: true }).click();
    await page.getByText('Not verified').waitFor();
    await page.getByRole('button', { name: 'Check now' }).click();
    await page.getByText('Missing').first().waitFor();
  });

  it('verifies it once its records stand in DNS', async () => {
    await page.getByRole('button', { name: 'Copy the value for ownership' }).click();
    const copied = await page.evaluate('navigator.clipboard.readText()');
    const rows = page.getByRole('region', { name: 'DNS records' }).locator('tbody tr');
    for (const row of await rows.all()) {
      const [type, name, value] = await Promise.all([
        row.locator('td').nth(1).textContent(),
        row.locator('code').nth(0).textContent(),
        row.locator('code').nth(1).textContent(),
      ]);
      dns.publish(type!, name!, value!);
    }
    expect([...dns.zone.values()].flat()).toContain(copied);
    await look(page, 'senders');
    await page.getByRole('button', { name: 'Check now' }).click();
    await page.getByText('Verified', { exact: true }).waitFor();
  });

  it('removes it after asking', async () => {
    await page.getByRole('button', { name: 'Remove mail.example.com' }).click();
    await page.getByRole('button', { name: 'Cancel' }).click();
    await page.getByRole('button', { name: 'Remove mail.example.com' }).click();
    await page.getByLabel('Type mail.example.com to continue').fill('mail.example.com');
    await page.getByRole('button', { name: 'Remove the domain' }).click();
    await page.getByText('No domain yet').waitFor();
  });

  it('adds an address that waits for its link, and removes it after asking', async () => {
    const { service, open } = dashboard!;
    await service.account({ identities: ['service.example'] });
    await page.getByRole('button', { name: 'Add an address' }).click();
    await page.getByRole('dialog').getByLabel('Address').fill('ada@example.org');
    await page.getByRole('button', { name: 'Email the link' }).click();
    await page.getByRole('cell', { name: 'ada@example.org', exact: true }).waitFor();
    await page.getByText('Waiting for the link').waitFor();

    const [sent] = await service.database.query<{ uuid: string }>(
      `SELECT id AS uuid FROM messages WHERE recipients = '{ada@example.org}'`,
    );
    const { email } = await captured(service.database, showUuid('msg_', sent!.uuid));
    const reader = await open();
    await reader.goto(/http\S+\/verify\/\S+/.exec(email.text!)![0]);
    await reader.getByRole('button', { name: 'Yes, verify ada@example.org' }).click();
    await reader.getByText('ada@example.org is verified').waitFor();
    // Nobody reloads.
    await page.getByRole('cell', { name: 'Verified' }).waitFor();
    await look(page, 'sender-address');
    await page.getByRole('button', { name: 'Remove ada@example.org' }).click();
    await page.getByRole('button', { name: 'Cancel' }).click();
    await page.getByRole('button', { name: 'Remove ada@example.org' }).click();
    await page.getByRole('button', { name: 'Remove the address' }).click();
    await page.getByText('No single addresses').waitFor();
  });
});

describe.skipIf(!dashboard)('Where the records go', () => {
  it('names the provider, writes names as its form wants them, and sees by itself what was published', async () => {
    const { service, open } = dashboard!;
    const account = await service.account({ identities: [] });
    dns.publish('NS', 'wizard.example', 'kim.ns.cloudflare.com');
    const page = await open({ accountId: account.id, role: 'developer' });
    await page.goto('/senders');
    await page.getByRole('button', { name: 'Add a domain' }).click();
    await page.getByRole('dialog').getByLabel('Domain').fill('mail.wizard.example');
    await page.getByRole('button', { name: 'Add', exact: true }).click();
    await page.getByText('is at Cloudflare').waitFor();
    const rows = page.getByRole('region', { name: 'DNS records' }).locator('tbody tr');
    const ownership = rows.filter({ hasText: 'Ownership' });
    await ownership.getByText('_sandmartin.mail', { exact: true }).waitFor();
    await look(page, 'domain-wizard');
    const [file] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Zone file' }).click(),
    ]);
    expect(file.suggestedFilename()).toBe('mail.wizard.example.zone');
    const zone = await readFile(await file.path(), 'utf8');
    const value = await ownership.locator('code').nth(1).textContent();
    expect(zone).toContain(`_sandmartin.mail.wizard.example.\t3600\tIN\tTXT\t"${value}"`);
    // DKIM's RSA key is longer than a string of DNS may be.
    expect(zone).toMatch(/"v=DKIM1; k=rsa; p=[^"]+" "[^"]+"/);
    dns.publish('TXT', '_sandmartin.mail.wizard.example', value!);
    // Nobody presses anything.
    await page.getByText('Verified', { exact: true }).waitFor();
    await ownership.getByText('In place').waitFor();
  });
});
