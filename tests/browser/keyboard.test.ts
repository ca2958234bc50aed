// The keyboard: ⌘K leads everywhere, `/` searches, j and k move through lists, `?` lists the
// shortcuts, and the five most common tasks are done without a mouse. Also the size of the pages.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import type { Page, Request, Route } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { pagesFolder } from '../../src/dashboard/server.ts';
import { makeUser, openSignedIn } from '../dashboard/dashboard-client.ts';
import { startDns } from '../support/dns-server.ts';
import { anEmail, type TestAccount } from '../support/service.ts';
import { until } from '../support/until.ts';
import { look, openDashboard, PASSWORD, setMetered, told } from './dashboard.ts';

const dns = await startDns();
const dashboard = await openDashboard({
  DNS_SERVERS: dns.address,
  BOUNCE_DOMAIN: 'bounces.example.net',
});
afterAll(async () => {
  await dashboard?.stop();
  await dns.close();
});

describe.skipIf(!dashboard)('The keyboard', () => {
  let page: Page;
  let account: TestAccount;

  beforeAll(async () => {
    const { service, open } = dashboard!;
    account = await service.account();
    for (const subject of ['First', 'Second', 'Third']) {
      await service.send(account.key, anEmail({ subject }));
    }
    const { api } = await openSignedIn(service, { accountId: account.id });
    await api.webhooks.create({ url: 'https://hooks.example/in' });
    await api.streams.put({ name: 'harvest', kind: 'broadcast', title: 'Harvest news' });
    page = await open({ accountId: account.id, role: 'owner' });
  });

  const palette = () => page.getByRole('combobox', { name: 'Go to' });

  it('⌘K finds a page, a template, and searches messages', async () => {
    await page.goto('/');
    await page.getByRole('heading', { level: 1 }).waitFor();
    const choices = page.getByRole('listbox', { name: 'Where to' });
    const chosen = () =>
      expect.poll(() => choices.getByRole('option', { selected: true }).textContent());
    await page.keyboard.press('Control+k');
    await palette().waitFor();
    await look(page, 'palette');
    await page.keyboard.type('audit');
    await chosen().toBe('AuditPage');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Audit', level: 1 }).waitFor();
    await page.keyboard.press('Control+k');
    // Its code is here: what is typed at once stands in the box.
    await page.keyboard.type('password-reset');
    await chosen().toMatch(/password-reset.*Template$/);
    await page.keyboard.press('Enter');
    await page.waitForURL('**/templates/password-reset');
    await page.keyboard.press('Control+k');
    await palette().fill('ada@example.net');
    await chosen().toMatch(/^Search messages/);
    // From the first to the last, and around.
    await page.keyboard.press('ArrowUp');
    await chosen().toMatch(/^Search suppressions/);
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await page.waitForURL('**/messages?q=*');
    expect(await page.getByLabel('Search messages').inputValue()).toBe('to:ada@example.net');
    await page.getByText('Second').waitFor();
  });

  it('⌘K keeps what is typed before its code is here, also when that never comes', async () => {
    const code = '**/assets/palette-*.js';
    const held: Route[] = [];
    await page.route(code, (route) => void held.push(route));
    await page.goto('/keys');
    const opener = page.getByRole('button', { name: 'Create a key' });
    await opener.focus();
    await page.keyboard.press('Control+k');
    // Not the keys of the page: `/` and `?` open something there.
    await page.keyboard.type('au/?');
    await page.keyboard.press('Escape');
    expect(await opener.evaluate('document.activeElement.textContent')).toBe('Create a key');
    await page.keyboard.press('Control+k');
    await page.keyboard.type('aux');
    await page.keyboard.press('Backspace');
    for (const route of held) await route.continue();
    await palette().waitFor();
    await page.keyboard.type('dit');
    expect(await palette().inputValue()).toBe('audit');
    await page.getByRole('option', { name: 'Audit Page', selected: true }).waitFor();
    await page.keyboard.press('Escape');
    await palette().waitFor({ state: 'detached' });
    await expect.poll(() => page.locator(':focus').textContent()).toBe('Create a key');
    await page.keyboard.press('Control+k');
    expect(await palette().inputValue()).toBe('');
    // Enter is kept as well, until what has the name is read: it means that, not a search for it.
    held.length = 0;
    await page.goto('/keys');
    await opener.waitFor();
    await page.route('**/v1/templates', (route) => void held.push(route));
    await page.keyboard.press('Control+k');
    await page.keyboard.type('password-reset');
    await page.keyboard.press('Enter');
    await held[0]!.continue();
    await palette().waitFor();
    await expect.poll(() => held.length).toBe(2);
    await held[1]!.continue();
    await page.waitForURL('**/templates/password-reset');
    await palette().waitFor({ state: 'detached' });
    await page.unroute('**/v1/templates');
    await page.unroute(code);
    await page.route(code, (route) => route.abort());
    await page.goto('/keys');
    await opener.waitFor();
    await page.keyboard.press('Control+k');
    await told(page, 'A part of this page could not be loaded');
    // Also whoever tries again.
    await page.keyboard.press('Control+k');
    await told(page, 'A part of this page could not be loaded');
    await page.unroute(code);
    await page.goto('/keys');
    await opener.waitFor();
  });

  it.each([
    ['Create an API key', 'Create an API key'],
    ['Add a domain', 'Add a domain'],
    ['Add a sender address', 'Add an address'],
    ['Add a webhook endpoint', 'Add an endpoint'],
    ['Suppress addresses', 'Suppress addresses'],
    ['New template', 'New template'],
    ['New stream', 'New stream'],
    ['Invite someone', 'Invite'],
  ])('⌘K, %s: opens its dialog', async (action, dialog) => {
    await page.keyboard.press('Control+k');
    await palette().fill(action);
    await page.getByRole('option', { name: action, selected: true }).waitFor();
    await page.keyboard.press('Enter');
    const opened = page.getByRole('dialog', { name: dialog });
    await opened.waitFor();
    await palette().waitFor({ state: 'detached' });
    // Whoever named it types on in it.
    await expect.poll(() => opened.locator(':focus').count()).toBe(1);
    await page.keyboard.press('Escape');
    await opened.waitFor({ state: 'detached' });
    expect(new URL(page.url()).search).toBe('');
  });

  it.each([
    ['sm_live_', 'API key', '/keys'],
    ['hooks.example', 'Webhook', '/webhooks/*'],
    ['example.com', 'Sender', '/senders'],
    ['Harvest', 'Stream', '/streams'],
    ['people.example', 'Person', '/team'],
    ['password reset', 'Template', '/templates/password-reset'],
  ])('⌘K finds %s: what has a name', async (name, kind, path) => {
    await page.keyboard.press('Control+k');
    await palette().fill(name);
    const found = page.getByRole('listbox').getByRole('option').filter({ hasText: kind }).first();
    await found.click();
    await page.waitForURL(`**${path}`);
    await page.getByRole('heading', { level: 1 }).waitFor();
  });

  it('the reference tells what each operation takes, out of openapi.json', async () => {
    await page.goto('/connect');
    await page.getByRole('link', { name: 'API reference' }).click();
    await page.getByLabel('Search operations').fill('/v1/send');
    await page
      .getByRole('button', { name: /POST\s*\/v1\/send\b/ })
      .first()
      .click();
    await page.getByText('from_email', { exact: true }).first().waitFor();
    await look(page, 'reference');
  });

  it('/ focuses the search; j, k and Enter walk and open; ? tells', async () => {
    await page.goto('/messages');
    await page.getByText('Third').waitFor();
    await page.keyboard.press('/');
    expect(await page.locator(':focus').getAttribute('aria-label')).toBe('Search messages');
    // A letter in a box is a letter.
    await page.keyboard.type('jk?');
    expect(await page.getByLabel('Search messages').inputValue()).toBe('jk?');
    await page.getByText('Nothing matches').waitFor();
    await page.getByLabel('Search messages').fill('');
    await page.getByText('Third').waitFor();
    await page.getByRole('heading', { level: 1 }).click();
    for (const key of ['j', 'j', 'j', 'k']) await page.keyboard.press(key);
    expect(await page.locator(':focus').textContent()).toContain('Second');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Second' }).waitFor();
    await page.keyboard.press('?');
    await page.getByRole('dialog', { name: 'Keyboard shortcuts' }).waitFor();
    await look(page, 'shortcuts');
    await page.keyboard.press('Escape');
    await page.goto('/account');
    await page.getByRole('heading', { level: 1 }).waitFor();
    await page.keyboard.press('/');
    await page.waitForURL('**/messages');
    // Rows that are no links, too; Enter opens what stands in them.
    await page.goto('/streams');
    await page.getByText('Harvest news').waitFor();
    for (const key of ['j', 'j', 'k', 'k', 'j']) await page.keyboard.press(key);
    const row = page.locator('tr:focus');
    expect(await row.textContent()).toContain('Harvest news');
    await page.keyboard.press('Enter');
    await page.getByRole('dialog').getByLabel('Title').waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    for (const path of ['/templates', '/keys', '/senders', '/team', '/audit']) {
      await page.goto(path);
      await page.locator('.row-card, .row-table tbody tr').first().waitFor();
      await page.keyboard.press('j');
      expect(await page.locator(':is(.row-card, tr):focus').count()).toBe(1);
    }
  });
});

