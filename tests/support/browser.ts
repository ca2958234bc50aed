// A browser for tests that look at pages. Used by the catalogue's screenshots and the dashboard's tests.
// On x64 Linux it is the one npm brings (@sparticuz/chromium); its package holds no arm64 binary, so elsewhere a Chromium of
// the system is taken. Without any, tests are told why and skip loudly.
import { existsSync } from 'node:fs';
import { type Browser, chromium } from 'playwright-core';

const systemBrowsers = [
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

/** A running browser, or why there is none. The caller closes it. */
export async function openBrowser(): Promise<Browser | { skipped: string }> {
  const faults: string[] = [];
  if (process.platform === 'linux' && process.arch === 'x64') {
    try {
      return await launchPackaged();
    } catch (fault) {
      faults.push(`@sparticuz/chromium did not start: ${(fault as Error).message}`);
    }
  } else {
    faults.push(
      `@sparticuz/chromium has a browser for linux-x64 only, this is ${process.platform}-${process.arch}`,
    );
  }
  for (const executablePath of systemBrowsers.filter((path) => existsSync(path))) {
    try {
      return await chromium.launch({ executablePath, args: quiet, headless: true });
    } catch (fault) {
      faults.push(`${executablePath} did not start: ${(fault as Error).message}`);
    }
  }
  faults.push('no other Chromium works here; install one (Debian: apt-get install chromium)');
  return { skipped: faults.join('; ') };
}

/** Prints why a browser test does not run, where nobody can miss it. */
export function announceSkip(reason: string): void {
  process.stderr.write(`\n*** BROWSER TESTS SKIPPED: ${reason}\n\n`);
}

async function launchPackaged(): Promise<Browser> {
  // The package unpacks the NSS and expat libraries its binary needs only where it believes to be on AWS Lambda;
  // a bare Debian image has none of them.
  process.env.AWS_LAMBDA_JS_RUNTIME ??= 'nodejs20.x';
  const { default: packaged } = await import('@sparticuz/chromium');
  return chromium.launch({
    executablePath: await packaged.executablePath(),
    args: [...packaged.args, ...quiet],
    headless: true,
  });
}
