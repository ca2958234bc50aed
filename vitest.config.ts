import { availableParallelism } from 'node:os';
import { configDefaults, defineConfig } from 'vitest/config';
import { LongestFirst } from './tests/support/order.ts';

/** Campaigns too. How much memory a process takes depends on when its collector gets a core: they run alone, behind the others. */
const WEIGHING = ['tests/faults/{ceilings,live-attacks,uploads}.test.ts'];

/**
 * Every page in a real browser; processes, databases and nodes that are killed, frozen or cut off; packages, backups and
 * upgrades; every email before a spam filter and as a picture: longer than all the rest together, so they have a command
 * of their own, `npm run test:campaigns`. What `npm test` keeps of each is its short form: the first run in a browser, the
 * messages' pages, a ledger over random faults, attacks on a service that serves others.
 */
const CAMPAIGNS = [
  'tests/browser/!(first-run|messages).test.ts',
  'tests/catalog/{screenshots,spam}.test.ts',
  'tests/citus/*.test.ts',
  'tests/faults/{clock,database-silent,embedded-kill,kill,large-emails,promotion,relay-hangs}.test.ts',
  'tests/faults/{relay-processes,schedule,stopping-worker,webhook-kill}.test.ts',
  'tests/install/{checkout,majors,package,rolling-upgrade}.test.ts',
  'tests/relays/{changing,failover}.test.ts',
  'tests/store/{backup,embedded-backup,embedded-users}.test.ts',
  'tests/testing/{example,serve-sandbox}.test.ts',
];

/** Most tests wait for a process, a disk or a socket: more of them than cores keep the cores busy. */
const BUSY = availableParallelism() + 2;

/** What every file runs under; tests/citus/suites.vitest.ts has the same. */
export const EACH = {
  setupFiles: [
    'tests/support/quick-crypto.ts',
    'tests/support/longer.ts',
    'tests/support/stood-still.ts',
  ],
  // tests/support/stood-still.ts says when and why.
  retry: { count: 1, condition: /^The machine stood still/ },
  pool: 'forks' as const,
  // No module of ours keeps state, so files may share what a worker has loaded: a third of the time went into imports.
  isolate: false,
  testTimeout: 180_000,
  // As long as other conditions are waited for; a second is soon over on a busy machine.
  expect: { poll: { timeout: 60_000 } },
  hookTimeout: 180_000,
};

/** What there is once for a run. */
export const ONCE = {
  globalSetup: ['tests/support/global-setup.ts'],
  sequence: { sequencer: LongestFirst },
  // PostgreSQL writes down what hundreds of databases left in its memory before it ends, and its folder is removed: on a
  // busy disk more than the 10 s after which Vitest takes it for stuck, and leaves both behind.
  teardownTimeout: 30_000,
};

export default defineConfig({
  test: {
    ...ONCE,
    projects: [
      {
        test: {
          ...EACH,
          name: 'beside others',
          include: ['tests/**/*.test.ts'],
          exclude: [...configDefaults.exclude, ...WEIGHING, ...CAMPAIGNS],
          maxWorkers: BUSY,
          sequence: { groupOrder: 0 },
        },
      },
      {
        test: {
          ...EACH,
          name: 'campaigns',
          include: CAMPAIGNS,
          maxWorkers: BUSY,
          sequence: { groupOrder: 0 },
        },
      },
      {
        test: {
          ...EACH,
          name: 'campaigns, alone',
          include: WEIGHING,
          maxWorkers: 1,
          sequence: { groupOrder: 1 },
        },
      },
    ],
  },
});
