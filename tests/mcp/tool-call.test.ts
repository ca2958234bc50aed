// The short path for tools/call returns the same JSON, in the same order, as the official package,
// or leaves it the request; and straight off the socket the same as through node:http.
import { Agent, request as httpRequest } from 'node:http';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { AgentLimits } from '../../src/accounts/agent-limits.ts';
import { createKey } from '../../src/accounts/keys.ts';
import type { Scope } from '../../src/accounts/scopes.ts';
import { readToolCall } from '../../src/mcp/tool-call.ts';
import { systemClock } from '../../src/process/clock.ts';
import { anEmail, startTestService, type TestService } from '../support/service.ts';
import { ERAS, post, rpc } from './support.ts';

let service: TestService;
let account: number;
let key: string;
beforeAll(async () => {
  service = await startTestService();
  ({ id: account, key } = await service.account());
});
afterAll(() => service.stop());

const read = (headers: Record<string, string>, body: unknown) =>
  readToolCall((name) => headers[name], body);

describe.each(ERAS)('%s', (era) => {
  const calls: [string, Record<string, unknown>][] = [
    ['a result', { name: 'list_templates', arguments: { category: 'team' } }],
    ['a result without arguments', { name: 'list_templates' }],
    ['a refusal', { name: 'get_template', arguments: { slug: 'nothing-like-it' } }],
    ['an error in the arguments', { name: 'get_template', arguments: { slag: 'x' } }],
  ];
  it.each(calls)('%s', async (_name, params) => {
    const short = rpc(era, 'tools/call', params);
    expect(read(short.headers, short.body)).toBeDefined();
    // An unknown field beside the parameters changes nothing for the package, and the short path
    // does not take it.
    const long = { ...short, body: { ...short.body, params: { ...params, ...extra(short.body) } } };
    expect(read(long.headers, long.body)).toBeUndefined();
    const answers = await Promise.all(
      [short, long].map((it) => post(`${service.url}/mcp`, key, it)),
    );
    expect(answers[0]).toMatchObject({ status: 200 });
    expect(JSON.stringify(answers[0]!.body)).toBe(JSON.stringify(answers[1]!.body));
    expect(answers[0]!.headers.get('content-type')).toBe(answers[1]!.headers.get('content-type'));
  });
});

const extra = (body: Record<string, unknown>): Record<string, unknown> => ({
  ...(body.params as Record<string, unknown>),
  unheard_of: 1,
});

it('a token for progress changes nothing for clients of the older protocol', async () => {
  const answers = [];
  for (const _meta of [
    undefined,
    {},
    { progressToken: 3, 'acme/id': 'x' },
    { progressToken: 'a' },
  ]) {
    const params = { name: 'list_templates', arguments: { category: 'team' }, _meta };
    const call = rpc('legacy', 'tools/call', params);
    expect(read(call.headers, call.body)?.era).toBe('legacy');
    const long = { ...call, body: { ...call.body, params: { ...params, unheard_of: 1 } } };
    for (const it of [call, long]) answers.push((await post(`${service.url}/mcp`, key, it)).body);
  }
  expect(new Set(answers.map((it) => JSON.stringify(it))).size).toBe(1);
});