describe.skipIf(!dashboard)('Without a mouse', () => {
  let page: Page;

  beforeAll(async () => {
    const { service, open } = dashboard!;
    const account = await service.account();
    await makeUser(service.database, { accountId: account.id, email: 'ada@people.example' });
    const { api } = await openSignedIn(service, { accountId: account.id });
    await api.templates.clone({ slug: 'welcome' });
    await service.send(account.key, anEmail({ subject: 'To be found', to: ['bo@example.net'] }));
    page = await open();
  });

  const type = (text: string) => page.keyboard.type(text);
  const press = (key: string) => page.keyboard.press(key);
  const focused = () =>
    page.evaluate(`(() => {
      const it = document.activeElement;
      return it.getAttribute('aria-label') ?? it.labels?.[0]?.textContent ?? it.textContent;
    })()`) as Promise<string>;

  /** Presses Tab until what has the focus has this name, or a longer one. */
  async function tabTo(name: string, key = 'Tab'): Promise<void> {
    const passed: string[] = [];
    while (passed.length < 60) {
      await press(key);
      const now = (await focused()).trim();
      if (now.includes(name)) return;
      passed.push(now.slice(0, 30));
    }
    throw new Error(`${key} does not lead to ${name}, only to ${passed.join(' | ')}`);
  }

  async function goTo(choice: string, heading: string): Promise<void> {
    await press('Control+k');
    await page.getByRole('combobox', { name: 'Go to' }).waitFor();
    await type(choice);
    await page.getByRole('listbox').getByRole('option', { selected: true, name: choice }).waitFor();
    await press('Enter');
    await page.getByRole('heading', { name: heading, level: 1 }).waitFor();
  }

  it('one signs in and finds a message', async () => {
    await page.goto('/');
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
    expect(await focused()).toBe('Email');
    await type('ada@people.example');
    await tabTo('Password');
    await type(PASSWORD);
    await press('Enter');
    await page.getByRole('heading', { name: 'Overview', level: 1 }).waitFor();
    await press('/');
    await page.waitForURL('**/messages');
    await page.getByText('To be found').waitFor();
    await press('/');
    await type('to:bo@example.net');
    await page.waitForURL('**/messages?q=*');
    await page.getByText('To be found').waitFor();
    await tabTo('To be found');
    await press('Enter');
    await page.getByRole('heading', { name: 'To be found', level: 1 }).waitFor();
  });

  it('one sends a test', async () => {
    await goTo('Welcome', 'Welcome');
    await tabTo('Test send');
    await press('Enter');
    await page.getByRole('dialog', { name: 'Test send' }).getByLabel('To').waitFor();
    await press('Enter');
    await page.getByRole('dialog').locator('[data-event=sent]').waitFor();
    await tabTo('Done');
    await press('Enter');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
  });

  it('one publishes a template', async () => {
    await tabTo('Edit');
    await press('Enter');
    await page.getByRole('textbox', { name: 'HTML source' }).waitFor();
    await tabTo('Subject');
    await press('End');
    await type(', by hand');
    await page.getByText('Unsaved changes').waitFor();
    await tabTo('Publish…', 'Shift+Tab');
    await press('Enter');
    await page.getByRole('dialog', { name: /^Publish version/ }).waitFor();
    await tabTo('Publish version');
    await press('Enter');
    await told(page, /Version \d is in use/);
  });

  it('one verifies a domain', async () => {
    await goTo('Senders', 'Senders');
    await tabTo('Add a domain');
    await press('Enter');
    await page.getByRole('dialog').getByLabel('Domain').waitFor();
    await type('hands.example');
    await press('Enter');
    await page.getByText('Not verified').waitFor();
    const rows = page.getByRole('region', { name: 'DNS records' }).locator('tbody tr');
    const ownership = rows.filter({ hasText: 'Ownership' });
    const [name, value] = await ownership.locator('code').allTextContents();
    dns.publish('TXT', name!, value!);
    await tabTo('Check now');
    await press('Enter');
    await told(page, 'hands.example is verified.');
  });

  it('one creates a key', async () => {
    await goTo('Create an API key', 'API keys');
    await page.getByRole('dialog').getByLabel('Name').waitFor();
    await type('By hand');
    await press('Enter');
    expect(await page.getByTestId('secret').textContent()).toMatch(/^sm_/);
    await tabTo('Done');
    await press('Enter');
    await page.getByRole('cell', { name: 'By hand', exact: true }).waitFor();
  });
});

