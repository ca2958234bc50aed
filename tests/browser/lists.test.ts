// Every list has the same frame: it says when it cannot be loaded and offers to try again, and when
// what it shows is out of date. It is there at once if its link was hovered, and shows at once what
// someone does to a row.
import type { Page, Route } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openSignedIn } from '../dashboard/dashboard-client.ts';
import { openDashboard, told } from './dashboard.ts';

const dashboard = await openDashboard({ WEBHOOK_ALLOW: '127.0.0.0/8' });
afterAll(() => dashboard?.stop());

const lists = [
  { link: 'Audit', call: '/v1/audit', shows: 'Audit' },
  { link: 'Suppressions', call: '/v1/suppressions', shows: 'Nobody is suppressed' },
  { link: 'Messages', call: '/v1/messages', shows: 'No messages yet' },
  { link: 'Templates', call: '/v1/templates', shows: 'Password reset' },
  { link: 'Webhooks', call: '/v1/webhooks', shows: 'No endpoints' },
  { link: 'API keys', call: '/v1/keys', shows: 'Last used' },
  { link: 'Streams', call: '/v1/streams', shows: 'Recipients can leave' },
  { link: 'Senders', call: '/v1/domains', shows: 'Domains' },
];

const refusal = {
  status: 400,
  contentType: 'application/json',
  body: JSON.stringify({ detail: 'The list is out for lunch.' }),
};

describe.skipIf(!dashboard)('A list', () => {
  it('says why it cannot be loaded, and is loaded by trying again', async () => {
    const { service, open } = dashboard!;
    const account = await service.account();
    const page = await open({ accountId: account.id, role: 'owner' });
    await page.goto('/account');
    for (const { link, call, shows } of lists) {
      const calls = new RegExp(`${call}(\\?|$)`);
      await page.route(calls, (route) => route.fulfill(refusal));
      await page.getByRole('navigation').getByRole('link', { name: link, exact: true }).click();
      const fault = page.getByRole('alert').filter({ hasText: 'This could not be loaded' });
      await fault.getByText('The list is out for lunch.').first().waitFor();
      await page.unroute(calls);
      await fault.getByRole('button', { name: 'Try again' }).first().click();
      await page.getByRole('main').getByText(shows, { exact: true }).first().waitFor();
      await fault.first().waitFor({ state: 'detached' });
    }
  });

  it('keeps its rows when it cannot be read again, and says that they are old', async () => {
    const { service, open } = dashboard!;
    const account = await service.account();
    const page = await open({ accountId: account.id, role: 'owner' });
    await page.goto('/keys');
    await page.getByRole('region', { name: 'API keys' }).waitFor();
    // Read again and again while someone looks.
    await page.route(/\/v1\/keys/, (route) => route.fulfill(refusal));
    const old = page.getByRole('alert').filter({ hasText: 'This is not up to date' });
    await old.getByText('The list is out for lunch.').waitFor();
    expect(await page.getByRole('region', { name: 'API keys' }).count()).toBe(1);
    await page.unroute(/\/v1\/keys/);
    await old.getByRole('button', { name: 'Try again' }).click();
    await old.waitFor({ state: 'detached' });
  });
});

