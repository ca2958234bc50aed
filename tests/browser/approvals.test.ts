// Approving in a browser: the page "Waiting for approval" as emails come in, one held email and the
// decision about it, the emailed link, and the page Connect.
import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import type { AgentLimits } from '../../src/accounts/agent-limits.ts';
import { createKey } from '../../src/accounts/keys.ts';
import { makeApprovalLink } from '../../src/approvals/approval-links.ts';
import { readUuid } from '../../src/ids.ts';
import { systemClock } from '../../src/process/clock.ts';
import { makeUser, openSignedIn } from '../dashboard/dashboard-client.ts';
import { anEmail, type TestAccount } from '../support/service.ts';
import { until } from '../support/until.ts';
import { findings, look, openDashboard, screenshot } from './dashboard.ts';

const dashboard = await openDashboard();
afterAll(() => dashboard?.stop());

async function prepare(limits: Partial<AgentLimits> = { approval: 'always' }) {
  const { service } = dashboard!;
  const account = await service.account();
  const { key: agent } = await createKey(service.database, systemClock, {
    ...{ accountId: account.id, scopes: ['email:send', 'email:read'], limits },
  });
  const hold = async (changes: Record<string, unknown> = {}): Promise<string> =>
    (await service.send(agent, anEmail(changes))).body.id;
  const status = async (id: string) =>
    (await service.get(account.key, `/v1/messages/${id}`)).body as Record<string, unknown>;
  return { service, account, agent, hold, status };
}

const receipt = (code: string) => ({
  ...{ subject: undefined, html: undefined, text: undefined, template: 'one-time-code' },
  variables: { code },
});

/**
 * At both widths, in light and dark: nothing is wider than the window, nothing that axe-core takes
 * for serious.
 */
async function lookAtBoth(page: Page, name: string): Promise<void> {
  for (const width of [1280, 390]) {
    await page.setViewportSize({ width, height: 900 });
    await look(page, `${name}-${width}`);
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(width);
  }
}

describe.skipIf(!dashboard)('Waiting for approval', () => {
  it('shows what comes in while it is open; an approved email leaves as it was shown', async () => {
    const { service, account, hold, status } = await prepare();
    const sent = await service.send(account.key, anEmail(receipt('111111')));
    await until(async () => (await status(sent.body.id)).status !== 'queued');
    const page = await dashboard!.open({ accountId: account.id, role: 'developer' });
    await page.goto('/approvals');
    await page.getByText('Nothing is waiting').waitFor();
    const id = await hold({ ...receipt('222222'), headers: { 'X-Order': '4711' } });
    await page.getByText('one-time-code').waitFor();
    await lookAtBoth(page, 'approvals');

    await page.getByRole('table').getByRole('link').first().click();
    await page.getByText('Nothing has been sent yet.').waitFor();
    await page.getByText('What is different').waitFor();
    await page.getByText('222222').first().waitFor();
    await page.getByText('X-Order').waitFor();
    await page.frameLocator('iframe').getByText('222222').first().waitFor();
    await lookAtBoth(page, 'approval');

    await page.setViewportSize({ width: 1280, height: 900 });
    await page.getByRole('button', { name: 'Approve' }).click();
    await page.getByRole('dialog').getByText('exactly as it is shown here').waitFor();
    expect((await status(id)).held).toBeDefined();
    await page.getByRole('dialog').getByRole('button', { name: 'Approve and send' }).click();
    await page.getByText(/It was approved\. Decided by .*@people\.example/).waitFor();
    await until(async () => (await status(id)).status === 'delivered');
  });

  it('what was changed after it was shown is not approved', async () => {
    const { service, account, agent, hold, status } = await prepare();
    const id = await hold({ subject: 'Moved meanwhile' });
    const page = await dashboard!.open({ accountId: account.id, role: 'owner' });
    await page.goto(`/approvals/${id}`);
    await page.getByRole('button', { name: 'Approve' }).click();
    const shown = await page.getByText(/^[0-9a-f]{64}$/).textContent();
    // Between the look and the click.
    await page.route('**/v1/approvals/**', (route) =>
      route.request().method() === 'GET' ? route.abort() : route.continue(),
    );
    const moved = await fetch(`${service.url}/v1/messages/${id}`, {
      method: 'PATCH',
      headers: { 'x-api-key': agent, 'content-type': 'application/json' },
      body: JSON.stringify({ scheduled_at: new Date(Date.now() + 3_600_000).toISOString() }),
    });
    expect(moved.status).toBe(200);
    await page.getByRole('dialog').getByRole('button', { name: 'Approve and send' }).click();
    await page.getByText(/is not what you saw/).waitFor();
    const { held } = (await status(id)) as { held: { sha256: string } };
    expect(held.sha256).not.toBe(shown);
  });

  it('a viewer sees it and cannot decide; declining leaves it unsent', async () => {
    const { account, hold, status } = await prepare();
    const id = await hold();
    const viewer = await dashboard!.open({ accountId: account.id, role: 'viewer' });
    await viewer.goto(`/approvals/${id}`);
    await viewer.getByText('Nothing has been sent yet.').waitFor();
    expect(await viewer.getByRole('button', { name: 'Approve' }).count()).toBe(0);
    const page = await dashboard!.open({ accountId: account.id, role: 'developer' });
    await page.goto(`/approvals/${id}`);
    await page.getByRole('button', { name: 'Decline' }).click();
    await page.getByText('It was declined and will not be sent.').waitFor();
    expect((await status(id)).approval).toMatchObject({ state: 'declined' });
  });
});

