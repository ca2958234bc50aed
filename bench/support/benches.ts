// The benchmarks, in the order of an email's way, with settings for a run of all of them within 15
// minutes on two cores. Read by scripts/bench.ts, which runs them, and by
// scripts/describe-figures.ts, which wants each explained in docs/performance.md.

/** What a benchmark reads from the environment. */
export type Settings = Record<string, string>;

export const BENCHES: Record<string, Settings> = {
  install: {},
  start: { ROUNDS: '3' },
  accept: { ROUNDS: '3', SECONDS: '1' },
  'accept-template': { ROUNDS: '3', SECONDS: '1' },
  batch: { ROUNDS: '2', SECONDS: '1' },
  smtp: { ROUNDS: '3', SECONDS: '1' },
  mcp: { ROUNDS: '3', SECONDS: '1' },
  templates: { ROUNDS: '3', MS: '200' },
  jinja: { ROUNDS: '3' },
  handoff: { ROUNDS: '3', SECONDS: '1' },
  drain: { ROUNDS: '3', EMAILS: '6000' },
  fairness: { ROUNDS: '3', DRAINS: '2' },
  webhooks: { ROUNDS: '2' },
  'end-to-end': { SECONDS: '60' },
  growth: { SIZES: '10000,1000000', ROUNDS: '2' },
  pages: { ROUNDS: '2' },
  memory: { ROUNDS: '2' },
  citus: { ROUNDS: '2', SECONDS: '2' },
};

/** All of them together take at most this long on two cores. */
export const GOAL_SECONDS = 900;

/** Those that take too long for a run of all as the question is meant. */
export const LONG: Record<string, Settings> = {
  drain: { EMAILS: '20000', ROUNDS: '3' },
  growth: { SIZES: '10000,1000000,5000000', ROUNDS: '3' },
};