describe('what is not exactly right is left to the package', () => {
  const modern = rpc('modern', 'tools/call', { name: 'list_templates', arguments: {} });
  const legacy = rpc('legacy', 'tools/call', { name: 'list_templates', arguments: {} });
  const params = (changes: object) => ({
    ...modern.body,
    params: { ...(modern.body.params as object), ...changes },
  });
  const meta = (changes: object) =>
    params({ _meta: { ...(modern.body.params as { _meta: object })._meta, ...changes } });
  const cases: [string, Record<string, string>, unknown][] = [
    ['another method', modern.headers, { ...modern.body, method: 'tools/list' }],
    ['no id', modern.headers, { ...modern.body, id: undefined }],
    ['an id that is null', modern.headers, { ...modern.body, id: null }],
    ['an id that is a fraction', modern.headers, { ...modern.body, id: 1.5 }],
    ['JSON-RPC 1', modern.headers, { ...modern.body, jsonrpc: '1.0' }],
    ['a batch', legacy.headers, [legacy.body]],
    ['no name', modern.headers, params({ name: undefined })],
    ['arguments that are a list', modern.headers, params({ arguments: [] })],
    ['arguments that are null', modern.headers, params({ arguments: null })],
    ['answers to questions', modern.headers, params({ inputResponses: {} })],
    ['a progress token', modern.headers, meta({ progressToken: 1 })],
    [
      'another revision',
      modern.headers,
      meta({ 'io.modelcontextprotocol/protocolVersion': '2030-01-01' }),
    ],
    ['no client info', modern.headers, meta({ 'io.modelcontextprotocol/clientInfo': undefined })],
    [
      'odd capabilities',
      modern.headers,
      meta({ 'io.modelcontextprotocol/clientCapabilities': [] }),
    ],
    ['another tool in the header', { ...modern.headers, 'mcp-name': 'send_email' }, modern.body],
    ['another method in the header', { ...modern.headers, 'mcp-method': 'ping' }, modern.body],
    ['no version in the header', { ...modern.headers, 'mcp-protocol-version': '' }, modern.body],
    ['a header of the new era without its envelope', modern.headers, legacy.body],
    [
      'a version nobody knows',
      { ...legacy.headers, 'mcp-protocol-version': '1999-01-01' },
      legacy.body,
    ],
    ['another content type', { ...legacy.headers, 'content-type': 'text/plain' }, legacy.body],
    ['a text', legacy.headers, 'tools/call'],
    ...[{ progressToken: 1.5 }, { progressToken: {} }, { 'io.modelcontextprotocol/x': 1 }, []].map(
      (_meta): [string, Record<string, string>, unknown] => [
        `beside a call ${JSON.stringify(_meta)}`,
        legacy.headers,
        { ...legacy.body, params: { ...(legacy.body.params as object), _meta } },
      ],
    ),
  ];
  it.each(cases)('%s', (_name, headers, body) => {
    expect(read(headers, body)).toBeUndefined();
  });
  it('and the two they were made from are not', () => {
    expect(read(modern.headers, modern.body)?.era).toBe('modern');
    expect(read(legacy.headers, legacy.body)?.era).toBe('legacy');
    expect(read({ 'content-type': 'application/json' }, legacy.body)?.era).toBe('legacy');
  });
});

interface Sent {
  headers: Record<string, string>;
  body: unknown;
}

