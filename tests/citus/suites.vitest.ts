// npm run test:citus: suites of every door on a real Citus of three servers instead of one PostgreSQL.
import { defineConfig, mergeConfig } from 'vitest/config';
import all from '../../vitest.config.ts';

process.env.TEST_CITUS = '1';
// Three servers share the machine with the tests.
const SLOWLY = { testTimeout: 120_000, hookTimeout: 240_000, maxWorkers: 2 };

export default mergeConfig(
  { ...all, test: { ...all.test, include: [] } },
  defineConfig({
    test: {
      include: [
        'tests/{spec,sending,delivery,webhooks,feedback,tracking,streams,messages,accounts}/**/*.test.ts',
        'tests/{dashboard,mcp,operations,rest,resend}/**/*.test.ts',
      ],
      ...SLOWLY,
    },
  }),
);
