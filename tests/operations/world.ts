// Where the tests of all operations happen: one service, two accounts that know nothing of each
// other, an operator, and each operation called by hand through REST, through MCP and through the
// typed client.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createKey } from '../../src/accounts/keys.ts';
import {
  ALL_SCOPES,
  expandScopes,
  OPERATOR_SCOPES,
  type Scope,
} from '../../src/accounts/scopes.ts';
import { Sandmartin, SandmartinError } from '../../src/client/sandmartin.ts';
import { OPERATIONS } from '../../src/operations/all.ts';
import type { Operation } from '../../src/operations/operation.ts';
import { systemClock } from '../../src/process/clock.ts';
import { openSignedIn } from '../dashboard/dashboard-client.ts';
import { callTool } from '../mcp/support.ts';
import { startDns, type TestDns } from '../support/dns-server.ts';
import { request, startTestService, type TestService } from '../support/service.ts';

export type Fields = Record<string, unknown>;

/** Who calls: the header fields that say it. Programs have a key, people a session. */
export interface Who {
  headers: Record<string, string>;
  key?: string;
}

export interface Party extends Who {
  accountId: number;
  /** Stands in whatever samples write, so that it is known again wherever it turns up. */
  mark: string;
}

export interface World {
  service: TestService;
  /** Fill its zone before something is checked. */
  dns: TestDns;
  /** Takes every POST; where webhooks may go. */
  receiver: string;
  ada: Party;
  bob: Party;
  operator: Who;
  /** Of an account that does not pay. */
  free: Who;
  /** A new number each time, for names that can be taken only once. */
  next(): number;
  /** The operation by its name, through REST; fails unless it answers 2xx. */
  // biome-ignore lint/suspicious/noExplicitAny: what an answer holds is what the samples are about
  done(name: string, input: Fields, who: Who): Promise<any>;
  /** A key of the account with exactly these scopes. */
  keyWith(accountId: number, scopes: readonly Scope[]): Promise<Who>;
  stop(): Promise<void>;
}

export async function startWorld(
  env: Record<string, string> = {},
  options: Parameters<typeof startTestService>[1] = {},
): Promise<World> {
  const dns = await startDns();
  const receiver = await startReceiver();
  const service = await startTestService(
    {
      WEBHOOK_ALLOW: '127.0.0.0/8',
      DNS_SERVERS: dns.address,
      SYSTEM_SENDER: 'Sandmartin <service@example.com>',
      ...env,
    },
    options,
  );
  const keyWith = async (accountId: number, scopes: readonly Scope[]): Promise<Who> => {
    const { key } = await createKey(service.database, systemClock, { accountId, scopes });
    return { headers: { 'x-api-key': key }, key };
  };
  const party = async (mark: string): Promise<Party> => {
    const { id } = await service.account();
    return { accountId: id, mark, ...(await keyWith(id, ALL_SCOPES)) };
  };
  const operator = await openSignedIn(service, { operator: true });
  const free = await service.account({ plan: 'free' });
  let numbers = 0;
  return {
    service,
    dns,
    receiver: receiver.url,
    ada: await party('adas-own'),
    bob: await party('bobs-own'),
    operator: {
      headers: { cookie: operator.cookie!, 'x-sm-dashboard': '1', origin: service.url },
    },
    free: { headers: { 'x-api-key': free.key } },
    next: () => ++numbers,
    keyWith,
    async done(name, input, who) {
      const { status, body } = await viaRest(service, operationNamed(name), input, who);
      if (status < 300) return body;
      throw new Error(`${name} answered ${status}: ${JSON.stringify(body)}`);
    },
    async stop() {
      await service.stop();
      await receiver.stop();
      await dns.close();
    },
  };
}

async function startReceiver(): Promise<{ url: string; stop(): Promise<void> }> {
  const server = createServer((posted, response) => {
    posted.resume().on('end', () => response.end());
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hooks`,
    async stop() {
      server.closeAllConnections();
      await new Promise((closed) => server.close(closed));
    },
  };
}

export function operationNamed(name: string): Operation {
  const found = OPERATIONS.find((operation) => operation.name === name);
  if (found === undefined) throw new Error(`There is no operation ${name}.`);
  return found;
}

/** Everything but this one. `admin` would bring it back. */
export const scopesWithout = (scope: Scope): Scope[] =>
  [...expandScopes(ALL_SCOPES)].filter((one) => one !== 'admin' && one !== scope);

export const isOperators = ({ scope }: Pick<Operation, 'scope'>): boolean =>
  (OPERATOR_SCOPES as readonly (Scope | null)[]).includes(scope);

/** What a door answered, in REST's terms. */
export interface Answered {
  status: number;
  // biome-ignore lint/suspicious/noExplicitAny: what an answer holds is what the tests are about
  body: any;
  headers?: Headers;
}

type Via = (
  service: Pick<TestService, 'url'>,
  operation: Operation,
  input: Fields,
  who: Who,
) => Promise<Answered>;

/** Written by hand from what OpenAPI says, so that the client is not its own judge. */
export const viaRest: Via = ({ url }, { rest: { method, path } }, input, who) => {
  const left = { ...input };
  const filled = path.replace(/\{(\w+)\}/g, (_, name: string) => {
    const value = encodeURIComponent(String(left[name]));
    delete left[name];
    return value;
  });
  if (method === 'GET' || method === 'DELETE') {
    const query = new URLSearchParams(
      Object.entries(left).map(([name, value]) => [name, String(value)] as [string, string]),
    );
    return request(`${url}${filled}?${query}`, { method, headers: who.headers });
  }
  return request(url + filled, {
    method,
    headers: { ...who.headers, 'content-type': 'application/json' },
    body: JSON.stringify(left),
  });
};

export const viaTool: Via = async (service, { name }, input, who) => {
  const { isError, content } = await callTool(service, who.key!, name, input);
  return { status: isError ? content.status : 200, body: content };
};

export const viaClient: Via = async ({ url }, { client, rest }, input, who) => {
  const sandmartin = new Sandmartin({ baseUrl: url, headers: who.headers, retries: 0 });
  let at: unknown = sandmartin;
  for (const part of client.split('.')) at = (at as Fields)[part];
  try {
    const body = await (at as (input: Fields) => Promise<unknown>)(input);
    return { status: rest.status ?? 200, body };
  } catch (error) {
    if (!(error instanceof SandmartinError)) throw error;
    const { status, code, faults, message } = error;
    return { status, body: { detail: message, code, faults } };
  }
};
