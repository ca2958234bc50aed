// The example in examples/playwright, run as its readers run it: by Playwright's own runner,
// against a service that it starts itself.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { browserPath } from '../support/browser.ts';

const ROOT = join(import.meta.dirname, '../..');
const browser = browserPath();
if (browser === undefined) console.warn('skipped: the Playwright example needs a Chromium');

it.skipIf(browser === undefined)(
  'sign-up: the code from the email signs in',
  async () => {
    const { BASE_URL: _theirs, ...env } = process.env;
    const child = spawn(
      process.execPath,
      [join(ROOT, 'node_modules/@playwright/test/cli.js'), 'test', '-c', 'examples/playwright'],
      { cwd: ROOT, env: { ...env, CHROMIUM: browser }, stdio: ['ignore', 'pipe', 'pipe'] },
    );
    let output = '';
    for (const stream of [child.stdout, child.stderr]) {
      stream.on('data', (chunk) => {
        output += chunk;
      });
    }
    const [code] = await once(child, 'close');
    expect(output).toContain('3 passed');
    expect(code, output).toBe(0);
  },
  400_000,
);
