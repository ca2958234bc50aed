// What all pages share: the account switcher, keyboard access, and a phone on which nothing is cut
// off.
import { readFileSync } from 'node:fs';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openSignedIn } from '../dashboard/dashboard-client.ts';
import { captured } from '../support/captured.ts';
import { anEmail, type TestAccount } from '../support/service.ts';
import { until } from '../support/until.ts';
import { findings, look, openDashboard, screenshot, told, WITHOUT_COLOURS } from './dashboard.ts';

const dashboard = await openDashboard({ WEBHOOK_ALLOW: '127.0.0.0/8' });
afterAll(() => dashboard?.stop());

describe.skipIf(!dashboard)('The frame of all pages', () => {
  it('goes on in another account of the same person', async () => {
    const { service, open } = dashboard!;
    const [one, other] = [await service.account(), await service.account()];
    await service.database.query(`UPDATE accounts SET name = 'Other' WHERE id = $1`, [other.id]);
    await service.send(other.key, anEmail({ subject: 'Of the other account' }));
    const page = await open({ accountId: one.id, role: 'owner' });
    await service.database.query(
      `INSERT INTO members (account_id, user_id, role) SELECT $2, user_id, 'viewer' FROM members WHERE account_id = $1`,
      [one.id, other.id],
    );
    await page.goto('/messages');
    await page.getByText('No messages yet').waitFor();
    await page.getByRole('button', { name: 'Test Owner' }).click();
    await look(page, 'account-switcher');
    await page.getByRole('menuitem', { name: 'Other' }).click();
    await page.getByRole('button', { name: 'Other Viewer' }).waitFor();
    await page.getByRole('link', { name: 'Messages', exact: true }).click();
    await page.getByText('Of the other account').waitFor();
    // The role is that of this account.
    await page.goto('/keys');
    await page.getByRole('region', { name: 'API keys' }).waitFor();
    expect(await page.getByRole('button', { name: 'Create a key' }).count()).toBe(0);
  });

  it('tells what went wrong, and tries again', async () => {
    const { service, open } = dashboard!;
    const account = await service.account();
    const page = await open({ accountId: account.id, role: 'viewer' });
    const api = '**/v1/suppressions*';
    await page.route(api, (route) =>
      route.fulfill({ status: 400, json: { detail: 'The moon is in the wrong phase.' } }),
    );
    await page.goto('/suppressions');
    await page.getByRole('alert').getByText('The moon is in the wrong phase.').waitFor();
    await look(page, 'fault');
    await page.unroute(api);
    await page.getByRole('button', { name: 'Try again' }).click();
    await page.getByText('Nobody is suppressed').waitFor();
    await page.goto('/nowhere');
    await page.getByRole('heading', { name: 'Nothing nests here' }).waitFor();
    await look(page, 'not-found');
  });

  it('copies and sends over plain HTTP too, where browsers have fewer functions', async () => {
    const { service, open } = dashboard!;
    const account = await service.account();
    const sent = await service.send(account.key, anEmail());
    const page = await open({ accountId: account.id, role: 'developer' });
    const https = await page.context().newPage();
    await page.addInitScript(
      'delete Navigator.prototype.clipboard; delete Crypto.prototype.randomUUID;',
    );
    await page.goto(`/messages/${sent.body.id}`);
    await page.getByRole('button', { name: 'Copy the id' }).click();
    await page.getByRole('tooltip').getByText('Copied').waitFor();
    await https.goto('/nowhere');
    expect(await https.evaluate('navigator.clipboard.readText()')).toBe(sent.body.id);
    // Tried again because the answer was lost, the email is sent once.
    const again = async () => {
      await page.getByRole('button', { name: 'Send again' }).click();
      await page.getByRole('dialog').getByRole('button', { name: 'Send again' }).click();
    };
    await page.route(
      '**/send-again',
      async (route) => {
        await route.fetch();
        await route.abort();
      },
      { times: 1 },
    );
    await again();
    await told(page, 'The service did not answer');
    await again();
    await told(page, 'Queued as a new message');
    const [{ count }] = (await service.database.query(
      'SELECT count(*)::int AS count FROM messages WHERE account_id = $1',
      [account.id],
    )) as [{ count: number }];
    expect(count).toBe(2);
  });

  it('is used by the keyboard alone', async () => {
    const { service, open } = dashboard!;
    const account = await service.account();
    const page = await open({ accountId: account.id, role: 'developer' });
    const focused = page.locator(':focus');
    await page.goto('/keys');
    await page.getByRole('button', { name: 'Create a key' }).waitFor();
    await page.keyboard.press('Tab');
    expect(await focused.textContent()).toBe('Skip to the page');
    await page.keyboard.press('Enter');
    await page.keyboard.press('Tab');
    expect(await focused.textContent()).toBe('Open the inbox');
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await page.getByRole('dialog').waitFor();
    await page.keyboard.type('By keyboard');
    await page.keyboard.press('Enter');
    await page.getByTestId('secret').waitFor();
    await page.getByRole('button', { name: 'Done' }).press('Enter');
    await page.getByRole('button', { name: 'Revoke By keyboard' }).press('Enter');
    // What cannot be undone waits for a decision, and Escape is one.
    await page.getByRole('dialog').getByText('cannot be undone').waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await page.getByRole('cell', { name: 'By keyboard', exact: true }).waitFor();
  });
});

