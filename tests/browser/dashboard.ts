// A dashboard for a test file: the real service with the built pages, and a browser to walk them.
// `look` lets axe-core judge the page in light and dark, and takes screenshots where they are asked
// for (support/browser.ts).
import { execFile } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, rmdirSync, statSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { AxeResults, RunOptions } from 'axe-core';
import type { Browser, Page } from 'playwright-core';
import { afterEach, expect } from 'vitest';
import type { MemberRole } from '../../src/accounts/scopes.ts';
import { openSignedIn } from '../dashboard/dashboard-client.ts';
import {
  announceSkip,
  closeWindows,
  openBrowser,
  screenshot,
  takesScreenshots,
} from '../support/browser.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { until } from '../support/until.ts';

const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))));
const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

export { PASSWORD } from '../dashboard/dashboard-client.ts';
export { screenshot } from '../support/browser.ts';

export interface Dashboard {
  service: TestService;
  url: string;
  /**
   * A browser window of its own, signed in as a new user of the account; without one, not signed
   * in.
   */
  open(user?: { accountId: number; role: MemberRole; operator?: boolean }): Promise<Page>;
  stop(): Promise<void>;
}

export async function openDashboard(
  env: Record<string, string> = {},
): Promise<Dashboard | undefined> {
  const browser = await openBrowser();
  if ('skipped' in browser) {
    announceSkip(browser.skipped);
    return undefined;
  }
  await buildPages();
  const service = await startTestService(env);
  afterEach(async ({ task }) => {
    const [fault] = task.result?.errors ?? [];
    if (task.result?.state === 'fail' && fault) fault.message += await whatIsShown(browser);
  });
  return {
    service,
    url: service.url,
    open: (user) => openPage(service, browser, user),
    async stop() {
      await closeWindows(browser);
      await service.stop();
    },
  };
}

/** What a failed test had before it: a wait that timed out says only what was not there. */
async function whatIsShown(browser: Browser): Promise<string> {
  const pages = browser.contexts().flatMap((context) => context.pages());
  const shown = pages.map(async (page) => {
    const text = await page.evaluate('document.body.innerText').catch(String);
    return `\n${page.url()} shows:\n${String(text).slice(0, 3000)}\n`;
  });
  return (await Promise.all(shown)).join('');
}

/**
 * Behind every dialog the page is blurred. Without a graphics card that took two thirds of a
 * dialog's time, and none of what tests ask for shows it. A sheet of its own: the page's policy
 * lets in no style.
 */
const WITHOUT_BLUR = `{
  const sheet = new CSSStyleSheet();
  sheet.replaceSync('* { backdrop-filter: none !important }');
  document.adoptedStyleSheets.push(sheet);
}`;

/**
 * Windows of tests are on a metered line, so that each loads what it shows and not the code of all
 * pages (web/src/shell/ahead.ts). A test about that adds `setMetered(false)`.
 */
export const setMetered = (isMetered: boolean): string =>
  `Object.defineProperty(NetworkInformation.prototype, 'saveData',
    { configurable: true, get: () => ${isMetered} })`;

const KEEP_TOASTS = `
  globalThis.toasts = [];
  new MutationObserver((changes) => {
    for (const { addedNodes } of changes)
      for (const node of addedNodes)
        if (node.className === 'toast') toasts.push(node.querySelector('.toast-words').textContent);
  }).observe(document, { childList: true, subtree: true });`;

/**
 * Waits for a toast that nobody asked about yet. Toasts are gone after four seconds, in which a
 * busy machine may not have looked: what they said is kept.
 */
export async function told(page: Page, words: string | RegExp): Promise<void> {
  await until(async () => {
    const toasts = (await page.evaluate('toasts')) as string[];
    const at = toasts.findIndex((toast) =>
      typeof words === 'string' ? toast.includes(words) : words.test(toast),
    );
    if (at >= 0) await page.evaluate(`toasts.splice(0, ${at + 1})`);
    return at >= 0;
  });
}

async function openPage(
  service: TestService,
  browser: Browser,
  user: Parameters<Dashboard['open']>[0],
): Promise<Page> {
  const context = await browser.newContext({
    baseURL: service.url,
    viewport: { width: 1360, height: 900 },
    reducedMotion: 'reduce',
    permissions: ['clipboard-read', 'clipboard-write'],
  });
  if (!takesScreenshots) await context.addInitScript(WITHOUT_BLUR);
  await context.addInitScript(setMetered(true));
  await context.addInitScript(KEEP_TOASTS);
  context.setDefaultTimeout(Number(process.env.BROWSER_TIMEOUT_MS ?? 60_000));
  if (user) {
    const [name, value] = (await openSignedIn(service, user)).cookie!.split('=') as [
      string,
      string,
    ];
    await context.addCookies([{ name, value, url: service.url, httpOnly: true, sameSite: 'Lax' }]);
  }
  const page = await context.newPage();
  watchFaults(page);
  return page;
}

