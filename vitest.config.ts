import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['tests/**/*.test.ts'],
    globalSetup: ['tests/support/global-setup.ts'],
    pool: 'forks',
    // No module of ours keeps state, so files may share what a worker has loaded: a third of the time went into imports.
    isolate: false,
    // Most tests wait for a process, a disk or a socket: more of them than cores keep the cores busy.
    maxWorkers: availableParallelism() + 1,
    testTimeout: 30_000,
    hookTimeout: 60_000,
  },
});
