// A browser for tests that look at pages. Used by the catalogue's screenshots and the dashboard's
// tests.
// Debian's Chromium without windows is the first choice; then the one npm brings
// (@sparticuz/chromium, for x64 Linux only), then any other of the system. Without any, tests are
// told why and skip loudly.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { type Browser, chromium, type Page } from 'playwright-core';

/**
 * A sixth of the time of the whole Chromium, which draws a frame around every page; a third of
 * npm's, which draws by itself.
 */
const HEADLESS_SHELL = '/usr/bin/chromium-headless-shell';
const otherBrowsers = [
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome-stable',
  '/usr/bin/google-chrome',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
];

const quiet = [
  '--no-sandbox',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--no-first-run',
];

/** Where a browser of the system is; undefined: there is none. */
export const browserPath = (): string | undefined =>
  [HEADLESS_SHELL, ...otherBrowsers].find((it) => existsSync(it));

let running: Promise<Browser | { skipped: string }> | undefined;

/**
 * The browser of this worker, or why there is none. Started once for all files that follow one
 * another here; each closes its windows at its end, and the browser ends with the worker, whose
 * pipe it hangs on.
 */
export async function openBrowser(): Promise<Browser | { skipped: string }> {
  const before = await running;
  if (before === undefined || ('isConnected' in before && !before.isConnected())) {
    running = startBrowser();
  }
  return running!;
}

/** Whatever the file opened in it. */
export async function closeWindows(browser: Browser): Promise<void> {
  for (const context of browser.contexts()) await context.close();
}

// Vitest ends its workers by signals, which are not held up for the browser.
const WITH_THE_WORKER = { handleSIGTERM: false, handleSIGINT: false, handleSIGHUP: false };

async function startBrowser(): Promise<Browser | { skipped: string }> {
  const faults: string[] = [];
  const ways: [name: string, launch: () => Promise<Browser>][] = [
    [HEADLESS_SHELL, () => launchInstalled(HEADLESS_SHELL)],
    ['@sparticuz/chromium', launchPackaged],
    ...otherBrowsers.map((path): (typeof ways)[number] => [path, () => launchInstalled(path)]),
  ];
  for (const [name, launch] of ways) {
    try {
      return await launch();
    } catch (fault) {
      faults.push(`${name}: ${(fault as Error).message}`);
    }
  }
  faults.push(
    'no Chromium works here; install one (Debian: apt-get install chromium-headless-shell)',
  );
  return { skipped: faults.join('; ') };
}

async function launchInstalled(executablePath: string): Promise<Browser> {
  if (!existsSync(executablePath)) throw new Error('not installed');
  return chromium.launch({ ...WITH_THE_WORKER, executablePath, args: quiet });
}

const screenshots = join(import.meta.dirname, '../../.artifacts/screenshots');

/** When people ask for them: `SCREENSHOTS=1 npx vitest run tests/browser`. */
export const takesScreenshots = process.env.SCREENSHOTS !== undefined;

/** For people to look at, in .artifacts/screenshots. */
export async function screenshot(page: Page, name: string): Promise<void> {
  if (!takesScreenshots) return;
  await page.screenshot({ path: join(screenshots, `${name}.png`) });
}

/** Prints why a test does not run, where nobody can miss it. */
export function announceSkip(reason: string): void {
  process.stderr.write(`\n*** SKIPPED: ${reason}\n\n`);
}

async function launchPackaged(): Promise<Browser> {
  if (process.platform !== 'linux' || process.arch !== 'x64')
    throw new Error(
      `has a browser for linux-x64 only, this is ${process.platform}-${process.arch}`,
    );
  // The package unpacks the NSS and expat libraries its binary needs only where it believes to be
  // on AWS Lambda; a bare Debian image has none of them.
  process.env.AWS_LAMBDA_JS_RUNTIME ??= 'nodejs20.x';
  const { default: packaged } = await import('@sparticuz/chromium');
  for (let tries = 1; ; tries++) {
    try {
      return await chromium.launch({
        ...WITH_THE_WORKER,
        executablePath: await packaged.executablePath(),
        // Not the package's own: they switch the rules of origins off and put all in one process,
        // which breaks with the first page that does.
        args: quiet,
      });
    } catch (fault) {
      // Another worker may be unpacking it, into the same place.
      if (tries === 20) throw fault;
      await setTimeout(1_000);
    }
  }
}
