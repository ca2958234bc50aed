// The composition root: config → database → deps → roles, each built once and stopped in reverse order.
import { readFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { openDirectory } from './accounts/directory.ts';
import { createDns } from './accounts/dns.ts';
import { isReturnPathOf } from './accounts/domains.ts';
import { watchRates } from './accounts/pause.ts';
import { type Clock, systemClock } from './clock.ts';
import type { Config } from './config.ts';
import type { DashboardDeps } from './dashboard/deps.ts';
import { startNotices } from './dashboard/notices.ts';
import { mountDashboard, pagesFolder, setUpTokenOf } from './dashboard/server.ts';
import { sourceOf } from './delivery/making.ts';
import { createRelay, type RelayConfig } from './delivery/relay.ts';
import { createRelayHealth } from './delivery/relay-health.ts';
import { openRelayReporting, watchRelay } from './delivery/relay-state.ts';
import { parseRelayUrl } from './delivery/relay-url.ts';
import { openSenders } from './delivery/senders.ts';
import { loadMail } from './delivery/stored-mail.ts';
import { startWorker, type Worker } from './delivery/worker.ts';
import { createMatcher } from './feedback/match.ts';
import { openReportRecorder } from './feedback/record.ts';
import { type BodyLimits, createBodies } from './http-body.ts';
import type { HttpLimits } from './http-server.ts';
import { startFeedbackListener } from './inbound/feedback-smtp.ts';
import { readRequesters } from './inbound/requester.ts';
import { inboundRoutes } from './inbound/routes.ts';
import { createSnsFetch } from './inbound/sns-fetch.ts';
import type { Log } from './log.ts';
import { startMaintenance } from './maintenance.ts';
import { ADMIN_TEMPLATE_TOOLS } from './mcp/admin-template-tools.ts';
import { ADMIN_TOOLS } from './mcp/admin-tools.ts';
import { ADMIN_WEBHOOK_TOOLS } from './mcp/admin-webhook-tools.ts';
import { EMAIL_TOOLS } from './mcp/email-tools.ts';
import { createMcpHttp, listenMcp } from './mcp/http.ts';
import { createMcpServer } from './mcp/server.ts';
import { createMetrics } from './metrics.ts';
import { queueState } from './queue/due.ts';
import { openLeases } from './queue/leases.ts';
import { recurringFault } from './recurring-fault.ts';
import { type HealthDeps, listenHealth, type ReadyCheck } from './rest/health.ts';
import { createRestServer } from './rest/server.ts';
import { startSandboxRelay } from './sandbox/relay.ts';
import { openSecret } from './secrets.ts';
import { openBatcher } from './sending/batch.ts';
import { openEmbedded } from './store/embedded.ts';
import { watchSecret } from './store/installation.ts';
import { migrate } from './store/migrate.ts';
import { type Database, openDatabase } from './store/pool.ts';
import { startSignsOfLife } from './store/processes.ts';
import type { Vault } from './store/vault.ts';
import { catalogFolder, loadCatalog } from './templates/catalog.ts';
import { createOffering } from './templates/offering.ts';
import { createRenderer } from './templates/rendering.ts';
import { openResolution } from './templates/resolution.ts';
import { openEngagementRecorder } from './tracking/record.ts';
import { VERSION } from './version.ts';
import { addressGuard, guardedAgent } from './webhooks/address-guard.ts';
import { dueState } from './webhooks/leases.ts';
import { startWebhookWorker } from './webhooks/worker.ts';

export interface Service {
  database: Database;
  /** Where the API listens; undefined without the role. */
  apiUrl: string | undefined;
  /** Where MCP listens on a port of its own; undefined without MCP_PORT. */
  mcpUrl: string | undefined;
  /** Where the first owner sets the service up, while nobody can sign in. */
  setUpUrl: string | undefined;
  feedbackPort: number | undefined;
  /** Of METRICS_PORT. */
  metricsPort: number | undefined;
  /** Settles when the process cannot go on as it is, with the reason: the secret was changed. */
  unfit: Promise<string>;
  stop(): Promise<void>;
}

export interface ServiceOptions {
  clock?: Clock;
  /** For tests, which cannot wait as long as clients may. */
  httpLimits?: HttpLimits;
  bodyLimits?: BodyLimits;
}

/** Starts the roles of this process. What was started is stopped again when a later part fails. */
export async function startService(
  config: Config,
  log: Log,
  options: ServiceOptions = {},
): Promise<Service> {
  const closers: (() => Promise<void>)[] = [];
  const opened = <Thing>(thing: Thing, close: (thing: Thing) => Promise<void>): Thing => {
    closers.unshift(() => close(thing));
    return thing;
  };
  async function stop(): Promise<void> {
    for (const close of closers.splice(0)) {
      await close().catch((error) => log.error({ err: error }, 'could not stop cleanly'));
    }
  }
  try {
    return { ...(await startRoles(config, log, options, opened)), stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

type Opened = <Thing>(thing: Thing, close: (thing: Thing) => Promise<void>) => Thing;

async function startRoles(
  config: Config,
  log: Log,
  { clock = systemClock, httpLimits, bodyLimits }: ServiceOptions,
  opened: Opened,
): Promise<Omit<Service, 'stop'>> {
  const metrics = createMetrics();
  const database = await openStore(config, log, opened);
  await migrate(database);
  // First of all: with a wrong SECRET_KEY nothing is touched.
  const secret = await openSecret(database, config.secretKey, 'start');
  const { deriveKey, vault } = secret;
  const unfit = new Promise<string>((resolve) => {
    opened(watchSecret(database, secret, resolve), (it) => it.close());
  });
  const { bounceDomain } = config;
  const dns = createDns(config.dnsServers);
  opened(
    await startMaintenance({ database, clock, log, retention: config, dns, bounceDomain }),
    (task) => task.stop(),
  );
  const returnPathKeys = secret.tokenKeys('return-path');
  const trackingKeys = secret.tokenKeys('tracking');
  const [returnPathKey] = returnPathKeys;
  const [trackingKey] = trackingKeys;
  const readyChecks: ReadyCheck[] = [
    { name: 'database', check: () => database.query('SELECT 1') },
    { name: 'secret', check: () => requireInForce(database, vault) },
  ];
  const health: HealthDeps = {
    metrics,
    log,
    readyChecks,
    metricsToken: config.metricsToken,
    refreshGauges: async () => {
      const state = await queueState(database);
      metrics.queueDepth.set({ queue: 'delivery' }, state.depth);
      metrics.queueAge.set({ queue: 'delivery' }, state.ageSeconds);
      metrics.quarantine.set(state.setAside);
      const due = await dueState(database, clock.nowMs());
      metrics.queueDepth.set({ queue: 'webhooks' }, due.depth);
      metrics.queueAge.set({ queue: 'webhooks' }, due.ageSeconds);
    },
  };
  let { baseUrl } = config;
  const trackingUrl = () => config.trackingUrl ?? baseUrl;

  const recorder = opened(
    openReportRecorder({ database, metrics, nowMs: () => clock.nowMs() }),
    (it) => it.drain(),
  );
  const matcher = createMatcher({ database, returnPathKeys });

  let feedbackPort: number | undefined;
  if (config.roles.has('feedback')) {
    const listener = opened(
      await startFeedbackListener(
        {
          database,
          clock,
          log,
          recorder,
          matcher,
          returnPathKeys,
          bounceDomain,
          isReturnPathOf: (accountId, host) => isReturnPathOf(database, accountId, host),
        },
        { host: config.feedbackHost, port: config.feedbackPort, ...readTls(config) },
      ),
      (it) => it.stop(),
    );
    feedbackPort = listener.port;
    readyChecks.push({ name: 'feedback listener', check: async () => mustListen(listener) });
  }

  let worker: Worker | undefined;
  if (config.roles.has('delivery')) {
    const { url: sandboxUrl } = opened(
      await startSandboxRelay({
        database,
        log,
        feedback: {
          host: config.feedbackHost.replace(/^(0\.0\.0\.0|::)$/, '127.0.0.1'),
          port: feedbackPort ?? config.feedbackPort,
        },
        bounceDomain,
        trackingUrl,
      }),
      (it) => it.stop(),
    );
    const relayUrl = config.relayUrl ?? sandboxUrl;
    if (relayUrl !== sandboxUrl && !config.isPublic) {
      log.warn('neither TRACKING_URL nor BASE_URL is set: opens and clicks are not tracked');
    }
    const at = { url: relayUrl, name: bounceDomain };
    const connections = config.relayConnections;
    const reporting = opened(openRelayReporting({ database, clock, log }), (it) => it.close());
    const health = opened(
      createRelayHealth({ ...at, connections, reporting, log, metrics }),
      (it) => it.close(),
    );
    const openRelay = (relay: RelayConfig) => opened(createRelay(relay), (it) => it.close());
    const relay = openRelay({ ...at, maxConnections: connections, health });
    const leases = opened(
      await openLeases({
        database,
        log,
        leaseMs: config.deliveryLeaseMs,
        embedded: config.databaseUrl === undefined,
      }),
      async (it) => it.abandon(),
    );
    worker = opened(
      await startWorker({
        database,
        clock,
        log,
        metrics,
        relay,
        // Mail of sandbox-only keys is captured also where a real relay is configured.
        sandbox:
          relayUrl === sandboxUrl
            ? relay
            : openRelay({ ...at, url: sandboxUrl, maxConnections: 2 }),
        health,
        leases,
        returnPathKey,
        senders: openSenders({ database, vault, bounceDomain }),
        tracker: { key: trackingKey, url: trackingUrl },
        isPublic: config.isPublic || relayUrl === sandboxUrl,
        relayHost: parseRelayUrl(relayUrl).host,
        mostInHand: config.relayConnections * 16,
      }),
      (it) => it.stop(),
    );
  }

  if (config.roles.has('webhooks')) {
    const agent = opened(guardedAgent(addressGuard(config.webhookAllow)), (it) => it.close());
    opened(startWebhookWorker({ database, vault, clock, log, metrics, agent }), (it) => it.stop());
  }

  if (!config.roles.has('api')) {
    return {
      database,
      unfit,
      feedbackPort,
      metricsPort: await goLive(),
      apiUrl: undefined,
      mcpUrl: undefined,
      setUpUrl: undefined,
    };
  }
  const directory = opened(openDirectory({ database, clock, log }), (it) => it.close());
  const relayWatch = opened(await watchRelay({ database, log }), (it) => it.close());
  const batcher = opened(
    openBatcher({
      database,
      metrics,
      relayIsDown: () => config.relayDown === 'refuse' && relayWatch.isDown(),
      onCommitted: (accounts) => worker?.wake(accounts),
    }),
    (it) => it.drain(),
  );
  const engagements = opened(openEngagementRecorder({ database, clock, log, metrics }), (it) =>
    it.drain(),
  );
  const { read: readRequester, addressOf, isProxy } = readRequesters(config.trustedProxies);
  const bodies = createBodies({
    addressOf: (request) => {
      const { ipAddress } = readRequester(request);
      return isProxy(ipAddress) ? undefined : ipAddress;
    },
    ...(bodyLimits && { limits: bodyLimits }),
  });
  const http = { isProxy, ...(httpLimits && { limits: httpLimits }) };
  const inbound = inboundRoutes({
    database,
    clock,
    log,
    trackingKeys,
    engagements,
    readRequester,
    matcher,
    recorder,
    topics: config.sesTopics,
    bodies,
    fetchText: createSnsFetch(),
  });
  const catalog = loadCatalog(catalogFolder);
  const resolve = openResolution({ database, catalog, perAccount: directory.perAccount });
  const render = createRenderer(resolve);
  const operationDeps = {
    database,
    directory,
    clock,
    log,
    metrics,
    batcher,
    templates: createOffering({ database, catalog, resolve, render }),
    render,
    relayRetryAfterSeconds: () => relayWatch.retryAfterSeconds(),
    allowedHeaders: config.allowedHeaders,
  };
  const mcp = opened(
    createMcpServer({
      tools: [...EMAIL_TOOLS, ...ADMIN_TOOLS, ...ADMIN_TEMPLATE_TOOLS, ...ADMIN_WEBHOOK_TOOLS],
      toolDeps: {
        ...operationDeps,
        catalog,
        vault,
        webhookGuard: addressGuard(config.webhookAllow),
      },
      version: VERSION,
      log,
      metrics,
    }),
    (it) => it.close(),
  );
  const answerMcp = createMcpHttp({
    ...{ server: mcp, directory, metrics, log, bodies, addressOf },
    hosts: config.mcpHosts,
  });
  const server = createRestServer({
    ...operationDeps,
    bodies,
    http,
    addressOf,
    baseUrl: () => baseUrl,
    mounts: { '/mcp': answerMcp, '/v1/mcp': answerMcp, ...inbound },
    health,
    metricsExposure: config.isLoopback ? 'private' : 'public',
  });
  const setUpToken = setUpTokenOf(deriveKey('session'));
  const webhookAgent = opened(guardedAgent(addressGuard(config.webhookAllow)), (it) => it.close());
  const making = {
    returnPathKey,
    senders: openSenders({ database, vault, bounceDomain }),
    tracker: { key: trackingKey, url: trackingUrl },
    isPublic: config.isPublic || config.relayUrl === undefined,
  };
  const dashboard: DashboardDeps = {
    ...operationDeps,
    catalog,
    dns,
    vault,
    resetKey: deriveKey('password-reset'),
    systemSender: config.systemSender,
    inSandbox: () => config.relayUrl === undefined,
    baseUrl: () => baseUrl,
    service: () => ({
      version: VERSION,
      baseUrl,
      mcpUrl: `${baseUrl}/mcp`,
      sandbox: config.relayUrl === undefined,
      bounceDomain,
    }),
    relayIsDown: () => relayWatch.isDown(),
    webhooks: { guard: addressGuard(config.webhookAllow), clock, vault, agent: webhookAgent },
    sourceOf: async (accountId, uuid) => {
      const mail = await loadMail(database, accountId, uuid);
      return mail && (await sourceOf(making, mail));
    },
    requesterOf: readRequester,
    rampStart: config.rampStart,
    setUpToken,
    pagesFolder,
  };
  mountDashboard(server, dashboard);
  opened(startNotices(dashboard), (it) => it.stop());
  const rates = { database, clock, log, limits: config.pauseLimits };
  opened(await watchRates(rates), (it) => it.close());
  await server.listen({ host: config.host, port: config.port });
  opened(server, (it) => it.close());
  const { port } = server.server.address() as AddressInfo;
  // PORT=0 takes a free port, known only now.
  if (config.port === 0) baseUrl = baseUrl.replace(/:0$/, `:${port}`);
  let mcpUrl: string | undefined;
  if (config.mcpPort !== undefined) {
    const at = { host: config.host, port: config.mcpPort, http };
    const listener = opened(await listenMcp(answerMcp, at), (it) => it.stop());
    const url = new URL('/mcp', baseUrl);
    url.protocol = 'http:';
    url.port = String(listener.port);
    mcpUrl = url.href;
  }
  const setUpUrl = `${baseUrl}/setup#${setUpToken}`;
  const metricsPort = await goLive();
  return { database, unfit, feedbackPort, metricsPort, apiUrl: baseUrl, mcpUrl, setUpUrl };

  /** Last of all, so that who hears of this process may count on its roles. Answers the port of METRICS_PORT. */
  async function goLive(): Promise<number | undefined> {
    const signs = await startSignsOfLife({ database, log, roles: config.roles });
    opened(signs, (it) => it.close());
    if (config.metricsPort === undefined) return undefined;
    const at = { host: config.metricsHost, port: config.metricsPort };
    return opened(await listenHealth(health, at), (it) => it.stop()).port;
  }
}

async function requireInForce(database: Database, vault: Vault): Promise<void> {
  if (await vault.isInForce(database)) return;
  throw new Error(
    'the secret of the installation was changed; start again with the new SECRET_KEY',
  );
}

function mustListen(listener: { isListening(): boolean }): void {
  if (!listener.isListening()) throw new Error('it does not listen; start the process again');
}

function readTls({ feedbackTls }: Config): { tls?: { cert: string; key: string } } {
  if (feedbackTls === undefined) return {};
  const [cert, key] = [feedbackTls.certFile, feedbackTls.keyFile].map((file) =>
    readFileSync(file, 'utf8'),
  );
  return { tls: { cert: cert!, key: key! } };
}

async function openStore(config: Config, log: Log, opened: Opened): Promise<Database> {
  const url =
    config.databaseUrl ??
    opened(
      await openEmbedded(config.dataDir, {
        as: 'owner',
        log: (message) => log.info({ part: 'postgres' }, message),
      }),
      (embedded) => embedded.stop(),
    ).url;
  return opened(
    openDatabase(url, {
      connections: config.databaseConnections,
      onIdleError: recurringFault(log, 'warn', 'a database connection broke'),
    }),
    (database) => database.close(),
  );
}
