// A running service for a test file: the real server on a real database, in this process, on free
// ports.
import { createAccount } from '../../src/accounts/accounts.ts';
import { addIdentity } from '../../src/accounts/identities.ts';
import { createKey } from '../../src/accounts/keys.ts';
import { EMAIL_SCOPES, type Scope } from '../../src/accounts/scopes.ts';
import { readConfig } from '../../src/config/config.ts';
import { type Service, type ServiceOptions, startService } from '../../src/main.ts';
import { systemClock } from '../../src/process/clock.ts';
import { createLog } from '../../src/process/log.ts';
import type { Database } from '../../src/store/pool.ts';
import { createTestDatabase, type TestDatabase } from './database.ts';

export interface TestAccount {
  id: number;
  key: string;
}

export interface TestService {
  url: string;
  feedbackPort: number;
  databaseUrl: string;
  database: Database;
  service: Service;
  /** A paying account with a key of both scopes, allowed to send from example.com. */
  account(wish?: AccountWish): Promise<TestAccount>;
  send(
    key: string,
    email: Record<string, unknown>,
    headers?: Record<string, string>,
  ): Promise<Answer>;
  get(key: string, path: string): Promise<Answer>;
  stop(): Promise<void>;
}

export interface AccountWish {
  plan?: 'paid' | 'free';
  dailyQuota?: number;
  ratePerSecond?: number;
  scopes?: readonly Scope[];
  identities?: string[];
}

export interface Answer {
  status: number;
  headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: what an answer holds is what the tests are about
  body: any;
}

export async function startTestService(
  env: Record<string, string> = {},
  options: ServiceOptions & { on?: TestDatabase } = {},
): Promise<TestService> {
  const test = options.on ?? (await createTestDatabase());
  const config = readConfig({
    PORT: '0',
    FEEDBACK_PORT: '0',
    LOG_LEVEL: process.env.LOG_LEVEL ?? 'silent',
    DATABASE_URL: test.url,
    ...env,
  });
  const service = await startService(config, createLog(config.logLevel), options);
  const url = service.apiUrl ?? '';
  return {
    url,
    feedbackPort: service.feedbackPort ?? 0,
    databaseUrl: test.url,
    database: test.database,
    service,
    account: (wish) => makeAccount(test.database, wish),
    send: (key, email, headers) =>
      request(`${url}/v1/send`, {
        method: 'POST',
        headers: { 'x-api-key': key, 'content-type': 'application/json', ...headers },
        body: JSON.stringify(email),
      }),
    get: (key, path) => request(`${url}${path}`, { headers: { 'x-api-key': key } }),
    async stop() {
      await service.stop();
      if (options.on === undefined) await test.drop();
    },
  };
}

export async function makeAccount(
  database: Database,
  wish: AccountWish = {},
): Promise<TestAccount> {
  const account = await createAccount(database, {
    name: 'Test',
    plan: wish.plan ?? 'paid',
    ...(wish.dailyQuota === undefined ? {} : { dailyQuota: wish.dailyQuota }),
    ratePerSecond: wish.ratePerSecond ?? 10_000,
  });
  for (const identity of wish.identities ?? ['example.com']) {
    await addIdentity(database, account.id, identity, true);
  }
  const { key } = await createKey(database, systemClock, {
    accountId: account.id,
    scopes: wish.scopes ?? EMAIL_SCOPES,
  });
  return { id: account.id, key };
}

export async function request(url: string, init?: RequestInit): Promise<Answer> {
  const response = await fetch(url, init);
  const text = await response.text();
  return {
    status: response.status,
    headers: response.headers,
    body: text === '' ? null : JSON.parse(text),
  };
}

/** An email that is accepted as it is. */
export const anEmail = (changes: Record<string, unknown> = {}): Record<string, unknown> => ({
  from_email: 'Acme <hello@example.com>',
  to: ['ada@example.net'],
  subject: 'Hello',
  html: '<p>Hello!</p>',
  text: 'Hello!',
  ...changes,
});