describe.skipIf(!dashboard)('Without a line to the service', () => {
  it('a page and a change say so, and the page is there when the line is', async () => {
    const { service, open } = dashboard!;
    const account = await service.account();
    const page = await open({ accountId: account.id, role: 'owner' });
    await page.goto('/suppressions');
    await page.getByText('Nobody is suppressed').waitFor();
    await page.getByRole('button', { name: 'Add addresses' }).click();
    await page.getByRole('dialog').getByLabel('Addresses').fill('bo@example.net');
    await page.context().setOffline(true);
    await page.getByRole('button', { name: 'Suppress', exact: true }).click();
    await page.getByRole('dialog').getByText('The service did not answer').waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await page.getByRole('searchbox').fill('ada@');
    await page.getByRole('alert').getByText('The service did not answer').waitFor();
    await page.context().setOffline(false);
    await page.getByText('Nothing matches').waitFor();
    // The search is in the address.
    expect(new URL(page.url()).searchParams.get('q')).toBe('ada@');
  });

  it('the first page says so as well, and is tried again', async () => {
    const { service, open } = dashboard!;
    const account = await service.account();
    const page = await open({ accountId: account.id, role: 'owner' });
    await page.route('**/dashboard/api/session', (route) => route.fulfill({ status: 503 }));
    await page.goto('/suppressions?q=%22bo%22');
    await page.getByRole('alert').getByText('The service answered 503.').waitFor();
    await page.unroute('**/dashboard/api/session');
    await page.getByRole('button', { name: 'Try again' }).click();
    await page.getByText('Nothing matches').waitFor();
    expect(await page.getByRole('searchbox').inputValue()).toBe('bo');
    for (const [path, call, shows] of [
      ['/templates/welcome/edit', '**/versions/newest', 'System templates cannot be changed'],
      ['/connect', '**/v1/usage', 'Paste one of these'],
    ] as const) {
      await page.route(call, (route) => route.fulfill(refusal));
      await page.goto(path);
      await page.getByRole('alert').getByText('The list is out for lunch.').waitFor();
      await page.unroute(call);
      await page.getByRole('button', { name: 'Try again' }).click();
      await page.getByText(shows).waitFor();
    }
  });
});

describe.skipIf(!dashboard)('A page', () => {
  it('is there before anything is asked for, once its link was hovered or chosen', async () => {
    const { service, open } = dashboard!;
    const account = await service.account();
    const page = await open({ accountId: account.id, role: 'owner' });
    const asked = new Set<unknown>();
    const isOver = (request: unknown) => asked.delete(request);
    page.on('request', (request) => {
      if (['script', 'fetch'].includes(request.resourceType())) asked.add(request);
    });
    page.on('requestfinished', isOver);
    page.on('requestfailed', isOver);
    const prepare = async (call: string, act: () => Promise<void>) => {
      const answered = page.waitForResponse((it) => new URL(it.url()).pathname === call);
      await act();
      await answered;
      await expect.poll(() => asked.size).toBe(0);
    };
    await page.goto('/account');
    await page.getByRole('heading', { level: 1 }).waitFor();
    for (const { link, call, shows } of lists.slice(0, 6)) {
      const way = page.getByRole('navigation').getByRole('link', { name: link, exact: true });
      await prepare(call, () => way.hover());
      await page.context().setOffline(true);
      await way.click();
      await page.getByRole('main').getByText(shows, { exact: true }).first().waitFor();
      await page.context().setOffline(false);
    }
    await page.keyboard.press('Control+k');
    await page.getByRole('combobox', { name: 'Go to' }).waitFor();
    await prepare('/v1/streams', () => page.keyboard.type('streams'));
    await page.context().setOffline(true);
    await page.keyboard.press('Enter');
    await page.getByRole('main').getByText('Recipients can leave', { exact: true }).waitFor();
  });
});

