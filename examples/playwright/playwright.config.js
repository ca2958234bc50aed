// Run it with: npx playwright test -c examples/playwright
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { defineConfig } from '@playwright/test';

export default defineConfig({
  testMatch: '*.spec.js',
  outputDir: join(tmpdir(), 'sandmartin-example'),
  globalSetup: './set-up.js',
  fullyParallel: true,
  workers: 2,
  reporter: 'list',
  timeout: 120_000,
  use: {
    // Only where the browser is not Playwright's own.
    launchOptions: process.env.CHROMIUM
      ? { executablePath: process.env.CHROMIUM, args: ['--no-sandbox'] }
      : {},
  },
});
