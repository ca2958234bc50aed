// The role that hands queued email to the relays, or to the sandbox that delivers nowhere.
import { startWorker, type Worker } from '../delivery/worker.ts';
import { openLeases } from '../queue/leases.ts';
import { openFleet } from '../relays/fleet.ts';
import { noteRelayUrl } from '../relays/stored-relays.ts';
import type { Player } from '../sandbox/player.ts';
import { startSandboxRelay } from '../sandbox/relay.ts';
import { createRelay } from '../smtp/relay.ts';
import { openRelayReporting } from '../smtp/relay-state.ts';
import { readClockHistory, watchForLeaps } from '../store/steady-clock.ts';
import type { Shared } from './shared.ts';

/** `player`: plays what the sandbox captures, if this process has one. */
export async function startDelivery(shared: Shared, player: Player | undefined): Promise<Worker> {
  const { config, database, clock, log, metrics, making, relays, opened, heartbeat } = shared;
  const sandboxUrl = await startSandbox(shared, player);
  if (await noteRelayUrl(database, config.relayUrl)) shared.checkDomains();
  if (!making.isPublic()) {
    log.warn('neither TRACKING_URL nor BASE_URL is set: opens and clicks are not tracked');
  }
  const { bounceDomain: name, relayConnections: connections } = config;
  const reporting = opened(openRelayReporting({ database, clock, log }), (it) => it.close());
  const fleet = opened(
    openFleet({ database, log, metrics, relays, reporting, sandboxUrl, name, connections }),
    (it) => it.close(),
  );
  const leases = opened(
    await openLeases({
      ...{ database, log, leaseMs: config.deliveryLeaseMs },
      embedded: config.databaseUrl === undefined,
    }),
    async (it) => it.abandon(),
  );
  const history = await readClockHistory(database, clock.nowMs());
  const sandbox = createRelay({ url: sandboxUrl, name, maxConnections: SANDBOX_CONNECTIONS });
  const worker = await startWorker({
    ...{ database, clock, log, metrics, fleet, leases },
    // Email of sandbox-only keys is captured even if other email goes to real relays.
    sandbox: opened(sandbox, (it) => it.close()),
    ...making,
    databaseNowMs: heartbeat.nowMs,
    leaps: watchForLeaps(history?.jump?.to.getTime()),
  });
  return opened(worker, (it) => it.stop());
}

const SANDBOX_CONNECTIONS = 2;

/** Returns the URL of the relay that delivers nowhere. */
async function startSandbox(shared: Shared, player: Player | undefined): Promise<string> {
  const { database, clock, log, making, secret } = shared;
  const sandbox = await startSandboxRelay({
    ...{ database, clock, log, player },
    returnPathKeys: secret.tokenKeys('return-path'),
    trackingKeys: secret.tokenKeys('tracking'),
    trackingUrl: making.tracker.url,
  });
  return shared.opened(sandbox, (it) => it.stop()).url;
}
