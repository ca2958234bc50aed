// npm run bench pages: how long each page of the dashboard takes from the click to its content on
// the screen, in a browser, from a service on the same machine with a little of everything. Once
// the first page is there and its reader has looked at it: a page that was not visited yet, by its
// link in the menu or on the page before it, on which the pointer rests for 200 ms; and the same
// once more. The goal is 100 ms for every page.
import type { Page } from 'playwright-core';
import { ROLES } from '../src/process/roles.ts';
import { fillAndListPages, type Shown } from '../tests/browser/pages.ts';
import { openSignedIn } from '../tests/dashboard/dashboard-client.ts';
import { openBrowser } from '../tests/support/browser.ts';
import { anEmail, makeAccount, request } from '../tests/support/service.ts';
import { openInstallation } from './support/installation.ts';
import { judge, SKIPPED, skip } from './support/results.ts';
import { show, summarise } from './support/rounds.ts';

const ROUNDS = Number(process.env.ROUNDS ?? 5);
/** How long a pointer rests on a link before it clicks: the page is fetched ahead meanwhile. */
const POINTING_MS = 200;
/** A page that asks for nothing. */
const NOWHERE = { path: '/nowhere', shows: 'Nothing nests here' };

const browser = await openBrowser();
if ('skipped' in browser) {
  skip(browser.skipped);
  process.exit(SKIPPED);
}
const installation = await openInstallation();
const { database } = installation;
const service = await installation.serve(ROLES.join(','), { WEBHOOK_ALLOW: '127.0.0.0/8' });
const url = `http://127.0.0.1:${service.port}`;

try {
  const account = await makeAccount(database);
  const person = await openSignedIn({ url, database }, { accountId: account.id, operator: true });
  const pages = await fillAndListPages({ api: person.api, database }, account.key, send);
  const first = new Map<string, number[]>(pages.map(({ page }) => [page, []]));
  const again = new Map<string, number[]>(pages.map(({ page }) => [page, []]));
  for (let round = 0; round <= ROUNDS; round++) {
    const page = await openPage(person.cookie!);
    for (const times of [first, again]) {
      for (const shown of pages) {
        const tookMs = await visit(page, shown, pageBefore(pages, shown));
        // In the first round the service itself is cold.
        if (round > 0) times.get(shown.page)!.push(tookMs);
      }
      if (round === 0) break;
    }
    await page.context().close();
  }
  report('visited for the first time', first);
  report('visited again', again);
} finally {
  await browser.close();
  await service.stop();
  await installation.close();
}

async function send(key: string, subject: string): Promise<string> {
  const { body } = await request(`${url}/v1/send`, {
    method: 'POST',
    headers: { 'x-api-key': key, 'content-type': 'application/json' },
    body: JSON.stringify(anEmail({ subject })),
  });
  return body.id;
}

/** A window of its own, with nothing in its cache, on a page that asks for nothing. */
async function openPage(cookie: string): Promise<Page> {
  const context = await (browser as Exclude<typeof browser, { skipped: string }>).newContext({
    baseURL: url,
    viewport: { width: 1360, height: 900 },
  });
  const [name, value] = cookie.split('=') as [string, string];
  await context.addCookies([{ name, value, url, httpOnly: true, sameSite: 'Lax' }]);
  const page = await context.newPage();
  await page.goto(NOWHERE.path);
  await page.getByRole('heading', { name: NOWHERE.shows }).waitFor();
  // As long as someone needs to read it: what is fetched ahead is here by then.
  await page.waitForLoadState('networkidle');
  return page;
}

type Place = Pick<Shown, 'path' | 'shows'>;

/**
 * From which one comes: for one thing of a list that list, for the others none that draws anything.
 */
function pageBefore(pages: readonly Shown[], { path }: Shown): Place {
  return pages.findLast((it) => it.path !== '/' && path.startsWith(`${it.path}/`)) ?? NOWHERE;
}

/** Milliseconds from the click until a frame with these words has been drawn. */
async function visit(page: Page, to: Shown, from: Place): Promise<number> {
  await page.evaluate(goAndWait(from));
  const link = page.locator(linkTo(to)).first();
  if ((await link.count()) > 0) {
    await link.hover();
    await page.waitForTimeout(POINTING_MS);
  }
  return await page.evaluate(goAndWait(to));
}

function linkTo({ path }: Place): string {
  return `:is(nav, main) a[href="${path}"]`;
}

/** Runs in the page; without a link it goes as one does, without reloading the document. */
function goAndWait({ path, shows }: Place): string {
  return `new Promise((done) => {
    if (location.pathname === ${JSON.stringify(path)}) return done(0);
    const before = document.querySelector('main > :last-child');
    const startedAtMs = performance.now();
    const link = document.querySelector('${linkTo({ path, shows })}');
    if (link) link.click();
    else {
      history.pushState({}, '', ${JSON.stringify(path)});
      dispatchEvent(new PopStateEvent('popstate', { state: {} }));
    }
    const lookAtFrame = () => {
      const shown = document.querySelector('main > :last-child');
      // A list may have the same words.
      const isThere = shown !== before && shown?.textContent.includes(${JSON.stringify(shows)});
      if (isThere) setTimeout(() => done(performance.now() - startedAtMs));
      else requestAnimationFrame(lookAtFrame);
    };
    requestAnimationFrame(lookAtFrame);
  })`;
}

function report(what: string, times: ReadonlyMap<string, number[]>): void {
  process.stdout.write(`\n${what}, ms\n`);
  const medians = new Map<string, number>();
  for (const [page, ms] of times) {
    const summary = summarise(ms);
    medians.set(page, summary.median);
    process.stdout.write(`  ${page.padEnd(28)} ${show(summary, 0)}\n`);
  }
  const [slowest] = [...medians].sort(([, one], [, other]) => other - one)[0]!;
  process.stdout.write(`the slowest is ${slowest}\n`);
  judge(`the slowest page, ${what}`, summarise(times.get(slowest)!), {
    ...{ goal: 100, better: 'lower', unit: 'ms', digits: 0 },
  });
}