describe.skipIf(!dashboard)('A phone', () => {
  let page: Page;
  let account: TestAccount;
  const ids = { message: '', held: '', webhook: '', captured: '' };

  beforeAll(async () => {
    const { service, open } = dashboard!;
    account = await service.account();
    const client = await openSignedIn(service, { accountId: account.id });
    const long = 'somebody.with.a.long.address@a.long.subdomain.example.org';
    const endpoint = await client.api.webhooks.create({
      url: 'http://127.0.0.1:9999/a-long-path/of/a/hook/that/goes/on/and/on?with=more',
    });
    const sent = await service.send(
      account.key,
      anEmail({
        to: ['bounce@simulator.test', long],
        subject: 'A subject that goes on for a while, to see where it ends',
        tags: ['orders', 'a-longer-tag'],
      }),
    );
    await client.api.domains.put({ domain: 'mail.a-long-name.example.com' });
    await client.api.addresses.put({ address: long });
    await client.api.suppressions.put({ address: long });
    await client.api.team.invite({ email: long, role: 'viewer' });
    await client.api.keys.create({
      name: 'For an agent',
      scopes: ['email:send', 'email:read'],
      rules: { no_bcc: true, templates_only: true, allowed_recipients: ['example.com'] },
    });
    const { secret } = await client.api.keys.create({
      name: 'Held',
      scopes: ['email:send'],
      rules: { approval: 'always' },
    });
    ids.held = (await service.send(secret, anEmail({ subject: 'Waits for a person' }))).body.id;
    await client.api.templates.clone({ slug: 'welcome' });
    await captured(service.database, sent.body.id);
    const { data: items } = await client.api.sandbox.list();
    await until(
      async () => (await client.api.webhooks.listDeliveries({ id: endpoint.id })).data.length,
    );
    ids.message = sent.body.id;
    ids.webhook = endpoint.id;
    ids.captured = items.at(-1)!.id;
    page = await open({ accountId: account.id, role: 'owner', operator: true });
    await page.setViewportSize({ width: 390, height: 844 });
    await page.addInitScript(WATCH_SHIFTS);
  });

  /** Of every route of the table; those before the door are looked at in first-run.test.ts. */
  const pages: [route: string, path?: () => string][] = [
    ['/'],
    ['/messages'],
    ['/messages/$id', () => `/messages/${ids.message}`],
    ['/approvals'],
    ['/approvals/$id', () => `/approvals/${ids.held}`],
    ['/templates'],
    ['/templates/$slug', () => '/templates/welcome'],
    ['/templates/$slug/edit', () => '/templates/welcome/edit'],
    ['/branding'],
    ['/senders'],
    ['/webhooks'],
    ['/webhooks/$id', () => `/webhooks/${ids.webhook}`],
    ['/connect'],
    ['/connect/reference'],
    ['/keys'],
    ['/audit'],
    ['/streams'],
    ['/suppressions'],
    ['/sandbox'],
    ['/sandbox/$id', () => `/sandbox/${ids.captured}`],
    ['/team'],
    ['/account'],
    ['/profile'],
    ['/operator'],
    ['/operator/relays'],
  ];

  it('leaves out no page', () => {
    const table = readFileSync('web/src/router.tsx', 'utf8').matchAll(/path: '(\/.*)'/g);
    const beforeTheDoor = /^\/(sign-in|setup|invitation|forgot-password|new-password)$/;
    const routes = [...table].map(([, route]) => route!).filter((it) => !beforeTheDoor.test(it));
    expect(pages.map(([route]) => route)).toEqual(routes);
  });

  it.each(pages)('holds %s: nothing beyond its edge, nothing that jumps', async (route, path) => {
    await page.goto(path?.() ?? route);
    await page.locator('h1').waitFor();
    await expect.poll(() => page.evaluate(STILL_LOADING)).toBe(0);
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(390);
    // What Web Vitals call good.
    expect(await page.evaluate('layoutShift')).toBeLessThan(0.1);
    expect(await findings(page, WITHOUT_COLOURS)).toEqual([]);
    // Nor is a table wider than its box: what a row can do would be out of sight.
    for (const width of [768, 1280]) {
      await page.setViewportSize({ width, height: 900 });
      expect(await page.evaluate(CUT_TABLES), `at ${width} px`).toEqual([]);
    }
    await page.setViewportSize({ width: 390, height: 844 });
    await lookAtAllWidths(page, route);
  });

  const dialogs: [path: string, button: string][] = [
    ['/senders', 'Add a domain'],
    ['/senders', 'Add an address'],
    ['/suppressions', 'Add addresses'],
    ['/suppressions', 'Remove bounce@simulator.test'],
    ['/team', 'Invite'],
    ['/streams', 'New stream'],
    ['/webhooks', 'Add an endpoint'],
    ['/keys', 'Create a key'],
    ['/templates/welcome', 'Test send'],
    ['/templates/welcome', 'Clone'],
    ['/operator', 'New account'],
    ['/operator/relays', 'Add a relay'],
  ];

  it.each(dialogs)('holds the dialog of %s, %s', async (path, button) => {
    await page.goto(path);
    await page.getByRole('main').getByRole('button', { name: button, exact: true }).click();
    const dialog = page.getByRole('dialog');
    await dialog.waitFor();
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(390);
    // A long form is scrolled, its button is not.
    await page.setViewportSize({ width: 390, height: 600 });
    const { y, height } = (await dialog.getByRole('button').last().boundingBox())!;
    expect(y + height).toBeLessThan(600);
    await page.setViewportSize({ width: 390, height: 844 });
    expect(await findings(page, WITHOUT_COLOURS)).toEqual([]);
    await screenshot(page, `dialog-${button.replaceAll(/\W+/g, '-')}`);
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });
  });

  it('has the navigation behind a button', async () => {
    await page.goto('/');
    for (const name of ['API keys', 'Team', 'Overview']) {
      await page.getByRole('button', { name: 'Open the navigation' }).click();
      await page.getByRole('link', { name, exact: true }).click();
      await page.getByRole('heading', { name, level: 1 }).waitFor();
      // Out of the way again.
      await page.getByRole('button', { name: 'Open the navigation' }).waitFor();
    }
  });
});