describe('straight off the socket and through node:http', () => {
  const tool = (name: string, wanted: object = {}) =>
    rpc('legacy', 'tools/call', { name, arguments: wanted });
  const listing = rpc('legacy', 'tools/list');
  const joining = rpc('legacy', 'initialize', {
    protocolVersion: '2025-11-25',
    capabilities: {},
    clientInfo: { name: 'test', version: '1' },
  });
  const joined = {
    ...joining,
    body: { jsonrpc: '2.0', method: 'notifications/initialized' },
  };
  const taken: [string, Sent][] = [
    ['initialize', joining],
    ['that it is done', joined],
    ['ping', rpc('legacy', 'ping')],
    ['the tools', listing],
    ['the tools in the new era', rpc('modern', 'tools/list')],
    ['what the server is', rpc('modern', 'server/discover')],
    ['a call', tool('list_templates', { category: 'team' })],
    ['a refused call', tool('get_template', { slug: 'nothing-like-it' })],
    ['no key', { ...listing, headers: { ...listing.headers, 'x-api-key': '' } }],
    ['a stranger’s page', { ...listing, headers: { ...listing.headers, origin: 'https://a.b' } }],
  ];
  it.each(taken)('%s', async (_, sent) => {
    const [short, node] = await bothWays(sent);
    expect(short.way).toBe('short');
    expect(told(short)).toEqual(told(node));
  });

  const left: [string, Sent][] = [
    ['a tool nobody knows', tool('make_coffee')],
    ['another method', rpc('legacy', 'resources/list')],
    ['no JSON', { ...listing, body: '{"jsonrpc":' }],
    ['a batch', { ...listing, body: [listing.body] }],
    ['another Accept', { ...listing, headers: { ...listing.headers, accept: 'text/html' } }],
  ];
  it.each(left)('%s is left to node:http', async (_, sent) => {
    const [short, node] = await bothWays(sent);
    expect(short.way).toBe('node');
    expect(told(short)).toEqual(told(node));
  });

  it('a repeat is recognised, whichever way it comes', async () => {
    const sent = tool('send_email', anEmail({ subject: 'Sent twice' }));
    const [first, second] = (await bothWays(sent)).map(resultIn);
    expect(second).toEqual({ ...first, duplicate_of_recent: true });
  });

  const rules: [string, Partial<AgentLimits>, Scope[]][] = [
    ['no scope to send', {}, ['email:read']],
    ['only templates', { templatesOnly: true }, ['email:send']],
    ['only some recipients', { allowedRecipients: ['elsewhere.example'] }, ['email:send']],
    ['a cap that is too low', { dailyCap: 1 }, ['email:send']],
    ['a person approves', { approval: 'always' }, ['email:send']],
  ];
  it.each(rules)('a rule of the key: %s', async (rule, limits, scopes) => {
    const made = await createKey(service.database, systemClock, {
      accountId: account,
      ...{ scopes, limits },
    });
    const wanted = {
      ...anEmail({ subject: rule, to: ['a@example.net', 'b@example.net'] }),
      allow_duplicate: true,
    };
    const answers = await bothWays(tool('send_email', wanted), made.key);
    expect(answers[0]!.way).toBe('short');
    const [short, node] = answers.map((it) => JSON.stringify(resultIn(it)).replace(CHANGES, ''));
    expect(short).toBe(node);
    expect(short).toMatch(limits.approval ? /Nothing has been sent/ : /"status":4\d\d/);
  });
});

/** What differs from one email to the next, and the marks of one answer. */
const CHANGES = /msg_\w{26}|[\da-f]{64}|⟪\/?\w{10}⟫|\d{4}-\d\d-\d\dT[\d:.]+Z|\d+ seconds/g;

interface Told {
  way: 'short' | 'node';
  status: number;
  type: string | undefined;
  body: string;
}

const told = ({ status, type, body }: Told) => ({ status, type, body });

function resultIn({ body }: Told) {
  const { structuredContent, content } = JSON.parse(body).result;
  return structuredContent ?? JSON.parse(content[0].text);
}

/** First over a connection that is kept, then over one that is closed: that is node:http's. */
async function bothWays(sent: Sent, as = key): Promise<[Told, Told]> {
  const agent = new Agent({ keepAlive: true });
  const short = await ask(sent, as, agent);
  agent.destroy();
  return [short, await ask(sent, as, false)];
}

function ask({ headers, body }: Sent, as: string, agent: Agent | false): Promise<Told> {
  const bytes = Buffer.from(typeof body === 'string' ? body : JSON.stringify(body));
  const length = { 'content-length': String(bytes.length) };
  return new Promise((resolve, reject) => {
    httpRequest(
      `${service.url}/mcp`,
      { method: 'POST', agent, headers: { 'x-api-key': as, ...headers, ...length } },
      async (response) => {
        const { statusCode: status = 0, rawHeaders } = response;
        resolve({
          // node:http writes the names of fields as it is given them.
          way: rawHeaders.includes('Content-Length') ? 'short' : 'node',
          status,
          type: response.headers['content-type'],
          body: await text(response),
        });
      },
    )
      .on('error', reject)
      .end(bytes);
  });
}
