// The benchmarks, in the order of an email's way, with settings for a run of all of them: about 15
// minutes on two cores. Read by scripts/bench.ts, which runs them, and by
// scripts/describe-figures.ts, which wants each explained in docs/performance.md.

export interface Bench {
  env?: Record<string, string>;
  args?: string[];
}

export const BENCHES: Record<string, Bench> = {
  install: {},
  start: { env: { ROUNDS: '2' } },
  accept: { env: { ROUNDS: '3', SECONDS: '1' } },
  'accept-template': { env: { ROUNDS: '3', SECONDS: '1' } },
  batch: { env: { ROUNDS: '2', SECONDS: '1' } },
  smtp: { env: { ROUNDS: '3', SECONDS: '1' } },
  mcp: { env: { ROUNDS: '3', SECONDS: '1' } },
  templates: { args: ['--rounds', '3', '--ms', '200'] },
  jinja: { args: ['--rounds', '3'] },
  handoff: { args: ['--rounds', '3', '--seconds', '1'] },
  drain: { env: { ROUNDS: '3', EMAILS: '6000' } },
  fairness: { env: { SAMPLES: '100', ROUNDS: '2' } },
  webhooks: { env: { ROUNDS: '2' } },
  'end-to-end': { env: { SECONDS: '60' } },
  growth: { env: { SIZES: '10000,1000000', ROUNDS: '2' } },
  pages: { env: { ROUNDS: '2' } },
  memory: {},
  citus: { env: { ROUNDS: '2', SECONDS: '2' } },
};
