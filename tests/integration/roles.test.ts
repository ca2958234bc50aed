// Split roles, each a process of its own: each reports its health, doctor knows which are running,
// and a rotated secret ends them.
import { request as httpRequest } from 'node:http';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { registerDoctor } from '../../src/cli/doctor.ts';
import { addUser, prepareUser } from '../../src/people/users.ts';
import { systemClock } from '../../src/process/clock.ts';
import { putStream } from '../../src/streams/streams.ts';
import { runInProcess } from '../support/command.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { freePort, runCommand, type ServiceProcess, startProcess } from '../support/process.ts';
import { makeAccount } from '../support/service.ts';
import { until } from '../support/until.ts';

const FIRST = 'the first secret of these processes';
const PASSWORD = 'a horse that reads its battery';
const SECOND = 'the second secret of these processes';

let test: TestDatabase;
const running: ServiceProcess[] = [];
beforeAll(async () => {
  test = await createTestDatabase();
});
afterEach(async () => {
  for (const one of running.splice(0)) await one.end('SIGKILL');
  await test.database.query('TRUNCATE processes');
});
afterAll(() => test.drop());

async function start(roles: string, env: Record<string, string> = {}): Promise<ServiceProcess> {
  const started = await startProcess({
    ...{ DATABASE_URL: test.url, ROLES: roles, SECRET_KEY: FIRST },
    ...env,
  });
  running.push(started);
  return started;
}

interface Finding {
  check: string;
  ok: boolean;
  detail: string;
}

async function doctor(
  secretKey = FIRST,
  settings: Record<string, string> = {},
): Promise<{ code: number | null; of: Map<string, Finding> }> {
  const env = {
    ...{ DATABASE_URL: test.url, SECRET_KEY: secretKey, PORT: '0', FEEDBACK_PORT: '0' },
    ...settings,
  };
  const { code, stdout } = await runInProcess(registerDoctor, ['doctor', '--json'], env);
  const findings = JSON.parse(stdout) as Finding[];
  return { code, of: new Map(findings.map((finding) => [finding.check, finding])) };
}

/** The database's clock decides who was seen lately: what it says is moved instead of waiting. */
const passed = (seconds: number) =>
  test.database.query(
    `UPDATE processes SET seen_at = seen_at - $1 * interval '1 second' WHERE $2 = ANY (roles)`,
    [seconds, 'delivery'],
  );

