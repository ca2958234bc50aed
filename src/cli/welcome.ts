// The welcome: on the very first start in the sandbox a demo account with a key and a login, so
// that the first email is one paste away. Elsewhere, while nobody can sign in, the link with which
// the first owner sets up the service.
import { createAccount } from '../accounts/accounts.ts';
import { addIdentity } from '../accounts/identities.ts';
import { createKey } from '../accounts/keys.ts';
import { EMAIL_SCOPES } from '../accounts/scopes.ts';
import type { Config } from '../config/config.ts';
import type { Service } from '../main.ts';
import { generatePassword } from '../people/passwords.ts';
import { addUser, noUsersYet, prepareUser, setMember } from '../people/users.ts';
import { systemClock } from '../process/clock.ts';
import { type Database, joined, type Queryable } from '../store/pool.ts';

export interface Welcome {
  /** How to use the demo account; null if accounts already exist. */
  demo: { key: string; email: string; password: string } | null;
  /** Nobody can sign in to the dashboard yet. */
  toBeSetUp: boolean;
}

const DEMO_DOMAIN = 'demo.example';
const DEMO_EMAIL = `owner@${DEMO_DOMAIN}`;
const WELCOME_LOCK = 7_263_003;

/** Makes the demo account in an empty sandbox, once, even when several processes start together. */
export async function openWelcome(config: Config, database: Database): Promise<Welcome> {
  const isDemo = config.relayUrl === undefined && config.roles.has('api');
  if (isDemo && (await isEmpty(database))) {
    // The password takes a moment to hash, so this comes before the lock.
    const password = generatePassword();
    const owner = await prepareUser({
      ...{ email: DEMO_EMAIL, name: 'Demo', password },
      operator: true,
    });
    const key = await database.transaction(async (client) => {
      await client.query('SELECT pg_advisory_xact_lock($1)', [WELCOME_LOCK]);
      return (await isEmpty(client)) ? await makeDemo(client, owner) : null;
    });
    if (key !== null) return { demo: { key, email: DEMO_EMAIL, password }, toBeSetUp: false };
  }
  return { demo: null, toBeSetUp: await noUsersYet(database) };
}

async function isEmpty(database: Queryable): Promise<boolean> {
  const [row] = await database.query<{ some: boolean }>(
    'SELECT EXISTS (SELECT 1 FROM accounts) OR EXISTS (SELECT 1 FROM users) AS some',
  );
  return !row?.some;
}

async function makeDemo(
  client: Queryable,
  owner: Awaited<ReturnType<typeof prepareUser>>,
): Promise<string> {
  const account = await createAccount(client, { name: 'Demo', plan: 'paid' });
  await addIdentity(client, account.id, DEMO_DOMAIN, true);
  const { key } = await createKey(joined(client), systemClock, {
    accountId: account.id,
    scopes: EMAIL_SCOPES,
    name: 'demo',
  });
  // After the key: it is printed for its owner and needs no notice.
  const user = await addUser(client, systemClock, owner);
  await setMember(client, account.id, user.id, 'owner');
  return key;
}

/** The banner for programs. */
export function summary({ apiUrl, setUpUrl }: Service, { demo, toBeSetUp }: Welcome) {
  return { url: apiUrl ?? null, demo, set_up_url: toBeSetUp ? (setUpUrl ?? null) : null };
}

export function bannerLines(config: Config, service: Service, welcome: Welcome): string[] {
  const roles = [...config.roles].join(', ');
  if (service.apiUrl === undefined) return ['', `  Sandmartin is running (${roles}).`, ''];
  return [
    '',
    '  Sandmartin is running.',
    '',
    `  API        ${service.apiUrl}   (described at ${service.apiUrl}/openapi.json)`,
    config.relayUrl === undefined
      ? '  Relay      sandbox: every email is captured, none is delivered. See it with: npx sandmartin sandbox list'
      : '  Relay      the one in RELAY_URL',
    ...smtpLines(config, service),
    ...dashboardLines(service, welcome),
    ...keyLines(service.apiUrl, welcome),
    '',
  ];
}

/** Where programs send by SMTP, if they can. */
function smtpLines({ smtp }: Config, { smtpPort, smtpsPort }: Service): string[] {
  const ports = [smtpPort, smtpsPort && `${smtpsPort} (TLS)`].filter(Boolean);
  if (ports.length === 0) return [];
  return [
    `  SMTP       ${smtp.host}, port ${ports.join(' and ')}: any username, an API key as the password`,
  ];
}

function dashboardLines({ apiUrl, setUpUrl }: Service, { demo, toBeSetUp }: Welcome): string[] {
  if (toBeSetUp) return [`  Dashboard  nobody can sign in yet. Set it up, once: ${setUpUrl}`];
  return [
    `  Dashboard  ${apiUrl}/`,
    ...(demo === null
      ? []
      : [`  Login      ${demo.email} with the password ${demo.password}   (shown only once)`]),
  ];
}

function keyLines(apiUrl: string, { demo, toBeSetUp }: Welcome): string[] {
  if (demo !== null) return firstStart(apiUrl, demo.key);
  return toBeSetUp ? [] : LATER_START;
}

function firstStart(apiUrl: string, key: string): string[] {
  const email = JSON.stringify({
    from_email: `Demo <hello@${DEMO_DOMAIN}>`,
    to: ['ada@example.com'],
    subject: 'My first email',
    html: '<h1>It works!</h1><p>Sent with Sandmartin.</p>',
  });
  return [
    `  API key    ${key}   (demo account; shown only once)`,
    '',
    '  Send an email:',
    '',
    `SENT=$(curl -sS ${apiUrl}/v1/send -H 'X-API-Key: ${key}' -H 'Content-Type: application/json' -d '${email}'); echo "$SENT"`,
    '',
    '  Read its timeline:',
    '',
    `curl -sS ${apiUrl}/v1/messages/$(echo "$SENT" | cut -d'"' -f4) -H 'X-API-Key: ${key}'`,
  ];
}

const LATER_START = [
  '  API key    unchanged. To create another: npx sandmartin key create --account 1 --scope email:send --scope email:read',
];
