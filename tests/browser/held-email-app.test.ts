// The MCP App in a real browser, framed by the official package's host: it shows the held email,
// leads to the page where a person decides, and can do nothing else.
import { fileURLToPath } from 'node:url';
import type { Page } from 'playwright-core';
import { build } from 'vite';
import { afterAll, describe, expect, it } from 'vitest';
import { createKey } from '../../src/accounts/keys.ts';
import { systemClock } from '../../src/process/clock.ts';
import { openSignedIn } from '../dashboard/dashboard-client.ts';
import { post, rpc } from '../mcp/support.ts';
import { anEmail } from '../support/service.ts';
import { until } from '../support/until.ts';
import { findings, openDashboard, screenshot } from './dashboard.ts';

const dashboard = await openDashboard();
afterAll(() => dashboard?.stop());

async function bundleHost(): Promise<string> {
  const entry = fileURLToPath(new URL('app-host.js', import.meta.url));
  const made = await build({
    ...{ configFile: false, logLevel: 'silent' },
    build: { write: false, lib: { entry, formats: ['iife'], name: 'host' } },
  });
  const [bundle] = (Array.isArray(made) ? made : [made]) as { output: { code: string }[] }[];
  return bundle!.output[0]!.code;
}

const HTML = `<h1 style="color:#7a3cff">Order 4711</h1><p>It is on its way.</p>
<script>parent.parent.postMessage({ ran: true }, '*'); document.body.append('SCRIPT RAN')</script>
<img src="https://example.invalid/pixel.png" alt="A parcel">`;

describe.skipIf(!dashboard)('The App of a held email', () => {
  it('shows it as its readers see it, and a person decides on the page it leads to', async () => {
    const { service } = dashboard!;
    const account = await service.account();
    const { key } = await createKey(service.database, systemClock, {
      ...{ accountId: account.id, scopes: ['email:send'], limits: { approval: 'always' } },
    });
    const ask = async (method: string, params: Record<string, unknown>) =>
      (await post(`${service.url}/mcp`, key, rpc('legacy', method, params))).body.result;
    const { tools } = await ask('tools/list', {});
    const send = tools.find((it: { name: string }) => it.name === 'send_email');
    const { contents } = await ask('resources/read', { uri: send._meta.ui.resourceUri });
    const result = await ask('tools/call', {
      name: 'send_email',
      arguments: anEmail({ subject: 'Your <b>order</b>', html: HTML, bcc: ['audit@example.net'] }),
    });

    const page = await dashboard!.open();
    const opened: string[] = [];
    const called: string[] = [];
    const asked: string[] = [];
    // What the policy blocks never gets this far.
    await page.route('**/*', (route) => {
      asked.push(route.request().url());
      return route.abort();
    });
    await page.exposeFunction('readResource', (uri: string) => ask('resources/read', { uri }));
    await page.exposeFunction('openLink', (url: string) => void opened.push(url));
    await page.exposeFunction('calledTool', (name: string) => void called.push(name));
    const code = await bundleHost();
    const start = async (theme: 'light' | 'dark') => {
      await page.goto('about:blank');
      await page.setContent(
        `<!doctype html><html lang="en"><title>Host</title><style>body{margin:0;background:${theme === 'dark' ? '#000' : '#ddd'}}iframe{width:100%;border:0}</style><body>`,
      );
      await page.evaluate(code);
      await page.evaluate(
        `startHost(${JSON.stringify({ html: contents[0].text, result, theme })})`,
      );
      await emailIn(page).getByText('It is on its way.').waitFor();
    };

    for (const theme of ['dark', 'light'] as const) {
      await start(theme);
      for (const width of [1280, 390]) {
        await page.setViewportSize({ width, height: 900 });
        await app(page).getByText('audit@example.net').waitFor();
        await screenshot(page, `held-email-app-${width}-${theme}`);
        const wide = await app(page)
          .locator('html')
          .evaluate('document.documentElement.scrollWidth');
        expect(wide).toBeLessThanOrEqual(width);
      }
    }
    expect(await findings(page)).toEqual([]);
    await app(page).getByText('Your <b>order</b>').waitFor();
    await app(page).getByText('Nothing has been sent yet').waitFor();
    expect(await emailIn(page).getByText('SCRIPT RAN').count()).toBe(0);
    expect(asked).toEqual([]);

    await app(page).getByRole('button', { name: 'Review and decide' }).click();
    const { id } = result.structuredContent;
    await until(() => opened.length === 1);
    expect(opened).toEqual([`${service.url}/approvals/${id}`]);
    expect(called).toEqual([]);
    const status = async () => (await service.get(account.key, `/v1/messages/${id}`)).body;
    expect((await status()).held).toBeDefined();

    const person = await openSignedIn(service, { accountId: account.id, role: 'developer' });
    const { sha256 } = await person.api.approvals.get({ sm_mail_id: id });
    await person.api.approvals.approve({ sm_mail_id: id, sha256 });
    await app(page)
      .getByText(`It was approved and goes out. Decided by ${person.email}.`)
      .waitFor();
    expect(await app(page).getByRole('button').count()).toBe(0);
  });
});

const app = (page: Page) => page.frameLocator('iframe[title=App]');
const emailIn = (page: Page) => app(page).frameLocator('#email');
