import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';
import { LongestFirst } from './tests/support/order.ts';

export default defineConfig({
  test: {
    include: ['tests/**/*.test.ts'],
    setupFiles: ['tests/support/longer.ts'],
    globalSetup: ['tests/support/global-setup.ts'],
    pool: 'forks',
    // No module of ours keeps state, so files may share what a worker has loaded: a third of the time went into imports.
    isolate: false,
    // Most tests wait for a process, a disk or a socket: more of them than cores keep the cores busy.
    maxWorkers: availableParallelism() + 2,
    sequence: { sequencer: LongestFirst },
    testTimeout: 120_000,
    // As long as other conditions are waited for; a second is soon over on a busy machine.
    expect: { poll: { timeout: 60_000 } },
    hookTimeout: 180_000,
    // PostgreSQL writes down what hundreds of databases left in its memory before it ends, and its folder is removed: on a
    // busy disk more than the 10 s after which Vitest takes it for stuck, and leaves both behind.
    teardownTimeout: 30_000,
  },
});
