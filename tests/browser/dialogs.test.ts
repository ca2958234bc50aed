// Every dialog of the dashboard, opened and closed by keyboard: the focus goes into it, and back to
// where it came from. Its buttons do not move while it loads, or a click would miss them.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openSignedIn } from '../dashboard/dashboard-client.ts';
import { addRelay } from '../relays/support.ts';
import { takesScreenshots } from '../support/browser.ts';
import { anEmail, type TestAccount } from '../support/service.ts';
import { until } from '../support/until.ts';
import { look, openDashboard, PASSWORD, screenshot, told } from './dashboard.ts';

const dashboard = await openDashboard({ WEBHOOK_ALLOW: '127.0.0.0/8' });
afterAll(() => dashboard?.stop());

/**
 * Looks at every frame, from the moment a dialog is there: `moved` says which of its buttons were
 * elsewhere before.
 */
const WATCH_BUTTONS = `
  globalThis.moved = [];
  const places = new WeakMap();
  const look = () => {
    for (const button of document.querySelectorAll('[role=dialog] button')) {
      const { x, y, width } = button.getBoundingClientRect();
      const [oldX, oldY] = places.get(button) ?? [x, y];
      if (width > 0 && (Math.abs(x - oldX) > 1 || Math.abs(y - oldY) > 1)) {
        const name = button.innerText || button.ariaLabel;
        moved.push(name + ': by ' + (x - oldX) + ', ' + (y - oldY));
      }
      places.set(button, [x, y]);
    }
    requestAnimationFrame(look);
  };
  requestAnimationFrame(look);`;

const pagesFolder = join(import.meta.dirname, '../../web/src');

