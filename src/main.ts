// The composition root: what the roles of this process share, then each role, stopped again in
// reverse order.

import type { Config } from './config/config.ts';
import type { Clock } from './process/clock.ts';
import type { Log } from './process/log.ts';
import { listenHealth } from './rest/health.ts';
import { type Api, type ApiLimits, startApi } from './roles/api.ts';
import { startDelivery } from './roles/delivery.ts';
import { startFeedback } from './roles/feedback.ts';
import { trackOpened } from './roles/opened.ts';
import { openShared, type Shared } from './roles/shared.ts';
import { startWebhooks } from './roles/webhooks.ts';
import type { Database } from './store/pool.ts';
import { startSignsOfLife } from './store/processes.ts';

export interface Service {
  database: Database;
  /** Where the API listens; undefined without the role. */
  apiUrl: string | undefined;
  /** Where MCP listens on a port of its own; undefined without MCP_PORT. */
  mcpUrl: string | undefined;
  /** Where the first owner sets the service up, while nobody can sign in. */
  setUpUrl: string | undefined;
  feedbackPort: number | undefined;
  /** Where programs send by SMTP: SMTP_PORT and SMTPS_PORT. */
  smtpPort: number | undefined;
  smtpsPort: number | undefined;
  /** The port of METRICS_PORT. */
  metricsPort: number | undefined;
  /** Resolves with the reason when the process cannot continue: the secret was changed. */
  unfit: Promise<string>;
  stop(): Promise<void>;
}

/** For tests, which have their own clocks and cannot wait as long as clients. */
export interface ServiceOptions extends ApiLimits {
  clock?: Clock;
}

const NO_API: { [Url in keyof Api]: undefined } = {
  apiUrl: undefined,
  mcpUrl: undefined,
  setUpUrl: undefined,
  smtpPort: undefined,
  smtpsPort: undefined,
};

/** Starts the roles of this process. If a later part fails, what was started is stopped again. */
export async function startService(
  config: Config,
  log: Log,
  { clock, ...limits }: ServiceOptions = {},
): Promise<Service> {
  const { opened, closeAll } = trackOpened(log);
  const { roles } = config;
  try {
    const shared = await openShared(config, log, opened, clock);
    const feedback = roles.has('feedback') ? await startFeedback(shared) : undefined;
    const worker = roles.has('delivery')
      ? await startDelivery(shared, feedback?.player)
      : undefined;
    if (roles.has('webhooks')) startWebhooks(shared);
    const api = roles.has('api') ? await startApi(shared, worker, limits) : NO_API;
    const metricsPort = await goLive(shared);
    const { database, unfit } = shared;
    const feedbackPort = feedback?.port;
    return { database, unfit, feedbackPort, metricsPort, ...api, stop: closeAll };
  } catch (error) {
    await closeAll();
    throw error;
  }
}

/**
 * Last of all, so that anyone who learns of this process can rely on its roles. Returns the port of
 * METRICS_PORT.
 */
async function goLive(shared: Shared): Promise<number | undefined> {
  const { config, database, log, health, opened, address, asking } = shared;
  const openedAt = () => address.openedAt;
  const { asked } = asking;
  const signs = await startSignsOfLife({ database, log, roles: config.roles, openedAt, asked });
  opened(signs, (it) => it.close());
  if (config.metricsPort === undefined) return undefined;
  const at = { host: config.metricsHost, port: config.metricsPort };
  return opened(await listenHealth(health, at), (it) => it.stop()).port;
}
