// npm run fixture: data as this version leaves it, for the upgrade test of every later one
// (tests/store/upgrade.test.ts). Run it once for a release and commit
// tests/fixtures/upgrade/VERSION; a released one is never remade.
//
// A service runs over an empty database and is used: emails get every status in the sandbox, then a
// service without delivery takes emails that stay queued. What no caller can bring about any more,
// such as old stored heads, is written by SQL.
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createAccount } from '../src/accounts/accounts.ts';
import { addDomain } from '../src/accounts/domains.ts';
import { createKey } from '../src/accounts/keys.ts';
import { readConfig } from '../src/config/config.ts';
import { readUuid } from '../src/ids.ts';
import { startService } from '../src/main.ts';
import { addUser, prepareUser, setMember } from '../src/people/users.ts';
import { systemClock } from '../src/process/clock.ts';
import { createLog } from '../src/process/log.ts';
import { VERSION } from '../src/process/version.ts';
import { openSecret } from '../src/roles/secrets.ts';
import { openEmbedded } from '../src/store/embedded/open.ts';
import { openDatabase } from '../src/store/pool.ts';
import { until } from '../tests/support/until.ts';
import { describeRows, describeSchema } from './describe-schema.ts';

const into = `tests/fixtures/upgrade/${VERSION}`;
// What a release left behind cannot be made again, and a later version would write its own.
if (existsSync(into)) {
  process.stderr.write(
    `${into} exists. Raise the version in package.json; or, if ${VERSION} is not released, remove the folder first.\n`,
  );
  process.exit(1);
}

const SECRET_KEY = 'the secret of the upgrade fixtures, known to everybody';
const PERSON = { email: 'ada@example.com', name: 'Ada', password: 'three unrelated words' };
const folder = mkdtempSync(join(tmpdir(), 'sandmartin-fixture-'));
const embedded = await openEmbedded(folder, { as: 'owner', log: () => undefined });
const receiver = createServer((request, response) => {
  request.resume().on('end', () => response.writeHead(request.url === '/ok' ? 200 : 500).end());
}).listen(0, '127.0.0.1');
const hook = (path: string) =>
  `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/${path}`;

const start = (env: Record<string, string> = {}) => {
  const config = readConfig({
    DATABASE_URL: embedded.url,
    PORT: '0',
    FEEDBACK_PORT: '0',
    LOG_LEVEL: 'warn',
    SECRET_KEY,
    WEBHOOK_ALLOW: '127.0.0.0/8',
    ...env,
  });
  return startService(config, createLog(config.logLevel));
};

let service = await start();
const { database } = service;
const account = await createAccount(database, { name: 'Acme', plan: 'paid' });
const { vault } = await openSecret(database, SECRET_KEY);
await addDomain(
  { database, vault, bounceDomain: 'bounces.example' },
  account.id,
  'example.com',
  true,
);
const owner = await addUser(database, systemClock, await prepareUser(PERSON));
await setMember(database, account.id, owner.id, 'owner');
const newKey = async (wish: Partial<Parameters<typeof createKey>[2]>) =>
  await createKey(database, systemClock, {
    accountId: account.id,
    scopes: ['email:send', 'email:read'],
    ...wish,
  });
const main = await newKey({ name: 'main', scopes: ['email:send', 'email:read', 'admin'] });
const agent = await newKey({
  name: 'agent',
  limits: { allowedRecipients: ['example.net'], dailyCap: 100 },
});
const revoked = await newKey({ name: 'revoked' });
await database.query('UPDATE api_keys SET revoked_at = now() WHERE account_id = $1 AND name = $2', [
  account.id,
  'revoked',
]);