describe('roles of their own', () => {
  it('each tells its health and metrics, and what it needs', async () => {
    const port = String(await freePort());
    await start('delivery', { METRICS_PORT: port });
    const at = `http://127.0.0.1:${port}`;
    expect(await (await fetch(`${at}/healthz`)).json()).toEqual({ status: 'ok' });
    const ready = await fetch(`${at}/readyz`);
    expect(ready.status).toBe(200);
    expect(await ready.json()).toMatchObject({
      status: 'ready',
      checks: [
        { name: 'database', ok: true },
        { name: 'secret', ok: true },
      ],
    });
    const metrics = await fetch(`${at}/metrics`);
    expect(metrics.headers.get('content-type')).toContain('text/plain');
    expect(await metrics.text()).toContain('sandmartin_queue_depth{queue="delivery"}');
    expect((await fetch(`${at}/v1/send`, { method: 'POST' })).status).toBe(404);
  });

  it('doctor fails when the delivery process is dead, and says since when', async () => {
    await start('api');
    const delivery = await start('delivery');
    const well = await doctor();
    expect(well.of.get('role delivery')).toMatchObject({
      ok: true,
      detail: 'One process is running.',
    });
    expect(well.of.get('role webhooks')).toMatchObject({ ok: true });

    await delivery.end('SIGKILL');
    await passed(180);
    const ill = await doctor();
    expect(ill.code).toBe(1);
    expect(ill.of.get('role delivery')).toMatchObject({ ok: false });
    expect(ill.of.get('role delivery')?.detail).toMatch(
      /^Last seen 3 min ago on host .+: no process with the role delivery is running; accepted email waits\./,
    );
    expect(ill.of.get('role api')).toMatchObject({ ok: true });
  });

  it('doctor compares BASE_URL with the address at which people open the dashboard', async () => {
    const api = await start('api');
    const well = await doctor();
    expect(well.of.get('address')).toMatchObject({ ok: true });
    expect(well.of.has('streams')).toBe(false);
    // What is broadcast must have a way out, and that needs an address that recipients reach.
    const { id } = await makeAccount(test.database);
    await putStream(test.database, id, 'news', { kind: 'broadcast' });
    expect((await doctor()).of.get('streams')).toMatchObject({
      ok: false,
      detail: expect.stringContaining('One stream sends broadcasts, and BASE_URL is unset'),
    });
    const owner = await prepareUser({
      ...{ email: 'owner@example.com', name: 'Owner', password: PASSWORD },
      operator: true,
    });
    await addUser(test.database, systemClock, owner);
    const { host } = new URL(api.url);
    const signIn = await fetch(`${api.url}/dashboard/api/session`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        'x-sm-dashboard': '1',
        origin: `https://${host}`,
      },
      body: JSON.stringify({ email: owner.email, password: PASSWORD }),
    });
    expect(signIn.status).toBe(200);
    await until(async () => (await doctor()).of.get('address')?.ok === false);
    expect((await doctor()).of.get('address')?.detail).toContain(
      `people open the dashboard at https://${host}`,
    );
  });

  it('doctor warns when requests name other hosts than the settings, or pages lack their scripts', async () => {
    const settings = { BASE_URL: 'https://mail.example.com' };
    const api = await start('api', settings);
    const warned = async (check: string) => (await doctor(FIRST, settings)).of.get(check)?.detail;
    const ask = (path: string, headers: Record<string, string>, method = 'GET') =>
      new Promise<number | undefined>((resolve, reject) => {
        const asked = httpRequest(`${api.url}${path}`, { method, headers }, (answer) =>
          answer.resume().once('end', () => resolve(answer.statusCode)),
        );
        asked.once('error', reject).end();
      });
    const post = { 'content-length': '0', connection: 'keep-alive' };

    expect(await warned('requests')).toMatch(
      /^HOST is 127\.0\.0\.1, .* no request for mail\.example\.com has come yet/,
    );
    // What watches the service calls it by its address, a program of this machine by any name.
    await ask('/healthz', { host: '10.1.2.3:3000' });
    await ask('/v1/usage', { host: 'localhost:3000' });
    expect(await ask('/v1/send', { ...post, host: 'other.example' }, 'POST')).toBe(401);
    await until(async () => (await warned('requests'))?.startsWith('Requests name other.example.'));
    expect(await warned('requests')).toContain('None has named mail.example.com (BASE_URL)');

    const { key } = await makeAccount(test.database);
    const agent = { ...post, host: 'agents.example:8080', 'x-api-key': key };
    expect(await ask('/mcp', agent, 'POST')).toBe(403);
    expect(await ask('/mcp', { ...post, host: 'stranger.example' }, 'POST')).toBe(403);
    await until(() => warned('MCP host'));
    expect(await warned('MCP host')).toMatch(
      /^Agents call MCP at agents\.example:8080 and are refused\. .*MCP_ALLOWED_HOSTS=agents\.example,/,
    );

    // A proxy that passes its own path on, which BASE_URL lacks.
    const browser = { host: 'mail.example.com', accept: 'text/html', 'sec-fetch-mode': 'navigate' };
    expect(await ask('/tools/mail?secret', browser)).toBe(200);
    await until(() => warned('dashboard'));
    expect(await warned('dashboard')).toMatch(/^A browser opened mail\.example\.com\/tools\/, /);
    expect(await warned('requests')).toBeUndefined();
    expect((await doctor(FIRST, settings)).of.get('dashboard')?.ok).toBe(true);
    await ask('/dashboard/api/session', { host: 'mail.example.com' });
    await until(async () => (await warned('dashboard')) === undefined);
  });

  it('a clean stop of all is no fault; of one among others it is', async () => {
    const api = await start('api');
    const delivery = await start('delivery');
    expect(await delivery.end('SIGTERM')).toBe(0);
    const without = await doctor();
    expect(without.of.get('role delivery')?.detail).toMatch(/^Stopped \d+ s ago on host/);
    expect(without.of.get('role delivery')?.ok).toBe(false);
    expect(await api.end('SIGTERM')).toBe(0);
    expect((await doctor()).of.get('role delivery')).toMatchObject({
      ok: true,
      detail: expect.stringContaining('like the whole service'),
    });
  });
});

describe('a rotated secret', () => {
  it('ends the processes that have the old one, and they do not start with it again', async () => {
    const old = await start('api,delivery');
    const env = { DATABASE_URL: test.url, SECRET_KEY: SECOND };
    const refused = await runCommand(['secret', 'rotate'], env);
    expect(refused.code).toBe(1);
    expect(refused.stderr).toContain('OLD_SECRET_KEY');

    const withOld = { ...env, BEFORE: FIRST };
    const dry = await runCommand(
      ['secret', 'rotate', '--from-env', 'BEFORE', '--dry-run'],
      withOld,
    );
    expect(dry.stdout).toContain('Nothing was changed.');
    expect((await doctor()).of.get('secret')).toMatchObject({ ok: true });

    const done = await runCommand(['secret', 'rotate', '--from-env', 'BEFORE'], withOld);
    expect(done.stdout).toContain('start them with the new one');
    expect(done.stdout + done.stderr).not.toContain(FIRST);
    await until(() => old.child.exitCode !== null);
    expect(old.child.exitCode).toBe(1);
    expect(old.output()).toContain('start it again with the new SECRET_KEY');

    await expect(start('api')).rejects.toThrow(/SECRET_KEY is the one from before/);
    await start('api', { SECRET_KEY: SECOND });
    const { of } = await doctor();
    expect(of.get('secret')).toMatchObject({ ok: false });
    expect((await doctor(SECOND)).of.get('secret')).toMatchObject({ ok: true });
  });
});
