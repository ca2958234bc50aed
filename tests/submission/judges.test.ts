// Programs that others wrote hand over their emails: Nodemailer, Python's smtplib, swaks, msmtp,
// PHP's mail(), Django, Postfix as a smarthost. Where docs/smtp.md has settings to paste, with
// these.
import { execFileSync, spawn } from 'node:child_process';
import { chmodSync, existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createTransport } from 'nodemailer';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { captured } from '../support/captured.ts';
import { blockOf, substituted } from '../support/docs.ts';
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
function run(program: string, args: string[], input = '', env = {}): Promise<string> {
  const child = spawn(program, args, {
    env: { ...process.env, ...env },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
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

it('Nodemailer, as docs/smtp.md sets it up', async () => {
  const block = substituted(blockOf('docs/smtp.md', 'const transport'), {
    'mail.example.com': 'localhost',
    '587': String(port),
    'acme.example': 'example.com',
    "subject: 'Hello'": "subject: 'nodemailer'",
  });
  const file = join(folder, 'send.mjs');
  writeFileSync(file, `import nodemailer from '${import.meta.resolve('nodemailer')}';\n${block}`);
  // The certificate is its own authority, and is checked.
  await run(process.execPath, [file], '', {
    ...{ NODE_EXTRA_CA_CERTS: fixture('localhost-cert.pem'), SANDMARTIN_KEY: account.key },
  });
  expect((await arrived('nodemailer')).email.text).toContain('Hello!');
});

it.skipIf(missing('DJANGO', hasModule('django'), 'python3-django'))(
  'Django, as docs/smtp.md sets it up',
  async () => {
    const settings = substituted(blockOf('docs/smtp.md', 'EMAIL_HOST'), {
      'mail.example.com': '127.0.0.1',
      '587': String(port),
      'acme.example': 'example.com',
    });
    writeFileSync(join(folder, 'settings.py'), `import os\n${settings}`);
    const program = `
import sys
sys.path.insert(0, '${folder}')
from django.core.mail import EmailMultiAlternatives
m = EmailMultiAlternatives('Django grüßt', 'Grüße', to=['ada@example.net'], bcc=['b@example.net'])
m.attach_alternative('<p>Grüße</p>', 'text/html')
assert m.send() == 1
`;
    await run('/usr/bin/python3', ['-'], program, {
      ...{ DJANGO_SETTINGS_MODULE: 'settings', SANDMARTIN_KEY: account.key },
    });
    const { email } = await arrived('Django grüßt');
    expect(email.from).toEqual({ name: 'Acme', address: 'hello@example.com' });
    expect(email.html).toContain('Grüße');
    expect(JSON.stringify(email.headers)).not.toContain('b@example.net');
  },
);

// Too large to install for one page: what they call their settings was looked up, and
// tests/docs/accounted.test.ts says so. The values are those that worked above.
it.each([
  ['Rails', blockOf('docs/smtp.md', 'config.action_mailer'), 'address port user_name password'],
  [
    'Laravel',
    blockOf('docs/smtp.md', 'MAIL_MAILER'),
    'MAIL_HOST MAIL_PORT MAIL_USERNAME MAIL_PASSWORD',
  ],
  ['Spring', blockOf('docs/smtp.md', 'spring.mail.host'), 'host port username password'],
  ['Supabase', blockOf('docs/smtp.md', 'SMTP_HOST'), 'SMTP_HOST SMTP_PORT SMTP_USER SMTP_PASS'],
  ['Keycloak', blockOf('docs/smtp.md', '"smtpServer"'), 'host port user password'],
])('%s has the same values in docs/smtp.md', (_, block, names) => {
  const values = names.split(' ').map((name) => {
    const [, value] = new RegExp(
      `(?:^|[\\s.])"?${name}"?(?:: |=)["']?([^"',\\n]+(?:'[^']+'\\))?)`,
      'm',
    ).exec(block)!;
    return value;
  });
  expect(values.slice(0, 3)).toEqual(['mail.example.com', '587', 'apikey']);
  expect(values[3]).toMatch(/^(?:sm_live_…|\$\{SANDMARTIN_KEY\}|ENV\.fetch\('SANDMARTIN_KEY'\))$/);
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
  const block = substituted(blockOf('docs/smtp.md', 'relayhost'), {
    '[mail.example.com]:587': `[127.0.0.1]:${port}`,
    'sm_live_…': account.key,
  });
  const settings = Object.fromEntries(
    [...block.matchAll(/^(\w+) = (.*)$/gm)].map(([, name, value]) => [name, value]),
  );
  const instance = await startInstance(join(folder, 'postfix'), {
    main: {
      myhostname: 'app.example',
      default_transport: 'smtp',
      ...settings,
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
