// The role that hands queued mail to the relay, or to the sandbox that delivers nowhere.
import { startWorker, type Worker } from '../delivery/worker.ts';
import { openLeases } from '../queue/leases.ts';
import { startSandboxRelay } from '../sandbox/relay.ts';
import { createRelay, type RelayConfig } from '../smtp/relay.ts';
import { createRelayHealth } from '../smtp/relay-health.ts';
import { openRelayReporting } from '../smtp/relay-state.ts';
import { parseRelayUrl } from '../smtp/relay-url.ts';
import { readClockHistory, watchForLeaps } from '../store/steady-clock.ts';
import type { Shared } from './shared.ts';

export async function startDelivery(
  shared: Shared,
  feedbackPort: number | undefined,
): Promise<Worker> {
  const { config, database, clock, log, metrics, making, opened, heartbeat } = shared;
  const sandboxUrl = await startSandbox(shared, feedbackPort);
  const url = config.relayUrl ?? sandboxUrl;
  if (!making.isPublic) {
    log.warn('neither TRACKING_URL nor BASE_URL is set: opens and clicks are not tracked');
  }
  const at = { url, name: config.bounceDomain };
  const connections = config.relayConnections;
  const reporting = opened(openRelayReporting({ database, clock, log }), (it) => it.close());
  const health = opened(createRelayHealth({ ...at, connections, reporting, log, metrics }), (it) =>
    it.close(),
  );
  const openRelay = (relay: RelayConfig) => opened(createRelay(relay), (it) => it.close());
  const relay = openRelay({ ...at, maxConnections: connections, health });
  const leases = opened(
    await openLeases({
      ...{ database, log, leaseMs: config.deliveryLeaseMs },
      embedded: config.databaseUrl === undefined,
    }),
    async (it) => it.abandon(),
  );
  const history = await readClockHistory(database, clock.nowMs());
  const worker = await startWorker({
    ...{ database, clock, log, metrics, relay, health, leases },
    // Mail of sandbox-only keys is captured also where a real relay is configured.
    sandbox: url === sandboxUrl ? relay : openRelay({ ...at, url: sandboxUrl, maxConnections: 2 }),
    ...making,
    relayHost: parseRelayUrl(url).host,
    mostInHand: connections * 16,
    databaseNowMs: heartbeat.nowMs,
    leaps: watchForLeaps(history?.jump?.to.getTime()),
  });
  return opened(worker, (it) => it.stop());
}

/** Answers the URL of the relay that delivers nowhere. */
async function startSandbox(shared: Shared, feedbackPort: number | undefined): Promise<string> {
  const { config, database, log, making } = shared;
  const sandbox = await startSandboxRelay({
    database,
    log,
    feedback: {
      host: config.feedbackHost.replace(/^(0\.0\.0\.0|::)$/, '127.0.0.1'),
      port: feedbackPort ?? config.feedbackPort,
    },
    bounceDomain: config.bounceDomain,
    trackingUrl: making.tracker.url,
  });
  return shared.opened(sandbox, (it) => it.stop()).url;
}
