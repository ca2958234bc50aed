// doctor on a set-up that would fail quietly: links that lead nowhere, a secret stored beside what
// it seals, a sender that nobody verified, missing certificates, and a relay that never reports a
// delivery. Each is reported, with what to do; the dashboard reports the last one too.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { registerDoctor } from '../../src/cli/doctor.ts';
import { openSignedIn } from '../dashboard/dashboard-client.ts';
import { runInProcess } from '../support/command.ts';
import { anEmail, startTestService, type TestService } from '../support/service.ts';
import { type SmtpSink, startSink } from '../support/smtp-sink.ts';
import { until } from '../support/until.ts';

interface Finding {
  check: string;
  ok: boolean;
  warning?: boolean;
  detail: string;
}

let service: TestService;
let reporting: SmtpSink;
let silent: SmtpSink;
beforeAll(async () => {
  reporting = await startSink();
  silent = await startSink({ hideDSN: true });
  service = await startTestService({ RELAY_URL: silent.url });
});
afterAll(async () => {
  await service.stop();
  await reporting.stop();
  await silent.stop();
});

async function doctor(env: Record<string, string>): Promise<(check: string) => Finding> {
  const { stdout } = await runInProcess(registerDoctor, ['doctor', '--json'], {
    ...{ DATABASE_URL: service.databaseUrl, PORT: '1', FEEDBACK_PORT: '1', ...env },
  });
  const findings: Finding[] = JSON.parse(stdout);
  return (check) => {
    const found = findings.find((it) => it.check === check);
    if (found === undefined) throw new Error(`nothing is said of ${check}: ${stdout}`);
    return found;
  };
}
const real = () => ({ RELAY_URL: reporting.url });

describe('BASE_URL', () => {
  it.each([
    [undefined, 'BASE_URL is unset'],
    ['http://localhost:3000', 'which only this machine reaches'],
    ['http://127.0.0.1', 'which only this machine reaches'],
    ['http://0.0.0.0:3000', 'which only this machine reaches'],
  ])('%s with a real relay', async (baseUrl, said) => {
    const address = (await doctor({ ...real(), ...(baseUrl && { BASE_URL: baseUrl }) }))('address');
    expect(address.ok).toBe(false);
    expect(address.detail).toContain(said);
    expect(address.detail).toContain('Set BASE_URL');
  });

  it.each(['http://192.168.1.5:3000', 'http://mail.internal', 'http://[fd00::1]', 'http://nas'])(
    '%s with a real relay: readers elsewhere are warned of',
    async (baseUrl) => {
      const address = (await doctor({ ...real(), BASE_URL: baseUrl }))('address');
      expect(address).toMatchObject({ ok: true, warning: true });
      expect(address.detail).toContain(`BASE_URL is ${baseUrl}, which only your own network`);
    },
  );

  it('TRACKING_URL is judged in its place, where it is set', async () => {
    const env = { ...real(), BASE_URL: 'https://mail.example.com' };
    const address = (await doctor({ ...env, TRACKING_URL: 'http://localhost:3000' }))('address');
    expect(address.ok).toBe(false);
    expect(address.detail).toContain('TRACKING_URL is http://localhost:3000');
    expect(address.detail).toContain('Set TRACKING_URL');
  });

  it('is well where recipients reach it, and in the sandbox', async () => {
    const there = await doctor({ ...real(), BASE_URL: 'https://mail.example.com' });
    expect(there('address').ok).toBe(true);
    expect((await doctor({}))('address').ok).toBe(true);
  });
});

it('SECRET_KEY unset with a real relay: whoever has the database has the keys', async () => {
  const secret = (await doctor(real()))('secret');
  expect(secret).toMatchObject({ ok: true, warning: true });
  expect(secret.detail).toContain('set SECRET_KEY');
  expect((await doctor({}))('secret').warning).toBeUndefined();
});

it('SYSTEM_SENDER that nobody verified', async () => {
  const env = { ...real(), SYSTEM_SENDER: 'Sandmartin <robot@own.example>' };
  const before = (await doctor(env))('system sender');
  expect(before.ok).toBe(false);
  expect(before.detail).toContain('identity add own.example');
  await service.account({ identities: ['own.example'] });
  expect((await doctor(env))('system sender').ok).toBe(true);
});

it('TLS files that are not there', async () => {
  const missing = '/nowhere/cert.pem';
  const found = await doctor({
    ...{ FEEDBACK_TLS_CERT: missing, FEEDBACK_TLS_KEY: missing },
    ...{ TLS_CERT: missing, TLS_KEY: missing, SMTP_PORT: '1' },
  });
  for (const check of ['feedback TLS', 'SMTP TLS']) {
    expect(found(check).ok).toBe(false);
    expect(found(check).detail).toContain('cert.pem');
    expect(found(check).detail).toContain('cannot start with it');
  }
});

describe('a relay without DSN', () => {
  it('is warned of by doctor; one with DSN is not', async () => {
    const found = (await doctor({ RELAY_URL: silent.url }))('relay');
    expect(found).toMatchObject({ ok: true, warning: true });
    expect(found.detail).toContain('no email becomes `delivered`');
    expect((await doctor(real()))('relay').warning).toBeUndefined();
  });

  it('stands above every page of the dashboard, once it was used', async () => {
    const { api } = await openSignedIn(service, { operator: true });
    expect((await api.service.get()).relays_without_reports).toEqual([]);
    const account = await service.account();
    await service.send(account.key, anEmail());
    await until(async () => (await api.service.get()).relays_without_reports.length > 0);
    expect((await api.service.get()).relays_without_reports).toEqual(['default']);
  });
});
