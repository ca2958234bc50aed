// Where the threads' file is: beside this one in what was built. Node runs no TypeScript in a thread, so whoever runs the sources
// (tests, benchmarks) takes the built one too; `npm run build` and the tests' set-up make it.
export const WORKER_FILE = new URL(
  import.meta.url.endsWith('.ts') ? '../../dist/threads/worker.js' : './worker.js',
  import.meta.url,
);
