// npm run test:citus: suites of every door on a real Citus of three servers instead of one PostgreSQL.
import { defineConfig } from 'vitest/config';
import { EACH, ONCE } from '../../vitest.config.ts';

process.env.TEST_CITUS = '1';

export default defineConfig({
  test: {
    ...ONCE,
    ...EACH,
    include: [
      'tests/{spec,sending,delivery,webhooks,feedback,tracking,streams,messages,accounts}/**/*.test.ts',
      'tests/{dashboard,mcp,operations,rest,resend,submission,sandbox,inbound}/**/*.test.ts',
      'tests/store/{account-retention,kept-days}.test.ts',
    ],
    hookTimeout: 240_000,
    // Three servers share the machine with the tests.
    maxWorkers: 2,
  },
});
