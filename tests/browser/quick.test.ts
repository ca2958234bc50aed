// As fast as the network allows, and no slower with many rows. Every page shows its main content
// after at most one round trip to the server, and after none once it was visited; a list of
// thousands of rows lays out only those in sight. Proven by what a page waits for, not by a clock:
// answers that the test holds back never arrive.
import type { Page, Route } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openSignedIn } from '../dashboard/dashboard-client.ts';
import { inFull, LONGER } from '../support/longer.ts';
import { anEmail } from '../support/service.ts';
import { type Dashboard, openDashboard, setMetered } from './dashboard.ts';
import { fillAndListPages, type Shown } from './pages.ts';

const dashboard = await openDashboard({ WEBHOOK_ALLOW: '127.0.0.0/8' });
afterAll(() => dashboard?.stop());

const CALLS = /\/(v1|dashboard\/api)\//;

/**
 * From `holdCalls` on, calls wait until `letGo`. One that the page makes after an answer may be
 * because of that answer: it gets none. Held in the page: what Playwright's routes hold passes
 * through this process, and takes the browser its cache.
 */
const HOLD_CALLS = `
  let round;
  globalThis.holdCalls = () => {
    round = { isOver: false };
    round.begun = new Promise((begin) => { globalThis.letGo = begin });
  };
  globalThis.answerNone = () => { round = { isOver: true } };
  const { fetch } = globalThis;
  globalThis.fetch = async (input, init) => {
    const [own, request] = [round, new Request(input, init)];
    if (own === undefined || !${CALLS}.test(request.url)) return fetch(request);
    if (own.isOver) return new Promise(() => {});
    await own.begun;
    const answer = await fetch(request);
    own.isOver = true;
    return answer;
  };`;

const account = await dashboard?.service.account();
const pages = dashboard ? await fill(dashboard) : [];
let page: Page;
beforeAll(async () => {
  if (dashboard === undefined) return;
  page = await dashboard.open({ accountId: account!.id, role: 'owner', operator: true });
  await page.addInitScript(HOLD_CALLS);
});

async function fill({ service }: Dashboard): Promise<Shown[]> {
  const { api } = await openSignedIn(service, { accountId: account!.id });
  return await fillAndListPages(
    { api, database: service.database },
    account!.key,
    async (key, subject) => (await service.send(key, anEmail({ subject }))).body.id,
  );
}

/** As a link does it, without reloading the document. */
const go = (path: string, window = page) =>
  window.evaluate(`{
    history.pushState({}, '', ${JSON.stringify(path)});
    dispatchEvent(new PopStateEvent('popstate', { state: {} }));
  }`);

const isThere = async (path: string, shows: string, window = page) => {
  await window.waitForURL((url) => url.pathname === path);
  const words = window.getByRole('main').getByText(shows, { exact: false }).first();
  await words.waitFor();
};

describe.skipIf(!dashboard)('Every page', () => {
  it.each(pages)('after one round trip: $page', async ({ path, shows }) => {
    await page.goto('/nowhere');
    await page.getByRole('heading', { name: 'Nothing nests here' }).waitFor();
    await page.evaluate('holdCalls()');
    await go(path);
    // Its code is here, and whatever it asks for by itself was asked for.
    await page.getByRole('main').locator('h1:not(:text("Nothing nests here"))').waitFor();
    await page.waitForLoadState('domcontentloaded');
    await page.evaluate(
      'new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done())))',
    );
    await page.evaluate('letGo()');
    await isThere(path, shows);
  });

  it('again: from what was read before, while nothing answers', async () => {
    await page.goto('/nowhere');
    for (const { path, shows } of pages) {
      await go(path);
      await isThere(path, shows);
    }
    await page.evaluate('answerNone()');
    for (const { path, shows } of pages) {
      await go(path);
      await isThere(path, shows);
    }
  });

  it('is drawn no more when nothing happens', async () => {
    const resting = await dashboard!.open({ accountId: account!.id, role: 'owner' });
    await resting.addInitScript(COUNT_DRAWN);
    await resting.clock.install();
    const drawn = async () => {
      const before = (await resting.evaluate('drawn')) as number;
      // Three seconds: what is read again and again has its turn later.
      for (let step = 0; step < 6; step++) {
        await resting.clock.runFor(500);
        await resting.evaluate(TASK_DONE);
      }
      return ((await resting.evaluate('drawn')) as number) - before;
    };
    for (const { page, path, shows } of pages.filter((it) => /branding|edit$/.test(it.page))) {
      await resting.goto(path);
      await resting.getByRole('main').getByText(shows, { exact: false }).first().waitFor();
      await resting.waitForLoadState('networkidle');
      // On a busy machine an answer may still be on its way; what never rests is drawn in any three
      // seconds.
      await expect.poll(drawn, { message: page }).toBeLessThan(4);
    }
    await resting.close();
  });
});

