// The typed client over a bad connection: what it retries, what it does not, and what it says then.
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { Sandmartin, SandmartinError } from '../../src/client/sandmartin.ts';
import {
  anEmail,
  startTestService,
  type TestAccount,
  type TestService,
} from '../support/service.ts';

/** What happens to a request on its way; without it the answer comes back as it is. */
type Mishap = (answered: { status: number; body: string }, response: ServerResponse) => void;

let service: TestService;
let account: TestAccount;
let way: Server;
let mishaps: Mishap[];
let seen: IncomingMessage[];
let client: Sandmartin;

beforeAll(async () => {
  service = await startTestService({ ROLES: 'api' });
  account = await service.account({ scopes: ['email:send', 'admin'] });
  way = createServer(async (request, response) => {
    seen.push(request);
    const mishap = mishaps.shift();
    const named = ['x-api-key', 'content-type', 'idempotency-key'] as const;
    const onward = await fetch(service.url + request.url, {
      method: request.method!,
      headers: named.flatMap((name): [string, string][] =>
        request.headers[name] === undefined ? [] : [[name, String(request.headers[name])]],
      ),
      ...(request.method === 'GET' ? {} : { body: await text(request) }),
    });
    const answered = { status: onward.status, body: await onward.text() };
    if (mishap !== undefined) return mishap(answered, response);
    response.writeHead(answered.status, { 'content-type': 'application/json' }).end(answered.body);
  });
  await new Promise<void>((listening) => way.listen(0, '127.0.0.1', listening));
  const baseUrl = `http://127.0.0.1:${(way.address() as AddressInfo).port}/`;
  client = new Sandmartin({ baseUrl, apiKey: account.key });
});
beforeEach(() => {
  [mishaps, seen] = [[], []];
});
afterAll(async () => {
  way?.closeAllConnections();
  way?.close();
  await service?.stop();
});

const cut: Mishap = (_, { socket }) => void socket!.destroy();
const cutWithin: Mishap = ({ body }, response) => {
  response.writeHead(202, { 'content-length': body.length });
  response.write(body.slice(0, 5), () => response.socket!.destroy());
};
const badGateway: Mishap = (_, response) =>
  void response.writeHead(502).end('<h1>Bad Gateway</h1>');
const unavailable: Mishap = (_, response) => {
  response.writeHead(503, { 'retry-after': '20' }).end('{"detail":"Later.","code":"unavailable"}');
};

const messages = () => service.database.query('SELECT FROM messages');

it.each([
  ['before', cut],
  ['within', cutWithin],
])(
  'a send whose answer is lost %s its first byte is repeated, and one email goes out',
  async (_, lost) => {
    const before = (await messages()).length;
    mishaps = [lost, badGateway];
    const { id } = await client.send(anEmail() as never);
    const keys = seen.map(({ headers }) => headers['idempotency-key']);
    expect([keys.length, new Set(keys).size]).toEqual([3, 1]);
    expect((await messages()).length).toBe(before + 1);
    expect(await client.messages.details({ sm_mail_id: id })).toMatchObject({ id });
  },
);

it('what must not be done twice is not repeated, whoever in between says that it failed', async () => {
  for (const mishap of [cut, cutWithin, badGateway, unavailable]) {
    [mishaps, seen] = [[mishap], []];
    const made = client.keys.create({ name: 'once', scopes: ['templates:read'] });
    await expect(made).rejects.toBeInstanceOf(SandmartinError);
    expect(seen).toHaveLength(1);
  }
  const { data } = await client.keys.list({ limit: 100 });
  expect(data.filter(({ name }) => name === 'once')).toHaveLength(4);
});

it('who gives up waits no longer, and is not told that the service is away', async () => {
  mishaps = [unavailable, unavailable, unavailable];
  const giving = new AbortController();
  const listed = client.keys.list({}, { signal: giving.signal }).then();
  await expect.poll(() => seen.length).toBe(1);
  giving.abort();
  await expect(listed).rejects.toMatchObject({ name: 'AbortError' });
  expect(seen).toHaveLength(1);
  await expect(client.send(anEmail() as never, { signal: giving.signal })).rejects.toMatchObject({
    name: 'AbortError',
  });
});

it('an answer of someone else says what to check', async () => {
  mishaps = [(_, response) => void response.writeHead(200).end('<title>Welcome</title>')];
  await expect(client.usage.get()).rejects.toMatchObject({
    name: 'SandmartinError',
    message: expect.stringContaining('baseUrl'),
  });
});