const faults = new WeakMap<Page, string[]>();

/**
 * Whatever the page complains about: errors of scripts, and what the Content-Security-Policy
 * blocked.
 */
function watchFaults(page: Page): void {
  const list: string[] = [];
  faults.set(page, list);
  page.on('pageerror', (fault) => list.push(fault.message));
  page.on('console', (message) => {
    const text = message.text();
    // Refused requests are part of some tests; the browser logs them all.
    if (message.type() === 'error' && !/Failed to load resource/.test(text)) list.push(text);
  });
}

/** Colours change in transitions of some 200 ms; axe-core would judge one in between. */
const COLOURS_ARE_THERE = `Promise.all(document.getAnimations()
  .filter((it) => it instanceof CSSTransition)
  .map((it) => it.finished.catch(() => undefined))).then(() => undefined)`;

/** In light and dark: a screenshot, no serious finding of axe-core, nothing in the console. */
export async function look(page: Page, name: string): Promise<void> {
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme });
    await page.locator(`html[data-mantine-color-scheme=${colorScheme}]`).waitFor();
    await page.evaluate(COLOURS_ARE_THERE);
    await screenshot(page, `${name}-${colorScheme}`);
    // Of all the rules, colours alone can change the outcome of one.
    const rules = colorScheme === 'dark' ? { runOnly: ['color-contrast'] } : {};
    expect(await findings(page, rules), `${name}, ${colorScheme}`).toEqual([]);
  }
  await page.emulateMedia({ colorScheme: 'light' });
  expect(faults.get(page), name).toEqual([]);
}

/**
 * The costliest rule by far. Every page is looked at elsewhere, in light and dark, and its colours
 * are the same at every width.
 */
export const WITHOUT_COLOURS: RunOptions = { rules: { 'color-contrast': { enabled: false } } };

/** What axe-core takes for serious. */
export async function findings(page: Page, rules: RunOptions = {}): Promise<string[]> {
  // Evaluated rather than added as a script: the page's policy would not let it in.
  if (!(await page.evaluate(() => 'axe' in globalThis))) await page.evaluate(axe);
  // Emails are someone's HTML, in frames without an origin; the catalogue's tests look at those.
  const options = { iframes: false, resultTypes: ['violations'], ...rules };
  const results = (await page.evaluate(
    `axe.run(document, ${JSON.stringify(options)})`,
  )) as AxeResults;
  return results.violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .flatMap(({ id, nodes }) =>
      nodes.map(({ target, failureSummary }) => `${id}: ${target.join(' ')}: ${failureSummary}`),
    );
}

/**
 * Builds dist/web when a source is newer than it. Test files run side by side, so one builds and
 * the others wait.
 */
async function buildPages(): Promise<void> {
  const lock = join(root, 'node_modules/.web-build');
  await until(async () => {
    if (!isStale()) return true;
    try {
      mkdirSync(lock);
    } catch {
      // Left behind by a run that was cut off?
      if (Date.now() - (statSync(lock, { throwIfNoEntry: false })?.mtimeMs ?? 0) > 120_000) {
        rmdirSync(lock);
      }
      return false;
    }
    try {
      if (isStale()) await build();
      return true;
    } finally {
      rmdirSync(lock);
    }
  });
}

/**
 * In a process of its own: under a test runner's NODE_ENV the pages would get React's development
 * build.
 */
const build = (): Promise<unknown> =>
  promisify(execFile)(
    process.execPath,
    [join(root, 'node_modules/vite/bin/vite.js'), 'build', '--config', 'web/vite.config.ts'],
    { cwd: root, env: { ...process.env, NODE_ENV: 'production' } },
  );

function isStale(): boolean {
  const built = statSync(join(root, 'dist/web/index.html'), { throwIfNoEntry: false });
  const sources = [
    ...['web/index.html', 'web/vite.config.ts', 'package-lock.json'],
    'src/dashboard/contract.ts',
    ...['src/dashboard/views', 'web/src', 'web/public'].flatMap((folder) =>
      readdirSync(join(root, folder), { recursive: true }).map((name) =>
        join(folder, String(name)),
      ),
    ),
  ];
  return (
    built === undefined ||
    sources.some((path) => statSync(join(root, path)).mtimeMs > built.mtimeMs)
  );
}