describe.skipIf(!dashboard)('The code of all pages', () => {
  const ASSETS = /\/assets\//;
  /** Of the table's last page: by then all others are here. */
  const LAST = /\/assets\/relays-.*\.js$/;

  async function openWindow(isMetered: boolean): Promise<Page> {
    const window = await dashboard!.open({ accountId: account!.id, role: 'owner', operator: true });
    await window.addInitScript(setMetered(isMetered));
    return window;
  }

  it('is here before one is opened', async () => {
    const window = await openWindow(false);
    await Promise.all([window.waitForResponse(LAST), window.goto('/nowhere')]);
    await window.waitForLoadState('networkidle');
    await window.route(ASSETS, (route) => route.abort());
    const some = [
      '/',
      '/messages/:id',
      '/templates/welcome/edit',
      '/connect/reference',
      '/profile',
    ];
    for (const { path, shows } of inFull(
      pages,
      pages.filter((it) => some.includes(it.page)),
    )) {
      await go(path, window);
      await isThere(path, shows, window);
    }
    await window.close();
  });

  it('waits for what the page itself asked for', async () => {
    const window = await openWindow(false);
    const held: Route[] = [];
    let isHeld = true;
    await window.route('**/v1/**', (route) => (isHeld ? held.push(route) : route.continue()));
    await window.goto('/keys');
    await window.getByRole('main').getByRole('progressbar').waitFor();
    await expectNothingAhead(window);
    isHeld = false;
    await Promise.all([window.waitForResponse(LAST), ...held.map((route) => route.continue())]);
    await window.close();
  });

  it('is not loaded ahead on a metered line', async () => {
    const window = await openWindow(true);
    await window.goto('/nowhere');
    await window.getByRole('heading', { name: 'Nothing nests here' }).waitFor();
    await expectNothingAhead(window);
    await window.close();
  });

  /** The first idle moment is enough to ask for something. */
  async function expectNothingAhead(window: Page): Promise<void> {
    const before = await assetsOf(window);
    for (let time = 0; time < 6; time++) {
      await window.evaluate('new Promise((done) => requestIdleCallback(() => done()))');
    }
    expect(await assetsOf(window)).toEqual(before);
  }

  const assetsOf = (window: Page) =>
    window.evaluate(`performance.getEntriesByType('resource').map((it) => it.name)
      .filter((name) => ${ASSETS}.test(name))`) as Promise<string[]>;
});

/** How often React changed the page; it tells the tools of developers, and finds them here. */
const COUNT_DRAWN = `
  globalThis.drawn = 0;
  globalThis.__REACT_DEVTOOLS_GLOBAL_HOOK__ = {
    supportsFiber: true,
    inject: () => 1,
    onCommitFiberRoot: () => void drawn++,
    onCommitFiberUnmount() {},
    onPostCommitFiberRoot() {},
  };`;

/** What a timer began has been drawn. */
const TASK_DONE = `new Promise((done) => {
  const { port1, port2 } = new MessageChannel();
  port1.onmessage = done;
  port2.postMessage(null);
})`;

/** More than fit on any screen. */
const MANY = LONGER > 1 ? 3000 : 300;

interface Listed {
  data: Record<string, unknown>[];
}

describe.skipIf(!dashboard)('A list of hundreds of rows', () => {
  const lists = [
    { path: () => '/messages', call: '/v1/messages', key: 'id', opens: '/messages/' },
    { path: () => '/suppressions', call: '/v1/suppressions', key: 'address', opens: null },
    { path: () => '/audit', call: '/v1/audit', key: 'id', opens: null },
    {
      path: () => pages.find((it) => it.page === '/webhooks/:id')!.path,
      call: `/v1/webhooks/[^/]+/deliveries`,
      key: 'id',
      opens: 'delivery=',
    },
  ];

  // Of each frame that lists have one.
  it.each(inFull(lists, lists.slice(0, 2)))(
    '$call is walked by keys, and lays out what is in sight',
    async (list) => {
      const calls = new RegExp(`${list.call}(\\?|$)`);
      await page.goto('/nowhere');
      // Rows as the service gives them, many times over.
      await page.route(calls, async (route) => {
        const answer = await route.fetch();
        const [row] = ((await answer.json()) as Listed).data;
        const data = Array.from({ length: MANY }, (_, n) => ({ ...row, [list.key]: `row${n}` }));
        await route.fulfill({ response: answer, json: { data, next: null } });
      });
      await page.goto(list.path());
      const rows = page.locator('#main :is(.row-link, .row-table tbody tr)');
      await expect.poll(() => rows.count()).toBe(MANY);
      for (const key of ['j', 'j', 'k', 'j']) await page.keyboard.press(key);
      const place = `[...document.querySelectorAll('#main .row-link, #main .row-table tbody tr')]
      .indexOf(document.activeElement)`;
      expect(await page.evaluate(place)).toBe(1);
      await rows.last().evaluate((row) => {
        (row as unknown as { tabIndex: number }).tabIndex = -1;
        (row as unknown as { focus(): void }).focus();
      });
      await page.keyboard.press('k');
      expect(await page.evaluate(place)).toBe(MANY - 2);
      expect(await page.evaluate(IN_SIGHT)).toBe(true);
      if (list.opens !== null) {
        // Rows of one link each; a table has to be laid out as a whole.
        await expect.poll(() => page.evaluate(LAID_OUT)).toBeLessThan(200);
        expect(await page.evaluate(LAID_OUT)).toBeGreaterThan(0);
        await page.keyboard.press('Enter');
        await page.waitForURL((url) => url.href.includes(list.opens!));
      }
      await page.unroute(calls);
    },
  );
});

/** Rows whose contents the browser did not leave out. */
const LAID_OUT = `[...document.querySelectorAll('#main .row-link')].filter((row) =>
  row.firstElementChild.checkVisibility({ contentVisibilityAuto: true })).length`;

const IN_SIGHT = `(({ top, bottom }) => top >= 0 && bottom <= innerHeight)(
  document.activeElement.getBoundingClientRect())`;
