// The composition root: config → database → deps → roles, each built once and stopped in reverse order.
import { readFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { openDirectory } from './accounts/directory.ts';
import { createDns } from './accounts/dns.ts';
import { isReturnPathOf } from './accounts/domains.ts';
import { watchRates } from './accounts/pause.ts';
import type { Clock } from './clock.ts';
import type { Config } from './config.ts';
import { admitPerson } from './dashboard/admission.ts';
import type { DashboardDeps } from './dashboard/deps.ts';
import { mountDashboard, pagesFolder, setUpTokenOf } from './dashboard/server.ts';
import { startWorker, type Worker } from './delivery/worker.ts';
import { createMatcher } from './feedback/match.ts';
import type { Stopped } from './feedback/received.ts';
import { openReportRecorder } from './feedback/record.ts';
import { createReporters } from './feedback/reporters.ts';
import { type BodyLimits, createBodies } from './http/body.ts';
import type { HttpLimits } from './http/server.ts';
import { startFeedbackListener } from './inbound/feedback-smtp.ts';
import { readRequesters } from './inbound/requester.ts';
import { inboundRoutes } from './inbound/routes.ts';
import { createSnsFetch } from './inbound/sns-fetch.ts';
import { JobStopped } from './job-stopped.ts';
import type { Log } from './log.ts';
import { startLoopWatch } from './loop-watch.ts';
import { sourceOf } from './mail/making.ts';
import { openSenders } from './mail/senders.ts';
import { loadMail } from './mail/stored-mail.ts';
import { startMaintenance } from './maintenance.ts';
import { createMcpHttp, listenMcp } from './mcp/http.ts';
import { createMcpServer } from './mcp/server.ts';
import { createMetrics } from './metrics.ts';
import { startNotices } from './notices/deliver-notices.ts';
import { queueState } from './queue/due.ts';
import { openLeases } from './queue/leases.ts';
import { type QueueWatch, watchQueue } from './queue/limit.ts';
import { recurringFault } from './recurring-fault.ts';
import { type HealthDeps, listenHealth, type ReadyCheck } from './rest/health.ts';
import { createRestServer } from './rest/server.ts';
import { startSandboxRelay } from './sandbox/relay.ts';
import { openSecret } from './secrets.ts';
import { openBatcher } from './sending/batch.ts';
import { createRelay, type RelayConfig } from './smtp/relay.ts';
import { createRelayHealth } from './smtp/relay-health.ts';
import { openRelayReporting, watchRelay } from './smtp/relay-state.ts';
import { parseRelayUrl } from './smtp/relay-url.ts';
import { PATIENCE, type Patience } from './store/connection.ts';
import { openEmbedded } from './store/embedded/open.ts';
import { type Heartbeat, startHeartbeat } from './store/heartbeat.ts';
import { watchSecret } from './store/installation.ts';
import { migrate } from './store/migrate.ts';
import { withPartitions } from './store/partitions.ts';
import { type Database, openDatabase } from './store/pool.ts';
import { startSignsOfLife } from './store/processes.ts';
import { createReadiness, TROUBLES } from './store/readiness.ts';
import { openServers } from './store/servers.ts';
import type { Vault } from './store/vault.ts';
import { catalogFolder, loadCatalog } from './templates/catalog.ts';
import { openMaking } from './templates/making.ts';
import { createOffering } from './templates/offering.ts';
import { createRenderBudget } from './templates/render-budget.ts';
import { createRenderer } from './templates/rendering.ts';
import { openResolution } from './templates/resolution.ts';
import { openPool } from './threads/pool.ts';
import type { ServiceJobs } from './threads/worker.ts';
import { WORKER_FILE } from './threads/worker-file.ts';
import { openLinkSwitch } from './tracking/link-switch.ts';
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
  { clock: testClock, httpLimits, bodyLimits }: ServiceOptions,
  opened: Opened,
): Promise<Omit<Service, 'stop'>> {
  const metrics = createMetrics();
  const loopWatch = opened(startLoopWatch({ metrics, log }), async (it) => it.stop());
  const { database, upkeep, heartbeat } = await openStore(config, log, opened);
  const clock = testClock ?? heartbeat;
  await migrate(upkeep);
  // First of all: with a wrong SECRET_KEY nothing is touched.
  const secret = await openSecret(database, config.secretKey, 'start');
  const { deriveKey, vault } = secret;
  const unfit = new Promise<string>((resolve) => {
    opened(watchSecret(database, secret, resolve), (it) => it.close());
  });
  const threads = opened(
    openPool<ServiceJobs>({ file: WORKER_FILE, threads: config.threads, log, metrics }),
    (it) => it.close(),
  );
  const { bounceDomain } = config;
  const dns = createDns(config.dnsServers);
  opened(
    await startMaintenance({ database: upkeep, clock, log, retention: config, dns, bounceDomain }),
    (task) => task.stop(),
  );
  const returnPathKeys = secret.tokenKeys('return-path');
  const trackingKeys = secret.tokenKeys('tracking');
  const [returnPathKey] = returnPathKeys;
  const [trackingKey] = trackingKeys;
  const readiness = createReadiness(database);
  let queueWatch: QueueWatch | undefined;
  const readyChecks: ReadyCheck[] = [
    { name: 'database', check: readiness.require },
    { name: 'secret', check: () => requireInForce(database, vault) },
  ];
  const health: HealthDeps = {
    metrics,
    log,
    readyChecks,
    metricsToken: config.metricsToken,
    refreshGauges: async () => {
      const trouble = await readiness.trouble();
      for (const kind of TROUBLES) metrics.trouble.set({ kind }, trouble?.kind === kind ? 1 : 0);
      metrics.trouble.set({ kind: 'queue-full' }, queueWatch?.fullness() === undefined ? 0 : 1);
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
  const matcher = createMatcher({ database, clock, returnPathKeys });

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
          reporters: createReporters({
            trusted: config.trustedReporters,
            lookUp: async (name) => {
              const { values, unknown } = await dns.txt(name);
              return unknown ? undefined : values;
            },
            verify: (input) => orStopped(threads.run('verify-report', input, { share: 'reports' })),
            nowMs: () => clock.nowMs(),
          }),
          read: (input, network) => {
            const { length: size } = input.raw;
            return orStopped(
              threads.run('read-report', input, { share: `reports ${network}`, size }),
            );
          },
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
  const queue = opened(
    await watchQueue({ database: upkeep, log, limit: config.queueLimit }),
    (it) => it.close(),
  );
  queueWatch = queue;
  readyChecks.push({ name: 'queue', check: queue.requireRoom });
  const batcher = opened(
    openBatcher({
      database,
      metrics,
      relayIsDown: () => config.relayDown === 'refuse' && relayWatch.isDown(),
      queueIsFull: () => queue.fullness() !== undefined,
      databaseNowMs: heartbeat.nowMs,
      onCommitted(sends) {
        queue.grow(sends);
        readiness.noteWrite();
        worker?.wake(new Set(sends.map((send) => send.accountId)));
      },
      onFailed: readiness.noteWrite,
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
    links: openLinkSwitch({ database, log }),
    readRequester,
    matcher,
    recorder,
    topics: config.sesTopics,
    bodies,
    fetchText: createSnsFetch(),
  });
  const catalog = loadCatalog(catalogFolder);
  const resolve = openResolution({ database, catalog, perAccount: directory.perAccount });
  const making = openMaking(
    {
      make: (order, as) => threads.run('make-mail', order, as),
      check: (order, as) => threads.run('check-template', order, as),
    },
    createRenderBudget(clock),
  );
  const render = createRenderer(resolve, making);
  const composing = {
    returnPathKey,
    senders: openSenders({ database, vault, bounceDomain }),
    tracker: { key: trackingKey, url: trackingUrl },
    isPublic: config.isPublic || config.relayUrl === undefined,
  };
  const webhookAgent = opened(guardedAgent(addressGuard(config.webhookAllow)), (it) => it.close());
  const operationDeps = {
    database,
    directory,
    clock,
    log,
    metrics,
    loopWatch,
    batcher,
    catalog,
    templates: createOffering({ database, catalog, resolve, render }),
    render,
    relayRetryAfterSeconds: () => relayWatch.retryAfterSeconds(),
    allowedHeaders: config.allowedHeaders,
    making,
    dns,
    bounceDomain,
    vault,
    webhooks: { guard: addressGuard(config.webhookAllow), clock, vault, agent: webhookAgent },
    systemSender: config.systemSender,
    inSandbox: () => config.relayUrl === undefined,
    baseUrl: () => baseUrl,
    sourceOf: async (accountId: number, uuid: string) => {
      const mail = await loadMail(database, accountId, uuid);
      return mail && (await sourceOf(composing, mail));
    },
  };
  const mcp = opened(createMcpServer({ ...operationDeps, version: VERSION }), (it) => it.close());
  const answerMcp = createMcpHttp({
    ...{ server: mcp, directory, metrics, log, bodies, addressOf },
    hosts: config.mcpHosts,
  });
  const setUpToken = setUpTokenOf(deriveKey('session'));
  const dashboard: DashboardDeps = {
    ...operationDeps,
    resetKey: deriveKey('password-reset'),
    service: () => ({
      version: VERSION,
      baseUrl,
      mcpUrl: `${baseUrl}/mcp`,
      sandbox: config.relayUrl === undefined,
      bounceDomain,
    }),
    relayIsDown: () => relayWatch.isDown(),
    requesterOf: readRequester,
    rampStart: config.rampStart,
    setUpToken,
    pagesFolder,
  };
  const server = createRestServer({
    ...operationDeps,
    bodies,
    http,
    addressOf,
    admitPerson: (request, reply) => admitPerson(dashboard, request, reply),
    mounts: { '/mcp': answerMcp, '/v1/mcp': answerMcp, ...inbound },
    health,
    metricsExposure: config.isLoopback ? 'private' : 'public',
  });
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

/** Features know nothing of threads: that one was stopped is an answer like others. */
const orStopped = <Output>(output: Promise<Output>): Promise<Output | Stopped> =>
  output.catch((error: unknown) => {
    if (error instanceof JobStopped) return { stopped: error.reason };
    throw error;
  });

function readTls({ feedbackTls }: Config): { tls?: { cert: string; key: string } } {
  if (feedbackTls === undefined) return {};
  const [cert, key] = [feedbackTls.certFile, feedbackTls.keyFile].map((file) =>
    readFileSync(file, 'utf8'),
  );
  return { tls: { cert: cert!, key: key! } };
}

interface Store {
  database: Database;
  /** The same, for what takes its time. */
  upkeep: Database;
  heartbeat: Heartbeat;
}

async function openStore(config: Config, log: Log, opened: Opened): Promise<Store> {
  const url =
    config.databaseUrl ??
    opened(
      await openEmbedded(config.dataDir, {
        as: 'owner',
        log: (message) => log.info({ part: 'postgres' }, message),
      }),
      (embedded) => embedded.stop(),
    ).url;
  const servers = openServers(url);
  const heartbeat = opened(await startHeartbeat({ servers, log }), (it) => it.stop());
  const onIdleError = recurringFault(log, 'warn', 'a database connection broke');
  const open = (connections: number, patience: Patience) =>
    opened(openDatabase(servers, { connections, patience, onIdleError }), (it) => it.close());
  return {
    upkeep: withPartitions(open(2, PATIENCE.upkeep)),
    database: withPartitions(
      open(config.databaseConnections, config.roles.has('api') ? PATIENCE.calls : PATIENCE.work),
    ),
    heartbeat,
  };
}