async function call<Answer>(method: string, path: string, body?: unknown, key = main.key) {
  const response = await fetch(`${service.apiUrl}${path}`, {
    method,
    headers: { 'x-api-key': key, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
  return JSON.parse(text) as Answer;
}

const send = async (changes: Record<string, unknown>): Promise<string> => {
  const inline = { html: '<p>Hello, <a href="https://example.com/">read on</a></p>' };
  const { id } = await call<{ id: string }>('POST', '/v1/send', {
    from_email: 'Acme <hello@example.com>',
    to: ['ada@example.net'],
    subject: 'Hello',
    ...('template' in changes ? {} : inline),
    ...changes,
  });
  return id;
};

const endpoint = await call<{ secret: string }>('POST', '/v1/webhooks', { url: hook('ok') });
await call('POST', '/v1/webhooks', { url: hook('down'), event_types: ['bounce'] });
await call('PATCH', '/v1/branding', { brand_name: 'Acme', primary_color: '#123456' });
await call('PUT', '/v1/templates/order-note', {
  name: 'Order note',
  category: 'orders',
  description: 'A note about an order.',
  subject: 'Order {{ number }}',
  html: '<p>{{ branding.brand_name }} packed order {{ number }}.</p>',
  variables: [{ name: 'number', required: true, type: 'string', description: 'Its number.' }],
  sample: { number: '4711' },
});
await call('POST', '/v1/templates/order-note/publish', { version: 1 });
await call('PUT', '/v1/suppressions/nobody@example.net', {});

// ---- every status; the last one is still under way when the service stops

type Timeline = { status: string; events: { type: string }[] };
const timeline = (id: string) => call<Timeline>('GET', `/v1/messages/${id}`);
const told: Record<string, string> = {};
for (const [status, to] of [
  ['delivered', 'delivered@simulator.test'],
  ['opened', 'opened@simulator.test'],
  ['clicked', 'clicked@simulator.test'],
  ['bounced', 'bounce@simulator.test'],
  ['complained', 'complaint@simulator.test'],
] as const) {
  told[status] = await send({ to: [to], tags: [status] });
  await until(async () => (await timeline(told[status]!)).status === status);
}
await until(async () => {
  const failed = await database.query(`SELECT FROM webhook_due WHERE attempts = 1`);
  return failed.length > 0;
});
const greylisted = await send({ to: ['greylist@simulator.test'] });
await until(async () => (await database.query('SELECT FROM delivery_attempts')).length > 0);
told.sent = await send({ to: ['delayed@simulator.test'] });
await until(async () => (await timeline(told.sent!)).status === 'sent');
const stories = Object.fromEntries(
  await Promise.all(
    Object.values(told).map(async (id) => {
      const { status, events } = await timeline(id);
      return [id, { status, types: events.map(({ type }) => type) }] as const;
    }),
  ),
);
const [captured] = await database.query<{ raw: Buffer }>(
  `SELECT raw FROM sandbox_mails WHERE 'delivered@simulator.test' = ANY (recipients)`,
);
// The pixel's address, out of quoted-printable.
const pixel = /https?:\/\/[^/"]+(\/o\/[^"]+)"/.exec(
  captured!.raw.toString().replace(/=\r\n/g, '').replace(/=3D/g, '='),
)?.[1];
await service.stop();

// ---- what stays queued

service = await start({ ROLES: 'api' });
const { database: later } = service;
const filesOf = (sizes: number[]) =>
  sizes.map((size, n) => ({
    filename: `${n}.pdf`,
    content_type: 'application/pdf',
    content_base64: Buffer.alloc(size, 'x').toString('base64'),
  }));
const queued = {
  plain: await send({}),
  rich: await send({
    cc: ['Bo <bo@example.net>'],
    bcc: ['cy@example.net'],
    attachments: filesOf([3]),
  }),
  template: await send({ template: 'order-note', variables: { number: '7' }, subject: undefined }),
  suppressed: await send({ to: ['nobody@example.net'] }),
};
const { heads } = JSON.parse(readFileSync('tests/fixtures/stored-heads.json', 'utf8')) as {
  heads: { form: number; written: string }[];
};
const byForm: Record<string, string> = {};
/** In which the head of form 5 has its places. */
const TREE =
  '--a\r\n\r\nHello\r\n--a\r\nContent-Type: application/pdf; name=a.pdf\r\nContent-Transfer-Encoding: base64\r\n\r\nYWJj\r\n--a--\r\n';
for (const { form, written } of heads) {
  const { attachments } = JSON.parse(written) as { attachments: { size: number }[] };
  byForm[form] = await send({ attachments: filesOf(attachments.map(({ size }) => size)) });
  await later.query('UPDATE contents SET head = $3 WHERE account_id = $1 AND message_id = $2', [
    account.id,
    readUuid('msg_', byForm[form]!),
    Buffer.from(written),
  ]);
  if (!written.includes('"mime"')) continue;
  await later.query(
    `UPDATE contents SET html = NULL, text = NULL, attachments = $3
     WHERE account_id = $1 AND message_id = $2`,
    [account.id, readUuid('msg_', byForm[form]!), Buffer.from(TREE)],
  );
}
const setAside = await send({});
await later.query(
  `UPDATE due_messages SET state = 'set aside', set_aside_at = now(), reason = 'damaged'
   WHERE account_id = $1 AND message_id = $2`,
  [account.id, readUuid('msg_', setAside)],
);
await service.stop();

// ---- the fixture

const dump = openDatabase(embedded.url, { connections: 1, onIdleError: () => undefined });
mkdirSync(into, { recursive: true });
writeFileSync(`${into}/schema.sql`, await describeSchema(dump, { whole: true }));
writeFileSync(`${into}/rows.json`, await describeRows(dump));
const facts = {
  secretKey: SECRET_KEY,
  accountId: account.id,
  person: PERSON,
  keys: { main: main.key, agent: agent.key, revoked: revoked.key },
  webhookSecret: endpoint.secret,
  stories,
  queued: { ...queued, heads: byForm },
  greylisted,
  setAside,
  pixel: { id: told.delivered, path: pixel },
};
writeFileSync(`${into}/facts.json`, `${JSON.stringify(facts, null, 2)}\n`);
await dump.close();
await embedded.stop();
receiver.close();
rmSync(folder, { recursive: true, force: true });
