// The role that people, programs and recipients talk to: REST, MCP, the dashboard and inbound HTTP,
// on one port; and SMTP submission, on its own ports.
import type { AddressInfo } from 'node:net';
import { openDirectory } from '../accounts/directory.ts';
import { watchRates } from '../accounts/pause.ts';
import { admitPerson } from '../dashboard/admission.ts';
import type { DashboardDeps } from '../dashboard/deps.ts';
import { mountDashboard, pagesFolder, setUpTokenOf } from '../dashboard/server.ts';
import type { Worker } from '../delivery/worker.ts';
import { openTimelines } from '../events/timeline.ts';
import { type Bodies, type BodyLimits, createBodies } from '../http/body.ts';
import { CALLERS_IN_LINE, type HttpLimits, type HttpServerOptions } from '../http/server.ts';
import { type Requesters, readRequesters } from '../inbound/requester.ts';
import { inboundRoutes } from '../inbound/routes.ts';
import { createSnsFetch } from '../inbound/sns-fetch.ts';
import { sourceOf } from '../mail/making.ts';
import { loadEmail } from '../mail/stored-email.ts';
import { createMcpHttp, listenMcp, type McpHttp } from '../mcp/http.ts';
import { createMcpServer } from '../mcp/server.ts';
import { startNotices } from '../notices/deliver-notices.ts';
import type { OperationDeps } from '../operations/deps.ts';
import { createWholeEmails } from '../operations/whole-emails.ts';
import { VERSION } from '../process/version.ts';
import { watchQueue } from '../queue/limit.ts';
import { createResendDoor } from '../resend/door.ts';
import { documentRoutes } from '../rest/documents.ts';
import { galleryRoutes } from '../rest/gallery.ts';
import { createRestServer } from '../rest/server.ts';
import { openWaiting } from '../sandbox/waiting.ts';
import { openBatcher } from '../sending/batch.ts';
import { type RelayWatch, watchRelay } from '../smtp/relay-state.ts';
import { loadStreams } from '../streams/streams.ts';
import type { SubmissionLimits } from '../submission/server.ts';
import { openCatalog, ownCatalogFiles } from '../templates/catalog.ts';
import { openMaking } from '../templates/making.ts';
import { createOffering } from '../templates/offering.ts';
import { createRenderBudget } from '../templates/render-budget.ts';
import { createRenderer } from '../templates/rendering.ts';
import { loadWhose, openResolution } from '../templates/resolution.ts';
import { openLinkSwitch } from '../tracking/link-switch.ts';
import { openEngagementRecorder } from '../tracking/record.ts';
import type { Shared } from './shared.ts';
import { openSubmission, type SmtpPorts } from './submission.ts';

export interface ApiLimits {
  httpLimits?: HttpLimits;
  bodyLimits?: BodyLimits;
  smtpLimits?: Partial<SubmissionLimits>;
}

export interface Api extends SmtpPorts {
  apiUrl: string;
  /** Where MCP listens on its own port; undefined without MCP_PORT. */
  mcpUrl: string | undefined;
  /** Where the first owner sets up the service, while nobody can sign in. */
  setUpUrl: string;
}

