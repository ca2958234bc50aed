// Who sees /metrics: on loopback everyone on the machine, elsewhere nobody without a token or a
// port of its own.
import { get } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Problem } from '../../src/errors.ts';
import { createLog } from '../../src/process/log.ts';
import { createMetrics } from '../../src/process/metrics.ts';
import { answerHealth } from '../../src/rest/health.ts';
import { startTestService, type TestService } from '../support/service.ts';

/** By which proxies tell for whom they ask. */
const FORWARDED = [
  ...['X-Forwarded-For', 'Forwarded', 'Via', 'X-Real-IP', 'X-Forwarded-Proto', 'X-Forwarded-Host'],
  ...['X-Client-IP', 'CF-Connecting-IP', 'True-Client-IP', 'Fastly-Client-IP', 'X-Original-Host'],
];

const services: TestService[] = [];
afterAll(async () => {
  for (const service of services) await service.stop();
});
async function start(env: Record<string, string>): Promise<TestService> {
  const service = await startTestService(env);
  services.push(service);
  return service;
}

describe('/metrics on loopback', () => {
  let url: string;
  beforeAll(async () => {
    ({ url } = await start({ HOST: '127.0.0.1' }));
  });

  it('is open, as are health and readiness', async () => {
    for (const path of ['/metrics', '/healthz', '/readyz']) {
      expect((await fetch(url + path)).status).toBe(200);
    }
    expect((await fetch(`${url}/metrics`, { method: 'HEAD' })).status).toBe(200);
  });

  it('is not open to who comes through a proxy', async () => {
    for (const name of FORWARDED) {
      const answer = await fetch(`${url}/metrics`, { headers: { [name]: 'for=192.0.2.1' } });
      expect([name, answer.status]).toEqual([name, 403]);
    }
  });

  // A proxy that keeps the name it was asked for, and a page whose own name was made to mean this
  // machine.
  it.each([
    ['127.0.0.1', 200],
    ['localhost:8025', 200],
    ['LOCALHOST', 200],
    ['[::1]:8025', 200],
    ['mail.example.com', 403],
    ['127.0.0.1.evil.example', 403],
    ['localhost.evil.example:80', 403],
  ])('asked for as %s → %i', async (host, status) => {
    const answered = await new Promise((resolve, reject) => {
      get(`${url}/metrics`, { headers: { host } }, (answer) => {
        answer.resume();
        resolve(answer.statusCode);
      }).on('error', reject);
    });
    expect(answered).toBe(status);
  });
});

describe('/metrics on the network', () => {
  it('is refused, and says what to set', async () => {
    const { url } = await start({ HOST: '0.0.0.0' });
    const answer = await fetch(`${url}/metrics`);
    expect(answer.status).toBe(403);
    const { detail } = (await answer.json()) as { detail: string };
    expect(detail).toMatch(/METRICS_PORT.*METRICS_TOKEN/);
    expect((await fetch(`${url}/readyz`)).status).toBe(200);
  });

  it('answers to the token, and to nothing like it', async () => {
    const token = 'a token for the scraper';
    const { url } = await start({ HOST: '0.0.0.0', METRICS_TOKEN: token });
    const ask = (authorization?: string) =>
      fetch(`${url}/metrics`, { headers: authorization === undefined ? {} : { authorization } });
    for (const wrong of [undefined, '', token, `Bearer ${token}x`, 'Bearer ', `Basic ${token}`]) {
      expect((await ask(wrong)).status).toBe(401);
    }
    const answer = await ask(`Bearer ${token}`);
    expect(answer.status).toBe(200);
    expect(await answer.text()).toContain('sandmartin_sends_accepted_total');
  });

  it('is open on a port of its own, beside the public one', async () => {
    const { url, service } = await start({ HOST: '0.0.0.0', METRICS_PORT: '0' });
    expect((await fetch(`${url}/metrics`)).status).toBe(403);
    const own = await fetch(`http://127.0.0.1:${service.metricsPort}/metrics`, {
      headers: { via: '1.1 scraper' },
    });
    expect(own.status).toBe(200);
    expect(await own.text()).toContain('sandmartin_sends_accepted_total');
  });
});

it('readiness names what is missing, by role', async () => {
  const { url, service } = await start({});
  expect(await (await fetch(`${url}/readyz`)).json()).toEqual({
    status: 'ready',
    checks: [
      { name: 'database', ok: true },
      { name: 'secret', ok: true },
      { name: 'feedback listener', ok: true },
      { name: 'queue', ok: true },
    ],
  });
  await service.database.query(`UPDATE installation SET verifier = 'another'`);
  const answer = await fetch(`${url}/readyz`);
  expect(answer.status).toBe(503);
  expect(((await answer.json()) as { detail: string }).detail).toMatch(/^secret: .*SECRET_KEY/);
});

describe('/readyz', () => {
  const secretText = 'password authentication failed for user "sandmartin" at db-3.internal';
  const deps = (error: Error) => ({
    metrics: createMetrics(),
    log: createLog('silent'),
    readyChecks: [{ name: 'database', check: () => Promise.reject(error) }],
    refreshGauges: async () => undefined,
    metricsToken: undefined,
  });
  const known = new Problem('unavailable', 'The database cannot be reached.', {
    cause: new Error(secretText),
  });

  it('tells the machine everything, and the network nothing that others said', async () => {
    for (const error of [known, new Error(secretText)]) {
      const near = await answerHealth(deps(error), '/readyz', 'private', {});
      expect([near.status, near.text.includes('db-3.internal')]).toEqual([503, true]);
      for (const [exposure, headers] of [
        ['public', {}],
        ['private', { 'x-forwarded-for': '192.0.2.1' }],
      ] as const) {
        const far = await answerHealth(deps(error), '/readyz', exposure, headers);
        expect([far.status, far.text.includes('db-3.internal')]).toEqual([503, false]);
      }
    }
    const far = await answerHealth(deps(known), '/readyz', 'public', {});
    expect(JSON.parse(far.text).detail).toBe('database: The database cannot be reached.');
  });
});
