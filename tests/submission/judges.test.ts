// Programs that others wrote hand over their emails: Python's smtplib, swaks, msmtp, PHP's mail(),
// Django, Postfix as a smarthost. Each only with the settings that docs/smtp.md names.
import { execFileSync, spawn } from 'node:child_process';
import { chmodSync, existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createTransport } from 'nodemailer';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { captured } from '../support/captured.ts';
import { missingPostfix, startInstance } from '../support/postfix.ts';
import { freePort } from '../support/process.ts';
import { startTestService, type TestAccount, type TestService } from '../support/service.ts';
import { until } from '../support/until.ts';

const fixture = (name: string) =>
  fileURLToPath(new URL(`../smtp/fixtures/${name}`, import.meta.url));

let service: TestService;
let account: TestAccount;
let port: number;
const folder = mkdtempSync(join(tmpdir(), 'sandmartin-judges-'));
// Postfix works in it as a user of its own.
chmodSync(folder, 0o755);

beforeAll(async () => {
  service = await startTestService({
    SMTP_PORT: '0',
    TLS_CERT: fixture('localhost-cert.pem'),
    TLS_KEY: fixture('localhost-key.pem'),
  });
  account = await service.account();
  port = service.service.smtpPort!;
});
afterAll(async () => {
  await service.stop();
  rmSync(folder, { recursive: true, force: true });
});

/** Runs a program; what it prints. */
function run(program: string, args: string[], input = ''): Promise<string> {
  const child = spawn(program, args, { stdio: ['pipe', 'pipe', 'pipe'] });
  let said = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk) => {
      said += chunk;
    });
  }
  child.stdin.end(input);
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', (code) =>
      code === 0 ? resolve(said) : reject(new Error(`${program} ended with ${code}: ${said}`)),
    );
  });
}

function missing(what: string, isThere: boolean, package_: string): boolean {
  if (!isThere) {
    process.stderr.write(`\n*** ${what} SKIPPED: apt-get install ${package_}\n\n`);
  }
  return !isThere;
}

const has = (program: string): boolean =>
  (process.env.PATH ?? '').split(':').some((it) => existsSync(join(it, program)));