describe.skipIf(!dashboard)('The emailed link', () => {
  it('shows the email as its readers see it, without script, and approves it by one click', async () => {
    const { service, account, hold, status } = await prepare();
    const person = await makeUser(service.database, { accountId: account.id, role: 'owner' });
    const id = await hold({
      subject: 'Your order 4711',
      html: '<h1 style="color:#7a3cff">Order 4711</h1><p>It is on its way.</p><script>top.location="/"</script>',
      text: 'Order 4711 is on its way.',
      bcc: ['audit@example.net'],
    });
    const uuid = readUuid('msg_', id)!;
    const token = await makeApprovalLink(service.database, account.id, uuid, person.id);
    const page = await dashboard!.open();
    const link = `${service.url}/approve/${token}`;
    await page.goto(link);
    await page.frameLocator('iframe').getByText('It is on its way.').waitFor();
    await page.getByText('audit@example.net').waitFor();
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme });
      for (const width of [1280, 390]) {
        await page.setViewportSize({ width, height: 900 });
        await screenshot(page, `approval-link-${width}-${colorScheme}`);
        expect(await findings(page), `${colorScheme}, ${width}`).toEqual([]);
        expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(
          width,
        );
      }
    }
    expect(page.url()).toBe(link);
    await page.getByRole('button', { name: 'Approve and send' }).click();
    await page.getByRole('heading', { name: 'Approved' }).waitFor();
    await until(async () => (await status(id)).status === 'delivered');
    await page.goto(link);
    await page.getByText('There is nothing to decide here').waitFor();
  });
});

describe.skipIf(!dashboard)('Connect', () => {
  let page: Page;
  let account: TestAccount;

  beforeAll(async () => {
    ({ account } = await prepare());
    page = await dashboard!.open({ accountId: account.id, role: 'developer' });
    await page.goto('/connect');
  });

  it('has a block for each client, with the service’s own address', async () => {
    const { service } = dashboard!;
    const desktop = ['Claude Desktop', 'Claude Desktop, local'];
    const clients = ['Claude Code', ...desktop, 'Cursor', 'VS Code', 'Codex'];
    for (const name of clients) {
      await page.getByRole('tab', { name, exact: true }).click();
      await page.getByText(`${service.url}/mcp`).first().waitFor();
      const code = await page.getByLabel(`Code for ${name}`).first().textContent();
      expect(code).toMatch(/Bearer|bearer/);
    }
    await lookAtBoth(page, 'connect');
  });

  it('has a block for each language, which sends as it stands there', async () => {
    const { service } = dashboard!;
    const runs: Record<string, (code: string) => Promise<unknown>> = {
      curl: (code) => run('sh', ['-c', code]),
      Node: importSnippet,
      'Node, resend': importSnippet,
      Python: (code) => run('python3', ['-c', code]),
      // Without its opening tag, which only files have.
      PHP: (code) => run('php', ['-r', code.replace('<?php', '')]),
      // Most machines have no Go; it is read only.
      Go: async () => undefined,
    };
    vi.stubEnv('SANDMARTIN_API_KEY', account.key);
    vi.stubEnv('RESEND_BASE_URL', service.url);
    onTestFinished(() => void vi.unstubAllEnvs());
    const { api } = await openSignedIn(service, { accountId: account.id });
    const sent = async () => (await api.messages.list({ limit: 20 })).data;
    await page.getByRole('tab', { name: 'curl' }).waitFor();
    const names = await page.getByRole('tablist').last().getByRole('tab').allTextContents();
    expect(names).toEqual(Object.keys(runs));
    await page.getByText(/ \(sm_live_\w+…\) can send/).waitFor();
    for (const [name, send] of Object.entries(runs)) {
      await page.getByRole('tab', { name, exact: true }).click();
      const code = (await page.getByLabel(`Code for ${name}`).first().textContent())!;
      expect(code).toContain('SANDMARTIN_API_KEY');
      expect(code).toContain(service.url);
      const before = (await sent()).length;
      const outcome = await send(code);
      if (name !== 'Go' && outcome !== MISSING) expect(await sent(), name).toHaveLength(before + 1);
    }
    for (const { from_email } of await sent()) expect(from_email).toBe('hello@example.com');
  });
});

const MISSING = 'not installed';

async function run(program: string, args: string[]): Promise<unknown> {
  return await promisify(execFile)(program, args).catch((fault) => {
    if (fault.code !== 'ENOENT' && !/No module named/.test(fault.stderr)) throw fault;
    console.info(
      `The snippet for ${program} was not run: ${fault.stderr || 'it is not installed'}`,
    );
    return MISSING;
  });
}

/** In this process, which knows our client by its source. */
async function importSnippet(code: string): Promise<void> {
  const root = join(import.meta.dirname, '../..');
  mkdirSync(join(root, '.artifacts'), { recursive: true });
  const folder = mkdtempSync(join(root, '.artifacts/snippet-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const client = join(root, 'src/client/sandmartin.ts');
  writeFileSync(join(folder, 'send.ts'), code.replace('sandmartin/client', client));
  await import(join(folder, 'send.ts'));
}
