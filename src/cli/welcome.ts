// The welcome: on the very first start in the sandbox a demo account with a key, so that the first mail is one paste away.
import { createAccount } from '../accounts/accounts.ts';
import { addIdentity } from '../accounts/identities.ts';
import { createKey, SCOPES } from '../accounts/keys.ts';
import { systemClock } from '../clock.ts';
import type { Config } from '../config.ts';
import type { Service } from '../main.ts';
import type { Database } from '../store/pool.ts';

export interface Welcome {
  /** The demo account's key; null when accounts exist already. */
  key: string | null;
}

const DEMO_DOMAIN = 'demo.example';
const WELCOME_LOCK = 7_263_003;

/** Makes the demo account in an empty sandbox, once, also when several processes start together. */
export async function openWelcome(config: Config, database: Database): Promise<Welcome> {
  if (config.relayUrl !== undefined || !config.roles.has('api')) return { key: null };
  return await database.transaction(async (client) => {
    await client.query('SELECT pg_advisory_xact_lock($1)', [WELCOME_LOCK]);
    const [row] = await client.query<{ some: boolean }>(
      'SELECT EXISTS (SELECT FROM accounts) AS some',
    );
    if (row?.some) return { key: null };
    const account = await createAccount(client, { name: 'Demo', plan: 'paid' });
    await addIdentity(client, account.id, DEMO_DOMAIN, true);
    const { key } = await createKey(client, systemClock, {
      accountId: account.id,
      scopes: SCOPES,
      name: 'demo',
    });
    return { key };
  });
}

export function showBanner(config: Config, service: Service, welcome: Welcome): void {
  process.stdout.write(`${bannerLines(config, service, welcome).join('\n')}\n`);
}

function bannerLines(config: Config, service: Service, welcome: Welcome): string[] {
  const roles = [...config.roles].join(', ');
  if (service.apiUrl === undefined) return ['', `  Sandmartin is running (${roles}).`, ''];
  return [
    '',
    '  Sandmartin is running.',
    '',
    `  API        ${service.apiUrl}   (described at ${service.apiUrl}/openapi.json)`,
    config.relayUrl === undefined
      ? '  Relay      sandbox: every mail is captured, none leaves. See it with: npx sandmartin sandbox list'
      : '  Relay      the one in RELAY_URL',
    ...(welcome.key === null ? laterStart() : firstStart(service.apiUrl, welcome.key)),
    '',
  ];
}

function firstStart(apiUrl: string, key: string): string[] {
  const mail = JSON.stringify({
    from_email: `Demo <hello@${DEMO_DOMAIN}>`,
    to: ['ada@example.com'],
    subject: 'My first mail',
    html: '<h1>It works!</h1><p>Sent with Sandmartin.</p>',
  });
  return [
    `  API key    ${key}   (demo account; shown this once)`,
    '',
    '  Send a mail:',
    '',
    `SENT=$(curl -sS ${apiUrl}/v1/send -H 'X-API-Key: ${key}' -H 'Content-Type: application/json' -d '${mail}'); echo "$SENT"`,
    '',
    '  Read its timeline:',
    '',
    `curl -sS ${apiUrl}/v1/messages/$(echo "$SENT" | cut -d'"' -f4) -H 'X-API-Key: ${key}'`,
  ];
}

const laterStart = (): string[] => [
  '  API key    as before. A new one: npx sandmartin key create --account 1 --scope email:send --scope email:read',
];