/** `worker`: the one in this process, woken when an email is accepted. */
export async function startApi(
  shared: Shared,
  worker: Worker | undefined,
  limits: ApiLimits,
): Promise<Api> {
  const { config, opened, address, secret } = shared;
  const canTakeHere = () => worker?.canTake() ?? false;
  const relayWatch = opened(await watchRelay({ ...shared, canTakeHere }), (it) => it.close());
  const accepting = await openAccepting(shared, relayWatch, worker);
  const operations = operationDeps(shared, relayWatch, accepting);
  const requesters = readRequesters(config.trustedProxies);
  const { addressOf, isProxy } = requesters;
  const http: HttpServerOptions = {
    isProxy,
    ...(limits.httpLimits && { limits: limits.httpLimits }),
  };
  const bodies = openBodies(requesters, limits.bodyLimits);
  const mcp = openMcp(shared, operations, bodies, requesters);
  const setUpToken = setUpTokenOf(secret.deriveKey('session'));
  const dashboard = dashboardDeps(shared, operations, requesters, setUpToken);
  const server = createRestServer({
    ...operations,
    ...{ bodies, http, addressOf, health: shared.health, asking: shared.asking },
    admitPerson: (request, reply) => admitPerson(dashboard, request, reply),
    mounts: {
      '/mcp': mcp.answer,
      '/v1/mcp': mcp.answer,
      ...documentRoutes(() => address.baseUrl),
      ...galleryRoutes(operations),
      ...openInbound(shared, operations, bodies, requesters),
    },
    plainRequests: { 'POST /mcp': mcp.answerPlain, 'POST /v1/mcp': mcp.answerPlain },
    otherDoor: createResendDoor({ ...operations, bodies, addressOf }),
    metricsExposure: config.isLoopback ? 'private' : 'public',
  });
  mountDashboard(server, dashboard);
  opened(startNotices(dashboard), (it) => it.stop());
  const { database, clock, log } = shared;
  const rates = { database, clock, log, limits: config.pauseLimits };
  opened(await watchRates(rates), (it) => it.close());

  await server.listen({ host: config.host, port: config.port, backlog: CALLERS_IN_LINE });
  opened(server, (it) => it.close());
  // Stopped before the server, which waits for every answer.
  opened(operations.mailbox, (it) => it.close());
  const { port } = server.server.address() as AddressInfo;
  // PORT=0 takes a free port, which is known only now.
  if (config.port === 0) address.baseUrl = address.baseUrl.replace(/:0$/, `:${port}`);
  return {
    apiUrl: address.baseUrl,
    mcpUrl: await listenOnMcpPort(shared, mcp, http),
    setUpUrl: `${address.baseUrl}/setup#${setUpToken}`,
    ...(await openSubmission(shared, operations, bodies, limits.smtpLimits)),
  };
}

/**
 * Stores accepted emails in the database, as long as the queue has room and the relay is available.
 */
async function openAccepting(
  shared: Shared,
  relayWatch: RelayWatch,
  worker: Worker | undefined,
): Promise<Accepting> {
  const { config, database, log, metrics, readiness, health, heartbeat, opened } = shared;
  const queue = opened(await watchQueue({ database, log, limit: config.queueLimit }), (it) =>
    it.close(),
  );
  health.queueIsFull = () => queue.fullness() !== undefined;
  health.require({ name: 'queue', check: queue.requireRoom });
  const batcher = openBatcher({
    database,
    metrics,
    relayIsDown: () => config.relayDown === 'refuse' && relayWatch.isDown(),
    queueIsFull: health.queueIsFull,
    databaseNowMs: heartbeat.nowMs,
    onCommitted(sends) {
      queue.grow(sends);
      readiness.noteWrite();
      worker?.wake(new Set(sends.map((send) => send.accountId)));
    },
    onFailed: readiness.noteWrite,
  });
  opened(batcher, (it) => it.drain());
  return { batcher, scheduledFullness: queue.scheduledFullness };
}

type Accepting = Pick<OperationDeps, 'batcher' | 'scheduledFullness'>;

/** What operations work with, whichever door they are called through. */
function operationDeps(
  shared: Shared,
  relayWatch: RelayWatch,
  accepting: Accepting,
): OperationDeps {
  const { config, database, clock, log, threads, secret, opened, address } = shared;
  const { metrics, loopWatch, dns, relays } = shared;
  const { vault } = secret;
  const { bounceDomain } = config;
  const directory = opened(openDirectory({ database, clock, log, bounceDomain }), (it) =>
    it.close(),
  );
  const catalog = openCatalog(ownCatalogFiles());
  const resolve = openResolution({ database, catalog, perAccount: directory.perAccount });
  const making = openMaking(
    {
      make: (order, as) => threads.run('make-mail', order, as),
      check: (order, as) => threads.run('check-template', order, as),
      writeText: (html, as) => threads.run('write-text', html, as),
      lint: (email, as) => threads.run('lint-email', email, as),
    },
    createRenderBudget(clock),
  );
  const render = createRenderer(resolve, making);
  const whoseWork = directory.perAccount((accountId) => loadWhose(database, accountId));
  return {
    ...{
      database,
      directory,
      clock,
      log,
      metrics,
      loopWatch,
      catalog,
      making,
      dns,
      vault,
    },
    ...accepting,
    templates: createOffering({ database, catalog, resolve, render }),
    render,
    streams: directory.perAccount((accountId) => loadStreams(database, accountId)),
    relayRetryAfterSeconds: () => relayWatch.retryAfterSeconds(),
    allowedHeaders: config.allowedHeaders,
    lint: async (accountId, email) => making.lint(email, await whoseWork(accountId)),
    textOf: async (accountId, html) => making.writeText(html, await whoseWork(accountId)),
    bounceDomain: config.bounceDomain,
    probeReturnPath: shared.probeReturnPath,
    rampStart: config.rampStart,
    webhooks: { ...shared.webhooks, clock, vault },
    systemSender: config.systemSender,
    timelineOf: openTimelines(database),
    mailbox: openWaiting({ database, log }),
    inSandbox: relays.isSandbox,
    relayUrl: config.relayUrl,
    relayIsDown: () => relayWatch.isDown(),
    linksWork: shared.making.isPublic,
    baseUrl: () => address.baseUrl,
    wholeEmails: createWholeEmails(),
    sourceOf: async (accountId, uuid) => {
      const email = await loadEmail(database, accountId, uuid);
      return email && (await sourceOf(shared.making, email));
    },
  };
}

