// The composition root: config → database → deps → roles, each built once and stopped in reverse order.
import { readFileSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { openDirectory } from './accounts/directory.ts';
import { createDns } from './accounts/dns.ts';
import { isReturnPathOf } from './accounts/domains.ts';
import { type Clock, systemClock } from './clock.ts';
import type { Config } from './config.ts';
import { admitPerson } from './dashboard/admission.ts';
import { mountDashboard, pagesFolder, setUpTokenOf } from './dashboard/server.ts';
import { sourceOf } from './delivery/attempt.ts';
import { createCircuit } from './delivery/circuit.ts';
import { createRelay, parseRelayUrl } from './delivery/relay.ts';
import { openRelayReporting, watchRelay } from './delivery/relay-state.ts';
import { openSenders } from './delivery/senders.ts';
import { loadMail } from './delivery/stored-mail.ts';
import { startWorker, type Worker } from './delivery/worker.ts';
import { createMatcher } from './feedback/match.ts';
import { openReportRecorder } from './feedback/record.ts';
import { createBodyBudget } from './http-body.ts';
import { startFeedbackListener } from './inbound/feedback-smtp.ts';
import { readRequesters } from './inbound/requester.ts';
import { inboundRoutes } from './inbound/routes.ts';
import { createSnsFetch } from './inbound/sns-fetch.ts';
import type { Log } from './log.ts';
import { startMaintenance } from './maintenance.ts';
import { createMcpHttp, listenMcp } from './mcp/http.ts';
import { createMcpServer } from './mcp/server.ts';
import { createMetrics } from './metrics.ts';
import { queueState } from './queue/due.ts';
import { recurringFault } from './recurring-fault.ts';
import { createRestServer } from './rest/server.ts';
import { startSandboxRelay } from './sandbox/relay.ts';
import { openBatcher } from './sending/batch.ts';
import { openEmbedded } from './store/embedded.ts';
import { openSecret } from './store/installation.ts';
import { migrate } from './store/migrate.ts';
import { type Database, openDatabase } from './store/pool.ts';
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
  stop(): Promise<void>;
}