function hasModule(module: string): boolean {
  try {
    execFileSync('/usr/bin/python3', ['-c', `import ${module}`], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

/** The email that came last with this subject, as the sandbox captured it. */
async function arrived(subject: string) {
  const id = await until(async () => {
    const [row] = await service.database.query<{ id: string }>(
      `SELECT id FROM messages WHERE account_id = $1 AND subject = $2 AND door = 'smtp'`,
      [account.id, subject],
    );
    return row?.id;
  });
  const { showUuid } = await import('../../src/ids.ts');
  return await captured(service.database, showUuid('msg_', id));
}

it.skipIf(missing('SMTPLIB', has('python3'), 'python3'))('Python’s smtplib', async () => {
  const program = `
import smtplib, ssl
from email.message import EmailMessage
m = EmailMessage()
m['From'] = 'Acme <hello@example.com>'
m['To'] = 'Ada <ada@example.net>'
m['Subject'] = 'smtplib grüßt'
m.set_content('Grüße\\n.\\n')
m.add_alternative('<p>Grüße</p>', subtype='html')
m.add_attachment(b'%PDF', maintype='application', subtype='pdf', filename='Größe.pdf')
context = ssl.create_default_context()
context.check_hostname = False
context.verify_mode = ssl.CERT_NONE
with smtplib.SMTP('127.0.0.1', ${port}) as s:
    s.starttls(context=context)
    s.login('apikey', '${account.key}')
    s.send_message(m)
`;
  await run('python3', ['-'], program);
  const { email } = await arrived('smtplib grüßt');
  expect(email.text?.replaceAll('\r', '')).toContain('Grüße\n.\n');
  expect(email.html).toContain('Grüße');
  expect(email.attachments[0]?.filename).toBe('Größe.pdf');
});

it.skipIf(missing('SWAKS', has('swaks'), 'swaks'))('swaks', async () => {
  const said = await run('swaks', [
    ...['--server', '127.0.0.1', '--port', String(port)],
    ...['--auth', 'LOGIN', '--auth-user', 'apikey', '--auth-password', account.key],
    ...['--from', 'hello@example.com', '--to', 'ada@example.net', '--pipeline'],
    ...['--header', 'Subject: swaks', '--body', 'Hello from swaks'],
  ]);
  expect(said).toMatch(/250 2\.0\.0 queued as msg_/);
  expect((await arrived('swaks')).email.text).toContain('Hello from swaks');
});

const msmtpConfig = (): string => {
  const file = join(folder, 'msmtprc');
  writeFileSync(
    file,
    `account default\nhost 127.0.0.1\nport ${port}\ntls on\ntls_certcheck off\nauth on\nuser apikey\npassword ${account.key}\nfrom hello@example.com\n`,
  );
  chmodSync(file, 0o600);
  return file;
};
const noMsmtp = missing('MSMTP', has('msmtp'), 'msmtp');

it.skipIf(noMsmtp)('msmtp', async () => {
  const email = 'From: hello@example.com\nTo: ada@example.net\nSubject: msmtp\n\nHello\n..\n';
  await run('msmtp', ['-C', msmtpConfig(), 'ada@example.net'], email);
  expect((await arrived('msmtp')).email.text).toBe('Hello\n..\n');
});

it.skipIf(noMsmtp || missing('PHP', has('php'), 'php-cli'))('PHP’s mail()', async () => {
  const program = `<?php exit(mail('ada@example.net', 'php mail', "Hello\\r\\nfrom PHP", ['From' => 'hello@example.com']) ? 0 : 1);`;
  await run('php', ['-d', `sendmail_path=msmtp -C ${msmtpConfig()} -t`], program);
  expect((await arrived('php mail')).email.text).toContain('Hello\nfrom PHP');
});

it.skipIf(missing('DJANGO', hasModule('django'), 'python3-django'))('Django', async () => {
  const program = `
from django.conf import settings
settings.configure(EMAIL_HOST='127.0.0.1', EMAIL_PORT=${port}, EMAIL_HOST_USER='apikey', EMAIL_HOST_PASSWORD='${account.key}')
from django.core.mail import EmailMultiAlternatives
m = EmailMultiAlternatives('Django grüßt', 'Grüße', 'Acme <hello@example.com>', ['ada@example.net'], bcc=['b@example.net'])
m.attach_alternative('<p>Grüße</p>', 'text/html')
assert m.send() == 1
`;
  await run('/usr/bin/python3', ['-'], program);
  const { email } = await arrived('Django grüßt');
  expect(email.html).toContain('Grüße');
  expect(JSON.stringify(email.headers)).not.toContain('b@example.net');
});

const postfix =
  missingPostfix() ??
  (hasSasl() ? undefined : 'it cannot log in: apt-get install libsasl2-modules');
if (postfix !== undefined) process.stderr.write(`\n*** SMARTHOST SKIPPED: ${postfix}\n\n`);

function hasSasl(): boolean {
  return ['x86_64', 'aarch64'].some((it) =>
    existsSync(`/usr/lib/${it}-linux-gnu/sasl2/libplain.so`),
  );
}

it.skipIf(postfix !== undefined)('Postfix, of which we are the smarthost', async () => {
  const at = await freePort();
  const instance = await startInstance(join(folder, 'postfix'), {
    main: {
      myhostname: 'app.example',
      default_transport: 'smtp',
      relayhost: `[127.0.0.1]:${port}`,
      smtp_sasl_auth_enable: 'yes',
      smtp_sasl_password_maps: `inline:{ [127.0.0.1]:${port}=apikey:${account.key} }`,
      smtp_sasl_security_options: 'noanonymous',
    },
    transport: [],
    smtpd: [`127.0.0.1:${at}`],
  });
  try {
    await createTransport({ host: '127.0.0.1', port: at, ignoreTLS: true }).sendMail({
      from: 'hello@example.com',
      to: ['ada@example.net', 'bob@example.net'],
      bcc: 'hidden@example.net',
      subject: 'smarthost',
      text: 'Grüße',
      html: '<p>Grüße</p>',
    });
    const { email, raw } = await arrived('smarthost').catch((error: Error) => {
      throw new Error(`${error.message}\n${instance.log()}`);
    });
    expect(email.text).toContain('Grüße');
    expect(raw.toString()).not.toMatch(/^Received:/m);
    const [row] = await service.database.query<{ recipients: string[] }>(
      `SELECT recipients FROM messages WHERE account_id = $1 AND subject = 'smarthost'`,
      [account.id],
    );
    expect(row!.recipients.toSorted()).toEqual([
      'ada@example.net',
      'bob@example.net',
      'hidden@example.net',
    ]);
  } finally {
    await instance.stop();
  }
});
