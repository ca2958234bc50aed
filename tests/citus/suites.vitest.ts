// npm run test:citus: suites of every door on a real Citus of three servers instead of one
// PostgreSQL.
import { configDefaults, defineConfig } from 'vitest/config';
import { EACH, ONCE } from '../../vitest.config.ts';

process.env.TEST_CITUS = '1';

const ONE_SERVER = ['tests/submission/later.test.ts', 'tests/inbound/outage.test.ts'];

export default defineConfig({
  test: {
    ...ONCE,
    ...EACH,
    include: [
      'tests/{spec,sending,queue,delivery,webhooks,feedback,tracking,streams}/**/*.test.ts',
      'tests/{messages,accounts,dashboard,mcp,operations,rest,resend}/**/*.test.ts',
      'tests/{submission,sandbox,inbound,integration}/**/*.test.ts',
      'tests/faults/{approval-kill,frozen-worker,kill,schedule,stopping-worker,webhook-kill}.test.ts',
      'tests/store/{account-retention,kept-days,migrating}.test.ts',
    ],
    // They cut off the one server there is; here the nodes are still reached. tests/citus/trouble
    // has outages of a cluster.
    exclude: [...configDefaults.exclude, ...ONE_SERVER],
    hookTimeout: 240_000,
    // Three servers share the machine with the tests.
    maxWorkers: 2,
  },
});