function dashboardDeps(
  { config, secret, address, asking, relays }: Shared,
  operations: OperationDeps,
  { read }: Requesters,
  setUpToken: string,
): DashboardDeps {
  return {
    ...operations,
    ...{ setUpToken, pagesFolder, asking },
    resetKey: secret.deriveKey('password-reset'),
    factorKey: secret.deriveKey('second-factor'),
    service: () => ({
      version: VERSION,
      baseUrl: address.baseUrl,
      mcpUrl: `${address.baseUrl}/mcp`,
      sandbox: relays.isSandbox(),
      bounceDomain: config.bounceDomain,
      smtp: address.smtp,
    }),
    requesterOf: read,
    noteOpenedAt(origin) {
      if (origin !== undefined && URL.canParse(origin)) address.openedAt = origin;
    },
  };
}

/** Memory for bodies is shared out by address; a proxy stands for many clients. */
const openBodies = ({ read, isProxy }: Requesters, limits: BodyLimits | undefined): Bodies =>
  createBodies({
    addressOf: (request) => {
      const { ipAddress } = read(request);
      return isProxy(ipAddress) ? undefined : ipAddress;
    },
    ...(limits && { limits }),
  });

function openMcp(
  { config, opened, metrics, log, asking }: Shared,
  operations: OperationDeps,
  bodies: Bodies,
  { addressOf }: Requesters,
): McpHttp {
  const server = opened(createMcpServer({ ...operations, version: VERSION }), (it) => it.close());
  const { directory, loopWatch } = operations;
  return createMcpHttp({
    ...{ server, directory, metrics, log, loopWatch, bodies, addressOf, asking },
    hosts: config.mcpHosts,
  });
}

async function listenOnMcpPort(
  { config, opened, address }: Shared,
  mcp: McpHttp,
  http: HttpServerOptions,
): Promise<string | undefined> {
  if (config.mcpPort === undefined) return undefined;
  const at = { host: config.host, port: config.mcpPort, http };
  const listener = opened(await listenMcp(mcp, at), (it) => it.stop());
  const url = new URL('/mcp', address.baseUrl);
  url.protocol = 'http:';
  url.port = String(listener.port);
  return url.href;
}

/** What recipients and relays call: opens, clicks, unsubscribing, notifications. */
function openInbound(
  shared: Shared,
  { wholeEmails }: OperationDeps,
  bodies: Bodies,
  { read: readRequester }: Requesters,
) {
  const { config, database, clock, log, metrics, secret, matcher, recorder, opened } = shared;
  const engagements = opened(openEngagementRecorder({ database, clock, log, metrics }), (it) =>
    it.drain(),
  );
  return inboundRoutes({
    ...{ database, clock, log, metrics, engagements, matcher, recorder, bodies, readRequester },
    wholeEmails,
    trackingKeys: secret.tokenKeys('tracking'),
    links: openLinkSwitch({ database, log }),
    topics: config.sesTopics,
    providerSecrets: config.providerSecrets,
    fetchText: createSnsFetch(),
  });
}
