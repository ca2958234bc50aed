// Whoever gets a copy of the database gets no secret with it: one of each kind is issued over a
// running service, then every table is read and searched for all of them.
import PostalMime from 'postal-mime';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createKey } from '../../src/accounts/keys.ts';
import { ALL_SCOPES } from '../../src/accounts/scopes.ts';
import { systemClock } from '../../src/process/clock.ts';
import { codeNow, fromBase32 } from '../dashboard/app-codes.ts';
import {
  type DashboardClient,
  makeUser,
  openClient,
  openSignedIn,
  PASSWORD,
} from '../dashboard/dashboard-client.ts';
import {
  anEmail,
  startTestService,
  type TestAccount,
  type TestService,
} from '../support/service.ts';
import { type SmtpSink, startSink } from '../support/smtp-sink.ts';
import { until } from '../support/until.ts';

const SECRET_KEY = 'the secret of this installation, long enough';
const RELAY_PASSWORD = 'relay-password-of-an-operator';
let sink: SmtpSink;
let service: TestService;
let account: TestAccount;
let owner: DashboardClient & { email: string };
beforeAll(async () => {
  sink = await startSink();
  service = await startTestService({
    ...{ SECRET_KEY, RELAY_URL: sink.url },
    ...{ SYSTEM_SENDER: 'Sandmartin <no-reply@example.com>', WEBHOOK_ALLOW: '127.0.0.0/8' },
  });
  account = await service.account();
  const { email } = await makeUser(service.database, { accountId: account.id });
  owner = Object.assign(openClient(service.url), { email });
  await owner.call('signIn', { body: { email, password: PASSWORD } });
});
afterAll(async () => {
  await service.stop();
  await sink.stop();
});

/** What stands behind `mark` in the email that this person gets. */
async function mailed(to: string, mark: string): Promise<string> {
  return await until(async () => {
    for (const { raw } of sink.emails.filter(({ recipients }) => recipients.includes(to))) {
      const { text = '', html = '' } = await PostalMime.parse(raw);
      const found = new RegExp(`${mark}([\\w.~-]{16,})`).exec(`${text} ${html}`);
      if (found !== null) return found[1]!;
    }
    return undefined;
  });
}

async function issueEverything(): Promise<Record<string, string | Buffer>> {
  const operator = await openSignedIn(service, { operator: true });
  const { secret: key } = await owner.api.keys.create({ name: 'program', scopes: [...ALL_SCOPES] });
  const url = 'http://127.0.0.1:9009/hook';
  const { id, secret } = await owner.api.webhooks.create({ url });
  const rotated = await owner.api.webhooks.rotate({ id });
  await owner.api.domains.put({ domain: 'signed.example' });
  await operator.api.relays.add({
    ...{ name: 'second', url: `smtp://user:${RELAY_PASSWORD}@127.0.0.1:9` },
    ...{ untested: true, enabled: false },
  });
  await owner.api.team.invite({ email: 'new@people.example', role: 'viewer' });
  await owner.api.addresses.put({ address: 'me@elsewhere.example' });
  await openClient(service.url).call('askForReset', { body: { email: owner.email } });
  const { key: agent } = await createKey(service.database, systemClock, {
    ...{ accountId: account.id, scopes: ['email:send'], limits: { approval: 'always' } },
  });
  expect((await service.send(agent, anEmail())).status).toBe(202);
  const links = {
    invitation: await mailed('new@people.example', '/invitation#'),
    'new password': await mailed(owner.email, '/new-password#'),
    'address proof': await mailed('me@elsewhere.example', '/verify/'),
    approval: await mailed(owner.email, '/approve/'),
  };
  const { secret: app } = await owner.call('startApp', {});
  const code = codeNow(fromBase32(app));
  const { codes } = await owner.call('confirmApp', { body: { code } });
  return {
    ...{ 'API key': key, 'agent’s key': agent, 'webhook secret': secret },
    ...{ 'next webhook secret': rotated.secret, 'relay’s password': RELAY_PASSWORD },
    ...{ session: owner.cookie!.split('=')[1]!, password: PASSWORD, SECRET_KEY: SECRET_KEY },
    ...links,
    ...{ 'authenticator app': app, 'its bytes': fromBase32(app), 'recovery code': codes![0]! },
    // PKCS #8, up to where the key itself begins.
    'RSA key for DKIM': Buffer.from('300d06092a864886f70d0101010500048204', 'hex'),
    'Ed25519 key for DKIM': Buffer.from('300506032b657004220420', 'hex'),
  };
}

/** As text, in which bytes are hexadecimal. */
async function everyRow(): Promise<Map<string, string>> {
  const tables = await service.database.query<{ name: string }>(
    `SELECT c.oid::regclass::text AS name FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
     WHERE c.relkind IN ('r', 'p') AND NOT c.relispartition AND n.nspname NOT LIKE 'pg%'
       AND n.nspname <> 'information_schema'`,
  );
  const all = new Map<string, string>();
  for (const { name } of tables) {
    const rows = await service.database.query<{ row: string }>(
      `SELECT t::text AS row FROM ${name} t`,
    );
    all.set(name, rows.map(({ row }) => row).join('\n'));
  }
  return all;
}

/** Written as it is, or as bytes, or as the text of those. */
function formsOf(secret: string | Buffer): string[] {
  const bytes = Buffer.from(secret as string);
  return [
    ...(typeof secret === 'string' ? [secret] : []),
    ...[bytes.toString('hex'), bytes.toString('base64').replace(/=+$/, '')],
    bytes.toString('base64url'),
  ];
}

it('every table is without every secret, once what was emailed is handed over', async () => {
  const secrets = await issueEverything();
  for (const [kind, secret] of Object.entries(secrets)) {
    expect(secret.length, kind).toBeGreaterThanOrEqual(8);
  }
  await until(async () => (await service.database.query('SELECT FROM due_messages')).length === 0);
  const rows = await everyRow();
  expect(rows.size).toBeGreaterThan(30);
  expect(rows.get('messages')).toContain('new@people.example');
  const found = [...rows].flatMap(([table, text]) =>
    Object.entries(secrets)
      .filter(([, secret]) => formsOf(secret).some((form) => text.includes(form)))
      .map(([kind]) => `${kind} in ${table}`),
  );
  expect(found).toEqual([]);
});