/** For people: a picture of the whole page at each width, in light and dark. */
async function lookAtAllWidths(page: Page, route: string): Promise<void> {
  if (process.env.SCREENSHOTS === undefined) return;
  const name = route.replaceAll('/', '-').replaceAll('$', '');
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme });
    for (const width of [375, 768, 1280]) {
      await page.setViewportSize({ width, height: 900 });
      // All of it in sight: what is not in sight is not drawn.
      const height = (await page.evaluate('document.documentElement.scrollHeight')) as number;
      await page.setViewportSize({ width, height });
      await expect.poll(() => page.evaluate(STILL_LOADING)).toBe(0);
      await screenshot(page, `page${name}-${width}-${colorScheme}`);
    }
  }
  await page.emulateMedia({ colorScheme: 'light' });
  await page.setViewportSize({ width: 390, height: 844 });
}

/** Thumbnails load when they come in sight. */
const STILL_LOADING = `document.querySelectorAll(
  '[aria-busy=true], .mantine-Skeleton-root[data-visible]:not(.thumbnail *)').length`;

const CUT_TABLES = `[...document.querySelectorAll('.table-box')]
  .filter((it) => it.scrollWidth > it.clientWidth).map((it) => it.getAttribute('aria-label'))`;

const WATCH_SHIFTS = `
  globalThis.layoutShift = 0;
  new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) if (!entry.hadRecentInput) layoutShift += entry.value;
  }).observe({ type: 'layout-shift', buffered: true });`;
