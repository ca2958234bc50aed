// Where the threads' files are: next to this one in the build. Node runs no TypeScript in a thread,
// so tests and benchmarks, which run the sources, use the built files too; `npm run build` and the
// tests' set-up make them.
const built = (name: string): URL =>
  new URL(
    import.meta.url.endsWith('.ts') ? `../../dist/threads/${name}` : `./${name}`,
    import.meta.url,
  );

export const WORKER_FILE = built('worker.js');
export const LARGE_MAILS_FILE = built('large-emails.js');
