import { availableParallelism } from 'node:os';
import { configDefaults, defineConfig } from 'vitest/config';
import { LongestFirst } from './tests/support/order.ts';

/** How much memory a process takes depends on when its collector gets a core: they run alone, behind the others. */
const WEIGHING = ['tests/faults/{ceilings,live-attacks,uploads}.test.ts'];

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
          exclude: [...configDefaults.exclude, ...WEIGHING],
          // Most tests wait for a process, a disk or a socket: more of them than cores keep the cores busy.
          maxWorkers: availableParallelism() + 2,
          sequence: { groupOrder: 0 },
        },
      },
      {
        test: {
          ...EACH,
          name: 'alone',
          include: WEIGHING,
          maxWorkers: 1,
          sequence: { groupOrder: 1 },
        },
      },
    ],
  },
});
