// A renewed certificate is used without a restart; one that does not match its key is not, and the
// log says so.
import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect } from 'node:tls';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { readConfig } from '../../src/config/config.ts';
import { createLog } from '../../src/process/log.ts';
import { watchCertificate } from '../../src/submission/certificate.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { until } from '../support/until.ts';
import { openSmtp } from './client.ts';

const folder = mkdtempSync(join(tmpdir(), 'sandmartin-tls-'));
const [certFile, keyFile] = [join(folder, 'cert.pem'), join(folder, 'key.pem')];
let service: TestService;

function make(name: string): { cert: string; key: string } {
  const [cert, key] = [join(folder, `${name}.cert`), join(folder, `${name}.key`)];
  execFileSync(
    'openssl',
    [
      ...['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'],
      ...['-keyout', key, '-out', cert, '-days', '2', '-subj', `/CN=${name}`],
    ],
    { stdio: 'ignore' },
  );
  return { cert, key };
}

function install(name: string): void {
  const { cert, key } = make(name);
  copyFileSync(cert, certFile);
  copyFileSync(key, keyFile);
}

beforeAll(async () => {
  install('first.example');
  service = await startTestService({
    SMTP_PORT: '0',
    SMTPS_PORT: '0',
    TLS_CERT: certFile,
    TLS_KEY: keyFile,
  });
});
afterAll(async () => {
  await service.stop();
  rmSync(folder, { recursive: true, force: true });
});

async function shownByTls(): Promise<string> {
  const socket = connect({
    port: service.service.smtpsPort!,
    host: '127.0.0.1',
    rejectUnauthorized: false,
  });
  await new Promise((resolve) => socket.once('secureConnect', resolve));
  const { subject } = socket.getPeerCertificate();
  socket.destroy();
  return String(subject.CN);
}

async function shownByStartTls(): Promise<string> {
  const client = await openSmtp(service.service.smtpPort!);
  await client.reply();
  await client.say('EHLO test.example');
  await client.say('STARTTLS');
  await client.startTls();
  const { subject } = (client.socket as import('node:tls').TLSSocket).getPeerCertificate();
  client.socket.destroy();
  return String(subject.CN);
}

it('on both ports', async () => {
  expect(await shownByTls()).toBe('first.example');
  expect(await shownByStartTls()).toBe('first.example');
  install('second.example');
  await until(async () => (await shownByTls()) === 'second.example');
  expect(await shownByStartTls()).toBe('second.example');
});

it('a pair that does not fit is left until it does', async () => {
  const shown: string[] = [];
  const said: string[] = [];
  const log = createLog('silent');
  log.warn = ((_: unknown, text: string) => said.push(text)) as never;
  const watch = watchCertificate({ certFile, keyFile }, { log, everyMs: 20 }, ({ cert }) =>
    shown.push(cert),
  );
  await until(() => shown.length === 1);
  const { cert, key } = make('third.example');
  copyFileSync(cert, certFile);
  await until(() => said.length > 0);
  expect(shown).toHaveLength(1);
  copyFileSync(key, keyFile);
  await until(() => shown.length === 2);
  watch.stop();
});

it('what is missing is said before the service starts', async () => {
  expect(() => readConfig({ SMTPS_PORT: '465' })).toThrow('SMTPS_PORT: needs TLS_CERT and TLS_KEY');
  expect(() => readConfig({ TLS_CERT: 'a' })).toThrow('TLS_CERT and TLS_KEY: set both or neither');
  writeFileSync(join(folder, 'empty.pem'), '');
  await expect(
    startTestService({ SMTP_PORT: '0', TLS_CERT: join(folder, 'nowhere.pem'), TLS_KEY: keyFile }),
  ).rejects.toThrow('TLS_CERT cannot be read');
  await expect(
    startTestService({ SMTP_PORT: '0', TLS_CERT: certFile, TLS_KEY: join(folder, 'empty.pem') }),
  ).rejects.toThrow('contains no PEM');
  await expect(
    startTestService({ SMTP_PORT: '0', TLS_CERT: certFile, TLS_KEY: make('other.example').key }),
  ).rejects.toThrow('cannot be used together');
});
