// The health of a process: what must hold for it to be ready, and the gauges that are read when
// metrics are requested. Roles add their own checks. Answered by rest/health.ts, on the API's port
// and on METRICS_PORT.

import type { Config } from '../config/config.ts';
import type { Clock } from '../process/clock.ts';
import type { Log } from '../process/log.ts';
import type { Metrics } from '../process/metrics.ts';
import { sparingly } from '../process/sparingly.ts';
import { queueState } from '../queue/due.ts';
import type { HealthDeps, ReadyCheck } from '../rest/health.ts';
import type { Secret } from '../store/installation.ts';
import type { Database } from '../store/pool.ts';
import { type Readiness, TROUBLES } from '../store/readiness.ts';
import { dueState } from '../webhooks/leases.ts';

export interface ProcessHealth extends HealthDeps {
  require(check: ReadyCheck): void;
  /** Set by the API, which watches it. */
  queueIsFull: () => boolean;
}

export function watchHealth(deps: {
  config: Config;
  database: Database;
  clock: Clock;
  log: Log;
  metrics: Metrics;
  readiness: Readiness;
  secret: Secret;
}): ProcessHealth {
  const { config, database, clock, log, metrics, readiness, secret } = deps;
  const readyChecks: ReadyCheck[] = [
    { name: 'database', check: readiness.require },
    { name: 'secret', check: () => requireInForce(database, secret) },
  ];
  const queue = sparingly(() => queueState(database));
  const webhooksDue = sparingly(() => dueState(database, clock.nowMs()));
  const health: ProcessHealth = {
    metrics,
    log,
    readyChecks,
    metricsToken: config.metricsToken,
    require: (check) => void readyChecks.push(check),
    queueIsFull: () => false,
    async refreshGauges() {
      const trouble = await readiness.trouble();
      for (const kind of TROUBLES) metrics.trouble.set({ kind }, trouble?.kind === kind ? 1 : 0);
      metrics.trouble.set({ kind: 'queue-full' }, health.queueIsFull() ? 1 : 0);
      const delivery = await queue();
      metrics.queueDepth.set({ queue: 'delivery' }, delivery.depth);
      metrics.queueAge.set({ queue: 'delivery' }, delivery.ageSeconds);
      metrics.quarantine.set(delivery.setAside);
      const webhooks = await webhooksDue();
      metrics.queueDepth.set({ queue: 'webhooks' }, webhooks.depth);
      metrics.queueAge.set({ queue: 'webhooks' }, webhooks.ageSeconds);
    },
  };
  return health;
}

async function requireInForce(database: Database, { vault }: Secret): Promise<void> {
  if (await vault.isInForce(database)) return;
  throw new Error(
    'the secret of the installation was changed; start again with the new SECRET_KEY',
  );
}
