// npm run test:mcp. Separate from npm test, because its programs need Node 22 and 200 MB from the
// npm registry.
import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['tests/mcp/**/*.official.ts'],
    globalSetup: ['tests/support/global-setup.ts'],
    pool: 'forks',
    // The first run fetches the programs.
    testTimeout: 600_000,
    hookTimeout: 60_000,
  },
});
