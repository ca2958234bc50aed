// Health and metrics of a process, whatever its roles: /healthz, /readyz and /metrics. The API
// answers them on its port (server.ts), and METRICS_PORT serves them for every role.
import { createHash, timingSafeEqual } from 'node:crypto';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Problem } from '../errors.ts';
import { type HttpAnswer, writeAnswer } from '../http/answer.ts';
import type { Log } from '../process/log.ts';
import type { Metrics } from '../process/metrics.ts';

/**
 * Something a role needs to do its work; a rejection says what is wrong, and a Problem may be shown
 * to everyone.
 */
export interface ReadyCheck {
  name: string;
  check: () => Promise<unknown>;
}

export interface HealthDeps {
  metrics: Metrics;
  log: Log;
  readyChecks: readonly ReadyCheck[];
  /** Called before /metrics answers, to bring gauges up to date. */
  refreshGauges: () => Promise<void>;
  /** The token required for metrics; undefined: none is required. */
  metricsToken: string | undefined;
}

export const HEALTH_PATHS = ['/healthz', '/readyz', '/metrics'] as const;
export type HealthPath = (typeof HEALTH_PATHS)[number];

/**
 * `own`: a port of its own, whose operator decides who can reach it. `private`: the machine itself,
 * and whatever a proxy on it passes on. `public`: the network.
 */
export type Exposure = 'own' | 'private' | 'public';

export async function answerHealth(
  deps: HealthDeps,
  path: HealthPath,
  exposure: Exposure,
  headers: IncomingHttpHeaders,
): Promise<HttpAnswer> {
  if (path === '/healthz') return json(200, { status: 'ok' });
  if (path === '/readyz') {
    const isNear = comesFromHere(exposure, headers);
    return await answerReady(deps.readyChecks, isNear ? reasonOf : publicReasonOf);
  }
  return refuseMetrics(deps, exposure, headers) ?? (await answerMetrics(deps));
}

async function answerReady(
  checks: readonly ReadyCheck[],
  reason: (error: Error) => string,
): Promise<HttpAnswer> {
  const results = await Promise.all(
    checks.map(({ name, check }) =>
      check().then(
        () => ({ name, ok: true }),
        (error: Error) => ({ name, ok: false, detail: reason(error) }),
      ),
    ),
  );
  const faults = results.flatMap((it) => ('detail' in it ? [`${it.name}: ${it.detail}`] : []));
  return faults.length === 0
    ? json(200, { status: 'ready', checks: results })
    : json(503, { status: 'not ready', detail: faults.join('; '), checks: results });
}

const reasonOf = ({ message, cause }: Error): string =>
  cause instanceof Error ? `${message} (${cause.message})` : message;

/**
 * What others report, such as the database, names hosts, users and files: it must not reach the
 * network.
 */
const publicReasonOf = (error: Error): string =>
  error instanceof Problem
    ? error.detail
    : 'It is not ready. The log says why, and so does this path on METRICS_PORT or from the machine itself.';

async function answerMetrics(deps: HealthDeps): Promise<HttpAnswer> {
  // Without the database the gauges stay as they were; the other metrics matter most at that
  // moment.
  await deps
    .refreshGauges()
    .catch((error) => deps.log.warn({ err: error }, 'gauges are out of date'));
  const { registry } = deps.metrics;
  return {
    status: 200,
    headers: { 'content-type': registry.contentType },
    text: await registry.metrics(),
  };
}

function refuseMetrics(
  { metricsToken }: HealthDeps,
  exposure: Exposure,
  headers: IncomingHttpHeaders,
): HttpAnswer | undefined {
  if (metricsToken !== undefined) {
    if (isSame(headers.authorization ?? '', `Bearer ${metricsToken}`)) return undefined;
    const detail = 'Metrics need "Authorization: Bearer" with the METRICS_TOKEN of this service.';
    return json(401, { detail, code: 'unauthenticated' }, { 'www-authenticate': 'Bearer' });
  }
  if (comesFromHere(exposure, headers)) return undefined;
  return json(403, {
    detail:
      'Metrics are not shown to the network. Set METRICS_PORT to serve them on a separate port, or METRICS_TOKEN to require a token here.',
    code: 'forbidden',
  });
}

const comesFromHere = (exposure: Exposure, headers: IncomingHttpHeaders): boolean =>
  exposure === 'own' || (exposure === 'private' && !isForwarded(headers));

/**
 * Even on loopback, what a proxy passes on comes from elsewhere. So does a request for another host
 * name: from a proxy that keeps the name, or from a browser whose page made its own name mean this
 * machine.
 */
const isForwarded = (headers: IncomingHttpHeaders): boolean =>
  Object.keys(headers).some((name) => FORWARDED.test(name)) ||
  (headers.host !== undefined && !OWN_NAME.test(headers.host));

/** The headers in which proxies name their client: the standard's two, and each vendor's own. */
const FORWARDED =
  /^(?:forwarded|via|x-forwarded.*|x-original-.*|x-real-ip|.*client-ip|cf-connecting-ip)$/;
const OWN_NAME = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])(?::\d{1,5})?$/i;

function isSame(given: string, expected: string): boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(given), digest(expected));
}

const json = (status: number, body: unknown, headers: Record<string, string> = {}): HttpAnswer => ({
  status,
  headers: { 'content-type': 'application/json; charset=utf-8', ...headers },
  text: JSON.stringify(body),
});

/** The separate port. Whoever opens it to the network decides who can reach it. */
export async function listenHealth(
  deps: HealthDeps,
  at: { host: string; port: number },
): Promise<{ port: number; stop(): Promise<void> }> {
  const server = createServer({ requestTimeout: 10_000, headersTimeout: 10_000 });
  server.on('request', (request, response) => {
    const path = HEALTH_PATHS.find((known) => known === request.url?.split('?')[0]);
    const isRead = request.method === 'GET' || request.method === 'HEAD';
    const answering =
      path !== undefined && isRead
        ? answerHealth(deps, path, 'own', request.headers)
        : Promise.resolve(
            json(404, {
              detail: `This port serves only ${HEALTH_PATHS.join(', ')}.`,
              code: 'not-found',
            }),
          );
    answering
      .catch((error: Error) => {
        deps.log.error({ err: error }, 'health could not be determined');
        return json(500, {
          detail: 'The state of the service could not be determined. The log says why.',
          code: 'internal',
        });
      })
      .then((answer) => writeAnswer(response, answer));
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(at.port, at.host, resolve);
  });
  return {
    port: (server.address() as AddressInfo).port,
    stop: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
