// Where the threads' files are: beside this one in what was built. Node runs no TypeScript in a
// thread, so whoever runs the sources (tests, benchmarks) takes the built ones too; `npm run build`
// and the tests' set-up make them.
const built = (name: string): URL =>
  new URL(
    import.meta.url.endsWith('.ts') ? `../../dist/threads/${name}` : `./${name}`,
    import.meta.url,
  );

export const WORKER_FILE = built('worker.js');
export const LARGE_MAILS_FILE = built('large-emails.js');