describe.skipIf(!dashboard)('A dialog gives the focus back', () => {
  let account: TestAccount;
  let api: Awaited<ReturnType<typeof openSignedIn>>['api'];
  let page: Page;
  const ids = { scheduled: '', endpoint: '' };

  beforeAll(async () => {
    const { service, open } = dashboard!;
    account = await service.account();
    ({ api } = await openSignedIn(service, { accountId: account.id, operator: true }));
    const inAnHour = new Date(Date.now() + 3_600_000).toISOString();
    ids.scheduled = (await service.send(account.key, anEmail({ scheduled_at: inAnHour }))).body.id;
    ids.endpoint = (await api.webhooks.create({ url: 'http://127.0.0.1:9999/hook' })).id;
    await api.webhooks.test({ id: ids.endpoint, event_type: 'delivery' }).catch(() => undefined);
    await service.send(account.key, anEmail());
    await api.templates.clone({ slug: 'welcome' });
    await api.templates.put({ slug: 'welcome', subject: 'Second' });
    await api.streams.put({ name: 'news', kind: 'broadcast', title: 'News' });
    await api.suppressions.put({ address: 'no@example.net' });
    await api.addresses.put({ address: 'one@example.org' });
    await api.team.invite({ email: 'new@example.org', role: 'viewer' });
    await until(async () => (await api.sandbox.list()).data.length > 0);
    await until(async () => (await api.webhooks.listDeliveries({ id: ids.endpoint })).data[0]);
    await addRelay(service, { name: 'spare', url: 'smtp://127.0.0.1:1', weight: 0 });
    page = await open({ accountId: account.id, role: 'owner', operator: true });
    await page.addInitScript(WATCH_BUTTONS);
  });

  const dialog = () => page.getByRole('dialog');
  const isFocused = (at: Locator) =>
    at
      .and(page.locator(':focus'))
      .count()
      .then((found) => found === 1);
  const isInDialog = () => page.evaluate(`!!document.activeElement.closest('[role=dialog]')`);

  /** In by Enter, out by Escape, or by a button where Escape would lose something. */
  async function walk(opener: Locator, out?: string, item?: string): Promise<void> {
    // Some are switched off until what they are about is there.
    await until(() => opener.isEnabled());
    await opener.focus();
    await page.keyboard.press('Enter');
    if (item !== undefined) {
      await page.getByRole('menuitem', { name: item }).focus();
      await page.keyboard.press('Enter');
    }
    await dialog().waitFor();
    await until(isInDialog);
    await until(async () => (await dialog().locator('[aria-busy=true]').count()) === 0);
    expect(await page.evaluate('moved')).toEqual([]);
    await pictureOnPhone();
    if (out === undefined) await page.keyboard.press('Escape');
    else {
      await dialog().getByRole('button', { name: out }).first().focus();
      await page.keyboard.press('Enter');
    }
    await dialog().waitFor({ state: 'detached' });
    await until(() => isFocused(opener));
  }

  let pictures = 0;

  /** For people: as it looks on a phone at night. */
  async function pictureOnPhone(): Promise<void> {
    if (!takesScreenshots) return;
    const before = page.viewportSize()!;
    await page.emulateMedia({ colorScheme: 'dark' });
    await page.setViewportSize({ width: 375, height: 720 });
    await screenshot(page, `dialog-375-dark-${String(++pictures).padStart(2, '0')}`);
    await page.emulateMedia({ colorScheme: 'light' });
    await page.setViewportSize(before);
    // The window moved them, not the dialog.
    await page.evaluate(`new Promise((done) => requestAnimationFrame(() =>
      requestAnimationFrame(() => done(moved.length = 0))))`);
  }

  const button = (name: string | RegExp) =>
    page.locator('#main').getByRole('button', { name }).first();

  it.each<[path: string, names: (string | RegExp)[]]>([
    ['/messages/SCHEDULED', ['Change the time', 'Cancel the email', 'Send again']],
    ['/templates', ['New template']],
    ['/templates/one-time-code', ['Clone', 'Test send']],
    ['/templates/welcome', ['Clone', 'Test send', 'Archive', 'Diff']],
    ['/templates/welcome/edit', ['Test send', 'Publish…']],
    ['/senders', ['Add a domain', 'Add an address', 'Remove example.com', 'Remove one@']],
    ['/webhooks', ['Add an endpoint']],
    ['/webhooks/ENDPOINT', ['Send a test event', /delivery/]],
    ['/keys', ['Create a key', /^Revoke/]],
    ['/streams', ['New stream', 'Change News', 'Archive News']],
    ['/suppressions', ['Add addresses', 'Remove no@']],
    ['/sandbox', ['Empty the inbox']],
    ['/team', ['Invite', /^Remove/, 'Withdraw']],
    ['/profile', ['Set up an app']],
    ['/operator', ['New account']],
    ['/operator/relays', ['Add a relay']],
  ])('on %s', async (path, names) => {
    await page.goto(path.replace('SCHEDULED', ids.scheduled).replace('ENDPOINT', ids.endpoint));
    for (const name of names) {
      await walk(button(name)).catch((fault) => {
        throw new Error(`${path}, ${name}: ${fault}`);
      });
    }
  });

  it.each<[path: string, menu: string, items: string[]]>([
    ['/webhooks/ENDPOINT', 'More', ['Edit', 'Replay events', 'Rotate the secret', 'Remove']],
    ['/operator', 'Manage Test', ['Plan, quota and rate', 'Suspend']],
    ['/operator/relays', 'Manage spare', ['Change', 'Remove']],
    ['/messages?q=subject:x', 'Views', ['Save this search']],
  ])('from a menu on %s', async (path, menu, items) => {
    await page.goto(path.replace('ENDPOINT', ids.endpoint));
    for (const item of items) {
      await walk(button(menu), undefined, item).catch((fault) => {
        throw new Error(`${path}, ${item}: ${fault}`);
      });
    }
  });

  it('where its button was switched off while the answer was on its way', async () => {
    await page.goto('/templates/welcome/edit');
    await page.getByLabel('Subject').fill('Published at once');
    await walk(button('Publish…'), 'Not yet');
    await page.getByLabel('Subject').fill('Mine');
    await api.templates.put({ slug: 'welcome', subject: 'Somebody else’s' });
    await walk(button('Save draft'));
    await page.goto('/branding');
    await page.getByRole('textbox', { name: 'Brand name' }).fill('Finch');
    await walk(button('Save…'));
  });

  it('over whatever has the focus', async () => {
    await page.goto('/templates/welcome/edit');
    const subject = page.getByLabel('Subject');
    await subject.focus();
    await page.keyboard.press('ControlOrMeta+k');
    await dialog().waitFor();
    await page.keyboard.press('Escape');
    await until(() => isFocused(subject));
    await page.goto('/keys');
    const create = button('Create a key');
    await create.focus();
    await page.keyboard.press('?');
    await dialog().waitFor();
    await page.keyboard.press('Escape');
    await until(() => isFocused(create));
  });

  it('after the session ended and began again', async () => {
    await page.goto('/templates/welcome/edit');
    const subject = page.getByLabel('Subject');
    await subject.focus();
    await dashboard!.service.database.query('DELETE FROM sessions');
    await page.keyboard.type('x');
    await dialog().waitFor();
    await dialog().getByRole('textbox', { name: 'Password' }).fill(PASSWORD);
    await page.keyboard.press('Enter');
    await dialog().waitFor({ state: 'detached' });
    await until(() => isFocused(subject));
  });
});

