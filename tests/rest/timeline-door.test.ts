// GET /v1/messages/{id} straight off the socket: whoever asks for whatever, the answer is the one
// that node:http and the framework give.
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { once } from 'node:events';
import { Agent, get, type IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { anEmail, startTestService, type TestService } from '../support/service.ts';

let service: TestService;
const keys: Record<string, string> = {};
let id: string;
/** How many requests node:http has read. */
let byNode = 0;
const count = () => void byNode++;

beforeAll(async () => {
  service = await startTestService();
  keys.owner = (await service.account()).key;
  keys.another = (await service.account()).key;
  keys.sender = (await service.account({ scopes: ['email:send'] })).key;
  keys.free = (await service.account({ plan: 'free' })).key;
  keys.unknown = 'sm_live_nobody';
  id = (await service.send(keys.owner, anEmail())).body.id;
  subscribe('http.server.request.start', count);
});
afterAll(async () => {
  unsubscribe('http.server.request.start', count);
  for (const agent of Object.values(connections)) agent.destroy();
  await service?.stop();
});

/** A connection stays with node:http once that has read from it. */
const connections = { short: new Agent({ keepAlive: true }), long: new Agent({ keepAlive: true }) };

async function ask(way: keyof typeof connections, name: string, headers: Record<string, string>) {
  const asked = get(`${service.url}/v1/messages/${name}`, {
    agent: connections[way],
    headers: { ...headers, 'x-request-id': 'the-same' },
  });
  const [answer] = (await once(asked, 'response')) as [IncomingMessage];
  const { date: _, ...kept } = answer.headers;
  return { status: answer.statusCode, headers: kept, body: JSON.parse(await text(answer)) };
}

/** An encoded letter makes it unusual, and means the same. */
async function askBothWays(name: string, headers: Record<string, string>) {
  const before = byNode;
  const short = await ask('short', name, headers);
  expect(byNode, 'read by node:http').toBe(before);
  const encoded = `%${name.charCodeAt(0).toString(16)}${name.slice(1)}`;
  expect(await ask('long', encoded, headers)).toEqual(short);
  expect(byNode).toBe(before + 1);
  return short;
}

it.each([
  ['the owner', 200, 'owner'],
  ['another account', 404, 'another'],
  ['a key that may only send', 403, 'sender'],
  ['an account that does not pay', 402, 'free'],
  ['an unknown key', 401, 'unknown'],
])('%s', async (_, status, who) => {
  expect(await askBothWays(id, { 'x-api-key': keys[who]! })).toMatchObject({ status });
  expect(await askBothWays(id, { authorization: `Bearer ${keys[who]}` })).toMatchObject({ status });
});

it.each(['msg_00000000000000000000000000', 'nothing', 'msg_', '-'])(
  'no such message: %s',
  async (name) => {
    expect(await askBothWays(name, { 'x-api-key': keys.owner! })).toMatchObject({ status: 404 });
  },
);

it('without a key, it is left to whoever knows people’s sessions', async () => {
  const before = byNode;
  expect(await ask('long', id, {})).toMatchObject({ status: 401 });
  expect(byNode).toBe(before + 1);
});

// Timelines that are asked for together are read in one statement.
it('of a hundred questions at once by two accounts, each gets its own answer', async () => {
  const own: Record<string, string[]> = { owner: [], another: [] };
  for (let n = 0; n < 5; n++) {
    for (const who of ['owner', 'another']) {
      own[who]!.push((await service.send(keys[who]!, anEmail())).body.id);
    }
  }
  const names = [...own.owner!, ...own.another!, 'msg_00000000000000000000000000'];
  const asked = Array.from({ length: 5 }, () => names)
    .flat()
    .flatMap((name) => [
      { name, who: 'owner' },
      { name, who: 'another' },
    ]);
  const answers = await Promise.all(
    asked.map(({ name, who }) => service.get(keys[who]!, `/v1/messages/${name}`)),
  );
  asked.forEach(({ name, who }, index) => {
    const { status, body } = answers[index]!;
    expect([status, body.sm_mail_id]).toEqual(
      own[who]!.includes(name) ? [200, name] : [404, undefined],
    );
  });
});