describe.skipIf(!dashboard)('What someone does', () => {
  let page: Page;
  let endpoint: string;

  beforeAll(async () => {
    const { service, open } = dashboard!;
    const { id: accountId } = await service.account();
    const { api } = await openSignedIn(service, { accountId });
    for (const address of ['ada@example.net', 'bo@example.net']) {
      await api.suppressions.put({ address });
    }
    await api.keys.create({ name: 'Old key', scopes: ['email:send'] });
    await api.streams.put({ name: 'news', kind: 'broadcast', title: 'News' });
    await api.addresses.put({ address: 'ada@example.net' });
    await api.team.invite({ email: 'cy@example.net', role: 'viewer' });
    await api.templates.clone({ slug: 'welcome' });
    // Of events that do not happen here: it does not fail by itself.
    const hook = { url: 'http://127.0.0.1:9999/hook', event_types: ['complaint' as const] };
    endpoint = (await api.webhooks.create(hook)).id;
    page = await open({ accountId, role: 'owner' });
  });

  const main = () => page.getByRole('main');
  const press = (name: string) => main().getByRole('button', { name, exact: true }).click();
  const agree = () => page.getByRole('dialog').locator('button[type=submit]').click();
  const after = async (name: string) => {
    await press(name);
    await agree();
  };
  const text = (words: string) => main().getByText(words, { exact: true }).first();

  /** Each: what stands there before it, and no longer while the server thinks about it. */
  const deeds: [what: string, path: () => string, call: string, before: string, () => unknown][] = [
    [
      'a suppression',
      () => '/suppressions',
      'suppressions',
      'ada@example.net',
      () => after('Remove ada@example.net'),
    ],
    ['a key', () => '/keys', 'keys', 'Old key', () => after('Revoke Old key')],
    [
      'a sender',
      () => '/senders',
      'addresses',
      'ada@example.net',
      () => after('Remove ada@example.net'),
    ],
    ['an invitation', () => '/team', 'team', 'cy@example.net', () => after('Withdraw')],
    [
      'a template',
      () => '/templates/welcome',
      'templates/welcome/archive',
      'Archive',
      () => after('Archive'),
    ],
    [
      'an endpoint',
      () => `/webhooks/${endpoint}`,
      'webhooks',
      'On',
      async () => {
        await press('More');
        await page.getByRole('menuitem', { name: 'Switch off' }).click();
      },
    ],
  ];

  it.each(deeds)('to %s is seen at once, and taken back when it is refused', async (...deed) => {
    const [, path, call, before, act] = deed;
    await page.goto(path());
    await text(before).waitFor();
    const held = await hold(call);
    await act();
    await text(before).waitFor({ state: 'detached' });
    const route = await held.route;
    await route.fulfill({ status: 400, json: { detail: 'Not while the moon is full.' } });
    await text(before).waitFor();
    await page.getByRole('alert').getByText('Not while the moon is full.').waitFor();
    await held.release();
  });

  it('to two rows: the one that is refused comes back, the other does not', async () => {
    await page.goto('/suppressions');
    await text('bo@example.net').waitFor();
    const held = await hold('suppressions');
    for (const address of ['ada@example.net', 'bo@example.net']) await after(`Remove ${address}`);
    await page.getByText('Nobody is suppressed').waitFor();
    await (await held.route).fulfill({ status: 400, json: { detail: 'Not ada.' } });
    await text('ada@example.net').waitFor();
    await held.release();
    await told(page, 'bo@example.net can get email again');
    expect(await text('bo@example.net').count()).toBe(0);
  });

  it('to a switch: it is as it was set last, however often', async () => {
    await page.goto('/account');
    const clicks = page.getByRole('switch', { name: 'Clicks' });
    const first = await clicks.isChecked();
    const held = await hold('account');
    for (const now of [!first, first, !first]) {
      await clicks.click();
      await expect.poll(() => clicks.isChecked()).toBe(now);
    }
    await (await held.route).continue();
    await held.release();
    for (let time = 1; time <= 3; time++) await told(page, 'Saved');
    await page.reload();
    await clicks.waitFor();
    expect(await clicks.isChecked()).toBe(!first);
  });

  /** The next change waits for its answer: `route` is how it gets one. */
  async function hold(call: string) {
    let take: (route: Route) => void;
    const route = new Promise<Route>((resolve) => {
      take = resolve;
    });
    let isTaken = false;
    const calls = new RegExp(`/v1/${call}(/|\\?|$)`);
    const onCall = (asked: Route) => {
      if (asked.request().method() === 'GET' || isTaken) return asked.continue();
      isTaken = true;
      take(asked);
    };
    await page.route(calls, onCall);
    return { route, release: () => page.unroute(calls, onCall) };
  }
});