describe.skipIf(!dashboard)('What lies over the page', () => {
  let page: Page;

  beforeAll(async () => {
    const { service, open } = dashboard!;
    const { id: accountId } = await service.account();
    const { api } = await openSignedIn(service, { accountId });
    for (const name of ['ada', 'bo', 'cy']) {
      await api.suppressions.put({ address: `${name}@example.net` });
    }
    page = await open({ accountId, role: 'owner', operator: true });
  });

  const focused = (): Promise<string> =>
    page.evaluate(`document.activeElement.innerText + document.activeElement.tagName`);

  it('a row that is removed leaves the focus to the next one, the last one to the heading', async () => {
    await page.goto('/suppressions');
    for (const [name, next] of [
      ['bo', /^cy@example\.net.*TR$/s],
      ['cy', /^ada@example\.net.*TR$/s],
      ['ada', /^SuppressionsH1$/],
    ] as const) {
      await page.getByRole('button', { name: `Remove ${name}@example.net` }).focus();
      await page.keyboard.press('Enter');
      await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).focus();
      await page.keyboard.press('Enter');
      await told(page, `${name}@example.net can get email again`);
      await expect.poll(focused).toMatch(next);
    }
  });

  it('a menu is walked by arrows, Home, End and letters, and left by Escape and Tab', async () => {
    await page.goto('/suppressions');
    const button = page.getByRole('button', { name: /User of/ });
    const items = page.getByRole('menu').locator('[role^=menuitem]');
    await button.focus();
    await page.keyboard.press('ArrowDown');
    const at = () => expect.poll(() => page.locator(':focus').textContent());
    await at().toBe('Light');
    expect(await button.getAttribute('aria-expanded')).toBe('true');
    await look(page, 'user-menu');
    for (const [key, name] of [
      ['ArrowDown', 'Dark'],
      ['End', 'Sign out'],
      ['ArrowDown', 'Light'],
      ['ArrowUp', 'Sign out'],
      ['Home', 'Light'],
      ['p', 'Profile & password'],
      ['s', 'Sign out'],
      ['s', 'System'],
    ] as const) {
      await page.keyboard.press(key);
      await at().toBe(name);
    }
    await page.keyboard.press('Escape');
    await items.first().waitFor({ state: 'detached' });
    expect(await button.and(page.locator(':focus')).count()).toBe(1);
    await page.keyboard.press('Enter');
    await at().toBe('Light');
    await page.keyboard.press('Tab');
    await items.first().waitFor({ state: 'detached' });
    // A click elsewhere leaves it too, and what it is beside stays in sight.
    await button.click();
    await items.first().waitFor();
    const box = (await page.getByRole('menu').boundingBox())!;
    expect(box.y).toBeGreaterThanOrEqual(0);
    expect(box.y + box.height).toBeLessThanOrEqual(900);
    await page.getByRole('heading', { level: 1 }).click();
    await items.first().waitFor({ state: 'detached' });
  });

  it('a tooltip comes by focus and by pointing, tells a screen reader, and goes by Escape', async () => {
    await page.goto('/keys');
    const words = page.getByRole('tooltip');
    const revoke = page.getByRole('button', { name: /^Revoke/ }).first();
    // By keyboard: a focus that a script sets is not shown.
    await page.getByRole('region', { name: 'API keys' }).focus();
    while ((await revoke.and(page.locator(':focus')).count()) === 0) {
      await page.keyboard.press('Tab');
    }
    await expect.poll(() => words.textContent()).toBe('Revoke');
    await words.waitFor();
    expect(await revoke.getAttribute('aria-describedby')).toBe(await words.getAttribute('id'));
    await page.keyboard.press('Escape');
    await words.waitFor({ state: 'hidden' });
    expect(await revoke.getAttribute('aria-describedby')).toBe(null);
    await page.locator('tbody time').first().hover();
    await words.getByText(/\d{4}-\d\d-\d\dT/).waitFor();
    // Who points at the words may read them to the end.
    await words.hover();
    await words.waitFor();
    await page.getByRole('heading', { level: 1 }).hover();
    await words.waitFor({ state: 'hidden' });
  });

  it('a toast says what was done, stays while one points at it, and is dismissed', async () => {
    await page.clock.install();
    await page.goto('/account');
    await page.getByRole('switch', { name: 'Clicks' }).click();
    const done = page.getByRole('status').filter({ hasText: 'Saved' });
    await done.hover();
    await page.clock.runFor(9000);
    expect(await done.count()).toBe(1);
    await done.getByRole('button', { name: 'Dismiss' }).click();
    await done.waitFor({ state: 'detached' });
    await page.route('**/v1/account', (route) =>
      route.request().method() === 'GET' ? route.continue() : route.fulfill({ status: 503 }),
    );
    await page.getByRole('switch', { name: 'Clicks' }).click();
    await page.getByRole('alert').getByText('The service answered 503').waitFor();
  });
});

it('there is one kind of dialog', () => {
  const others = readdirSync(pagesFolder, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.tsx') && name !== 'parts/dialog.tsx')
    .filter((name) => /<Modal\b/.test(readFileSync(join(pagesFolder, name), 'utf8')));
  expect(others).toEqual([]);
});
