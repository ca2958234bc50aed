// The short path for tools/call returns the same JSON, in the same order, as the official package,
// or leaves the request to it.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readToolCall } from '../../src/mcp/tool-call.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { ERAS, post, rpc } from './support.ts';

let service: TestService;
let key: string;
beforeAll(async () => {
  service = await startTestService();
  key = (await service.account()).key;
});
afterAll(() => service.stop());

describe.each(ERAS)('%s', (era) => {
  const calls: [string, Record<string, unknown>][] = [
    ['a result', { name: 'list_templates', arguments: { category: 'team' } }],
    ['a result without arguments', { name: 'list_templates' }],
    ['a refusal', { name: 'get_template', arguments: { slug: 'nothing-like-it' } }],
    ['an error in the arguments', { name: 'get_template', arguments: { slag: 'x' } }],
  ];
  it.each(calls)('%s', async (_name, params) => {
    const short = rpc(era, 'tools/call', params);
    expect(readToolCall(short.headers, short.body)).toBeDefined();
    // An unknown field beside the parameters changes nothing for the package, and the short way
    // does not take it.
    const long = { ...short, body: { ...short.body, params: { ...params, ...extra(short.body) } } };
    expect(readToolCall(long.headers, long.body)).toBeUndefined();
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
    expect(readToolCall(call.headers, call.body)?.era).toBe('legacy');
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
    expect(readToolCall(headers, body)).toBeUndefined();
  });
  it('and the two they were made from are not', () => {
    expect(readToolCall(modern.headers, modern.body)?.era).toBe('modern');
    expect(readToolCall(legacy.headers, legacy.body)?.era).toBe('legacy');
    expect(readToolCall({ 'content-type': 'application/json' }, legacy.body)?.era).toBe('legacy');
  });
});