export interface ServiceOptions {
  clock?: Clock;
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
    return { ...(await startRoles(config, log, options.clock ?? systemClock, opened)), stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

type Opened = <Thing>(thing: Thing, close: (thing: Thing) => Promise<void>) => Thing;

async function startRoles(
  config: Config,
  log: Log,
  clock: Clock,
  opened: Opened,
): Promise<Omit<Service, 'stop'>> {
  const metrics = createMetrics();
  const database = await openStore(config, log, opened);
  await migrate(database);
  const { bounceDomain } = config;
  const dns = createDns(config.dnsServers);
  opened(
    await startMaintenance({ database, clock, log, retention: config, dns, bounceDomain }),
    (task) => task.stop(),
  );
  const deriveKey = await openSecret(database, config.secretKey);
  const returnPathKey = deriveKey('return-path');
  const trackingKey = deriveKey('tracking');
  let { baseUrl } = config;
  const trackingUrl = () => config.trackingUrl ?? baseUrl;

  const recorder = opened(
    openReportRecorder({ database, metrics, nowMs: () => clock.nowMs() }),
    (it) => it.drain(),
  );
  const matcher = createMatcher({ database, returnPathKey });

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
          returnPathKey,
          bounceDomain,
          isReturnPathOf: (accountId, host) => isReturnPathOf(database, accountId, host),
        },
        { host: config.feedbackHost, port: config.feedbackPort, ...readTls(config) },
      ),
      (it) => it.stop(),
    );
    feedbackPort = listener.port;
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
    const openRelay = (url: string, maxConnections: number) =>
      opened(createRelay({ url, name: bounceDomain, maxConnections }), (it) => it.close());
    const relay = openRelay(relayUrl, config.relayConnections);
    const reporting = opened(openRelayReporting({ database, clock, log }), (it) => it.close());
    worker = opened(
      await startWorker({
        database,
        clock,
        log,
        metrics,
        relay,
        // Mail of sandbox-only keys is captured also where a real relay is configured.
        sandbox: relayUrl === sandboxUrl ? relay : openRelay(sandboxUrl, 2),
        reporting,
        circuit: createCircuit({
          now: () => clock.nowMs(),
          firstWaitMs: 1000,
          longestWaitMs: 15_000,
        }),
        returnPathKey,
        senders: openSenders({ database, encryptionKey: deriveKey('encryption'), bounceDomain }),
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
    opened(startWebhookWorker({ database, clock, log, metrics, agent }), (it) => it.stop());
  }

  if (!config.roles.has('api')) {
    return {
      database,
      feedbackPort,
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
      onCommitted: () => worker?.wake(),
    }),
    (it) => it.drain(),
  );
  const engagements = opened(openEngagementRecorder({ database, clock, log, metrics }), (it) =>
    it.drain(),
  );
  const readRequester = readRequesters(config.trustedProxies);
  const inbound = inboundRoutes({
    database,
    clock,
    log,
    trackingKey,
    engagements,
    readRequester,
    matcher,
    recorder,
    topics: config.sesTopics,
    fetchText: createSnsFetch(),
  });
  const catalog = loadCatalog(catalogFolder);
  const resolve = openResolution({ database, catalog, perAccount: directory.perAccount });
  const render = createRenderer(resolve);
  const making = {
    returnPathKey,
    senders: openSenders({ database, encryptionKey: deriveKey('encryption'), bounceDomain }),
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
    batcher,
    catalog,
    templates: createOffering({ database, catalog, resolve, render }),
    render,
    relayRetryAfterSeconds: () => relayWatch.retryAfterSeconds(),
    dns,
    bounceDomain,
    encryptionKey: deriveKey('encryption'),
    webhooks: { guard: addressGuard(config.webhookAllow), clock, agent: webhookAgent },
    systemSender: config.systemSender,
    inSandbox: () => config.relayUrl === undefined,
    baseUrl: () => baseUrl,
    sourceOf: async (accountId: number, uuid: string) => {
      const mail = await loadMail(database, accountId, uuid);
      return mail && (await sourceOf(making, mail));
    },
  };
  const mcp = opened(createMcpServer({ ...operationDeps, version: VERSION }), (it) => it.close());
  const bodyBudget = createBodyBudget();
  const answerMcp = createMcpHttp({
    ...{ server: mcp, directory, metrics, log, bodyBudget },
    hosts: config.mcpHosts,
  });
  const setUpToken = setUpTokenOf(deriveKey('session'));
  const dashboardDeps = {
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
    clientOf: (request: IncomingMessage) => readRequester(request).ipAddress,
    setUpToken,
    pagesFolder,
  };
  const server = createRestServer({
    ...operationDeps,
    bodyBudget,
    admitPerson: (request, reply) => admitPerson(dashboardDeps, request, reply),
    mounts: { '/mcp': answerMcp, '/v1/mcp': answerMcp, ...inbound },
    checkReady: async () => {
      await database.query('SELECT 1');
    },
    refreshGauges: async () => {
      const state = await queueState(database, clock.nowMs());
      metrics.queueDepth.set({ queue: 'delivery' }, state.depth);
      metrics.queueAge.set({ queue: 'delivery' }, state.ageSeconds);
      const due = await dueState(database, clock.nowMs());
      metrics.queueDepth.set({ queue: 'webhooks' }, due.depth);
      metrics.queueAge.set({ queue: 'webhooks' }, due.ageSeconds);
    },
  });
  mountDashboard(server, dashboardDeps);
  await server.listen({ host: config.host, port: config.port });
  opened(server, (it) => it.close());
  const { port } = server.server.address() as AddressInfo;
  // PORT=0 takes a free port, known only now.
  if (config.port === 0) baseUrl = baseUrl.replace(/:0$/, `:${port}`);
  let mcpUrl: string | undefined;
  if (config.mcpPort !== undefined) {
    const at = { host: config.host, port: config.mcpPort };
    const listener = opened(await listenMcp(answerMcp, at), (it) => it.stop());
    const url = new URL('/mcp', baseUrl);
    url.protocol = 'http:';
    url.port = String(listener.port);
    mcpUrl = url.href;
  }
  const setUpUrl = `${baseUrl}/setup#${setUpToken}`;
  return { database, feedbackPort, apiUrl: baseUrl, mcpUrl, setUpUrl };
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