describe.skipIf(!dashboard)('What a page weighs', () => {
  /**
   * Waits until no script or style is under way and none came for half a second. Playwright's
   * `networkidle` is about frames as well: with the editor's preview, which is made again, it was
   * never reached.
   */
  function watchAssets(page: Page): () => Promise<unknown> {
    const isAsset = (one: Request) => ['script', 'stylesheet'].includes(one.resourceType());
    const underWay = new Set<Request>();
    let changedAtMs = performance.now();
    const changed = (change: (one: Request) => unknown) => (one: Request) => {
      if (!isAsset(one)) return;
      change(one);
      changedAtMs = performance.now();
    };
    const begun = changed((one) => underWay.add(one));
    const over = changed((one) => underWay.delete(one));
    page.on('request', begun).on('requestfinished', over).on('requestfailed', over);
    return async () => {
      await until(() => underWay.size === 0 && performance.now() - changedAtMs > 500);
      page.off('request', begun).off('requestfinished', over).off('requestfailed', over);
    };
  }

  /** Bytes of script and style that a browser fetched, as gzip sends them. */
  async function weightOf(page: Page, path: string, ready = page.locator('h1')): Promise<number> {
    const allThere = watchAssets(page);
    await page.goto(path);
    await ready.waitFor();
    await allThere();
    const names = (await page.evaluate(
      `performance.getEntriesByType('resource').map((it) => new URL(it.name).pathname)`,
    )) as string[];
    const assets = new Set(readdirSync(join(pagesFolder, 'assets')));
    const bytes = names
      .map((name) => name.split('/').at(-1)!)
      .filter((name) => assets.has(name))
      .reduce(
        (sum, name) => sum + gzipSync(readFileSync(join(pagesFolder, 'assets', name))).length,
        0,
      );
    // Also what it had already counts.
    expect(bytes).toBeGreaterThan(100 * 1024);
    return bytes;
  }

  let page: Page;
  beforeAll(async () => {
    const { service, open } = dashboard!;
    const account = await service.account();
    const { api } = await openSignedIn(service, { accountId: account.id });
    await api.templates.clone({ slug: 'welcome' });
    page = await open({ accountId: account.id, role: 'owner' });
  });

  it('signing in takes at most 220 KB', async () => {
    const door = await dashboard!.open();
    // Nobody knows yet whether whoever stands there may come in: nothing is loaded ahead.
    await door.addInitScript(setMetered(false));
    expect(await weightOf(door, '/sign-in')).toBeLessThan(220 * 1024);
  });

  it.each([
    '/',
    '/messages',
    '/templates',
    '/branding',
    '/senders',
    '/keys',
    '/connect',
    '/profile',
  ])('%s takes at most 350 KB', async (path) => {
    expect(await weightOf(page, path)).toBeLessThan(350 * 1024);
  });

  // Of it CodeMirror with HTML and Jinja2 is 145 KB.
  it('the editor, the heaviest, takes at most 350 KB', async () => {
    const source = page.getByRole('textbox', { name: 'HTML source' });
    expect(await weightOf(page, '/templates/welcome/edit', source)).toBeLessThan(350 * 1024);
  });

  it('has the styles of every component that a script names', () => {
    const whole = readFileSync('node_modules/@mantine/core/styles.css', 'utf8');
    const built = (kind: string) =>
      readdirSync(join(pagesFolder, 'assets'))
        .filter((name) => name.endsWith(kind))
        .map((name) => readFileSync(join(pagesFolder, 'assets', name), 'utf8'))
        .join('');
    const classes = (text: string) => new Set(text.match(/\bm_[0-9a-f]{6,8}\b/g));
    const [known, styled] = [classes(whole), classes(built('.css'))];
    const named = [...classes(built('.js'))].filter((name) => known.has(name));
    expect(named.length).toBeGreaterThan(100);
    expect(named.filter((name) => !styled.has(name))).toEqual([]);
  });
});
