// Rules behind the schemas: each refusal names the fields it is about, for programs, beside the
// sentence for people.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Fault } from '../../src/errors.ts';
import { callTool } from '../mcp/support.ts';
import { anEmail, request, startTestService, type TestService } from '../support/service.ts';

let service: TestService;
let key: string;
beforeAll(async () => {
  service = await startTestService({ ROLES: 'api' });
  key = (await service.account({ scopes: ['email:send', 'email:read', 'admin'] })).key;
  await call('PUT', '/v1/templates/own', {
    ...{ subject: 'Hello', html: '{{ items[0].price * 2 }}', name: 'Own' },
    variables: [{ name: 'order.id', required: true }],
  });
  await call('POST', '/v1/templates/own/publish', { version: 1 });
});
afterAll(() => service?.stop());

const call = (method: string, path: string, body?: unknown) =>
  request(`${service.url}${path}`, {
    method,
    headers: { 'x-api-key': key, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });

const pathsOf = (faults: Fault[] | undefined) => (faults ?? []).map(({ path }) => path);

const file = (changes: object = {}) => ({
  filename: 'a.pdf',
  content_type: 'application/pdf',
  content_base64: 'AAAA',
  ...changes,
});

const sends: [string, Record<string, unknown>, string[]][] = [
  ['no sender', { from_email: 'hello' }, ['from_email']],
  [
    'every bad recipient',
    { to: ['a@b.example', 'x'], cc: ['y'], bcc: ['z@'] },
    ['to[1]', 'cc[0]', 'bcc[0]'],
  ],
  ['too many recipients', { to: Array(51).fill('a@b.example') }, ['to']],
  ['a reply address', { reply_to: 'nobody' }, ['reply_to']],
  ['no subject', { subject: undefined }, ['subject']],
  ['a subject of two lines', { subject: 'a\nb' }, ['subject']],
  ['a long subject', { subject: 'x'.repeat(999) }, ['subject']],
  ['no body', { html: undefined, text: undefined }, ['html']],
  ['variables without a template', { variables: { a: 1 } }, ['variables']],
  ['a template and html', { template: 'own' }, ['html']],
  [
    'every bad header',
    { headers: { 'X-Ok': '1', From: 'x', 'a b': 'x', 'X-SMTPAPI': '{}', 'X-B': 'a\nb' } },
    ['headers.From', 'headers.a b', 'headers.X-SMTPAPI', 'headers.X-B'],
  ],
  [
    'too many headers',
    { headers: Object.fromEntries(Array.from({ length: 51 }, (_, i) => [`X-${i}`, ''])) },
    ['headers'],
  ],
  ['headers that are too large', { headers: { 'X-A': 'x'.repeat(9000) } }, ['headers']],
  ['every bad tag', { tags: ['ok', 'x'.repeat(129), 'a\u0007'] }, ['tags[1]', 'tags[2]']],
  ['too many tags', { tags: Array(21).fill('a') }, ['tags']],
  [
    'every bad attachment',
    {
      attachments: [
        file(),
        file({ filename: 'a/b', content_base64: 'no!' }),
        file({ content_type: 'pdf' }),
      ],
    },
    ['attachments[1].filename', 'attachments[1].content_base64', 'attachments[2].content_type'],
  ],
  [
    'an image that is not shown',
    { attachments: [file({ content_id: 'logo' })] },
    ['attachments[0].content_id'],
  ],
  ['an image that is not there', { html: '<img src="cid:logo">' }, ['html']],
  [
    'an image and a place',
    { attachments: [file({ content_id: 'a', disposition: 'attachment' })] },
    ['attachments[0].disposition'],
  ],
  [
    'parts that have nothing to do with each other',
    { from_email: 'x', to: ['y'], tags: [' \u0001'] },
    ['from_email', 'to[0]', 'tags[0]'],
  ],
  [
    'a missing variable',
    { template: 'own', html: undefined, variables: {} },
    ['variables.order.id'],
  ],
  [
    'what a render stumbles over',
    { template: 'own', html: undefined, variables: { order: { id: 'x' } } },
    ['html'],
  ],
];

describe('a send', () => {
  it.each(sends)('%s', async (_, changes, paths) => {
    const { status, body } = await service.send(key, anEmail(changes));
    expect({ status, body }).toMatchObject({ status: 400, body: { code: 'invalid' } });
    expect(pathsOf(body.faults), JSON.stringify(body)).toEqual(paths);
    expect(body.faults.every(({ message }: Fault) => message.length > 10)).toBe(true);
    const told = await callTool(service, key, 'send_email', anEmail(changes));
    expect(told.content).toMatchObject({ detail: body.detail, faults: body.faults });
  });

  it('the sentence stays that of the first', async () => {
    const { body } = await service.send(key, anEmail({ to: ['x', 'y'] }));
    expect(body.detail).toBe('to[0]: "x" is not an email address: there is no @ in it.');
    expect(body.faults[0].message).toBe(body.detail);
  });

  it('a sender of someone else', async () => {
    const { status, body } = await service.send(key, anEmail({ from_email: 'a@other.example' }));
    expect({ status, paths: pathsOf(body.faults) }).toEqual({ status: 403, paths: ['from_email'] });
  });

  it('an idempotency key', async () => {
    const long = { 'idempotency-key': 'x'.repeat(256) };
    expect(pathsOf((await service.send(key, anEmail(), long)).body.faults)).toEqual([
      'Idempotency-Key',
    ]);
    const used = { 'idempotency-key': 'once' };
    await service.send(key, anEmail(), used);
    const { body } = await service.send(key, anEmail({ subject: 'Another' }), used);
    expect(pathsOf(body.faults)).toEqual(['Idempotency-Key']);
  });

  it('an idempotency key of one email of a batch, and of an agent: by the name it has there', async () => {
    const batch = (idempotency_key: string, subject = 'Hello') =>
      request(`${service.url}/v1/send/batch`, {
        method: 'POST',
        headers: { 'x-api-key': key, 'content-type': 'application/json' },
        body: JSON.stringify([anEmail(), anEmail({ idempotency_key, subject })]),
      });
    const named = ['emails[1].idempotency_key'];
    const long = (await batch('x'.repeat(256))).body;
    expect(pathsOf(long.faults)).toEqual(named);
    expect(long.detail).toContain('idempotency_key: use 1 to 255 characters');
    await batch('of one');
    const other = (await batch('of one', 'Another')).body;
    expect(pathsOf(other.faults)).toEqual(named);
    expect(other.detail).toContain('This idempotency_key was used with another request');
    const idempotency_key = 'x'.repeat(256);
    const told = await callTool(service, key, 'send_email', anEmail({ idempotency_key }));
    expect(told.content).toMatchObject({ faults: [{ path: 'idempotency_key' }] });
  });

  it('a value that is not one of the choices, in words of ours', async () => {
    const { body } = await request(`${service.url}/v1/send/batch`, {
      method: 'POST',
      headers: {
        ...{ 'x-api-key': key, 'content-type': 'application/json' },
        'x-batch-validation': 'lenient',
      },
      body: JSON.stringify([anEmail()]),
    });
    expect(body.detail).toBe('validation must be strict or permissive.');
    const list = await service.get(key, '/v1/messages?limit=0');
    expect([list.status, list.body.detail]).not.toContain('Too small');
  });

  it('what a hostile name says commands nobody’s terminal', async () => {
    const { body } = await service.send(key, anEmail({ headers: { 'a\u001b[2J\u202e b': 'x' } }));
    expect(JSON.stringify(body)).not.toMatch(/\\u001b|\u202e/);
    expect(body.faults).toHaveLength(1);
  });
});

const others: [string, string, string, unknown, string[], number?][] = [
  ['a domain', 'PUT', '/v1/domains/no_domain', {}, ['domain']],
  ['an address', 'PUT', '/v1/addresses/a@b', {}, ['address']],
  ['who vouches', 'PUT', '/v1/domains/new.example', { vouched: true }, ['vouched'], 403],
  ['a suppressed address', 'PUT', '/v1/suppressions/nobody', {}, ['address']],
  [
    'suppressed addresses',
    'POST',
    '/v1/suppressions',
    { addresses: ['a@b.example', 'x', 'y'] },
    ['addresses[1]', 'addresses[2]'],
  ],
  ['an endpoint’s URL', 'POST', '/v1/webhooks', { url: 'ftp://example.com' }, ['url']],
  ['an endpoint inside', 'POST', '/v1/webhooks', { url: 'https://127.0.0.1/' }, ['url']],
  [
    'a key’s end',
    'POST',
    '/v1/keys',
    { scopes: ['email:read'], expires_at: '2001-01-01T00:00:00Z' },
    ['expires_at'],
  ],
  [
    'a key’s networks',
    'POST',
    '/v1/keys',
    { scopes: ['email:read'], networks: ['10.0.0.0/8', 'x', 'y'] },
    ['networks[1]', 'networks[2]'],
  ],
  [
    'a key’s recipients',
    'POST',
    '/v1/keys',
    { scopes: ['email:read'], rules: { allowed_recipients: ['a.example', 'a b', '@'] } },
    ['rules.allowed_recipients[1]', 'rules.allowed_recipients[2]'],
  ],
  [
    'a key’s cap',
    'POST',
    '/v1/keys',
    { scopes: ['email:read'], rules: { daily_cap: 0 } },
    ['rules.daily_cap'],
  ],
  ['a key’s scopes', 'POST', '/v1/keys', { scopes: [] }, ['scopes']],
  [
    'an invited address',
    'POST',
    '/v1/team/invitations',
    { email: 'nobody', role: 'viewer' },
    ['email'],
  ],
  ['a colour', 'PATCH', '/v1/branding', { primary_color: 'green' }, ['primary_color']],
  ['a template’s slug', 'PUT', '/v1/templates/Not%20One', { subject: 'a', html: 'b' }, ['slug']],
  ['a copy’s slug', 'POST', '/v1/templates/welcome/clone', { as: 'Not One' }, ['as']],
  ['a copy that is there', 'POST', '/v1/templates/welcome/clone', { as: 'own' }, ['as']],
  [
    'a template’s source',
    'PUT',
    '/v1/templates/broken',
    { subject: '{{', html: '{% if %}' },
    ['subject'],
  ],
  ['a cursor of messages', 'GET', '/v1/messages?cursor=x', undefined, ['cursor']],
  ['a cursor of keys', 'GET', '/v1/keys?cursor=x', undefined, ['cursor']],
  ['a cursor of streams', 'GET', '/v1/streams?cursor=x', undefined, ['cursor']],
  ['a cursor of the audit', 'GET', '/v1/audit?cursor=x', undefined, ['cursor']],
  ['a cursor of the sandbox', 'GET', '/v1/sandbox/messages?cursor=x', undefined, ['cursor']],
];

describe('other operations', () => {
  it.each(others)('%s', async (_, method, path, body, paths, expected = 400) => {
    const answer = await call(method, path, body);
    expect(answer, JSON.stringify(answer.body)).toMatchObject({ status: expected });
    expect(pathsOf(answer.body.faults), JSON.stringify(answer.body)).toEqual(paths);
  });

  it('a colour of branding that is only tried', async () => {
    const wrong = { branding: { primary_color: 'green' }, slugs: ['welcome'] };
    const { body } = await call('POST', '/v1/branding/preview', wrong);
    expect(pathsOf(body.faults), JSON.stringify(body)).toEqual(['branding.primary_color']);
  });

  it('a template’s fault has its line and column', async () => {
    const wrong = { subject: 'a', html: '<p>\n  {% if %}', name: 'x' };
    const { body } = await call('PUT', '/v1/templates/broken', wrong);
    expect(body.faults).toMatchObject([{ path: 'html', line: 2, column: expect.any(Number) }]);
  });
});

it('giving more than one has', async () => {
  const lesser = await call('POST', '/v1/keys', { scopes: ['keys:write', 'team:write'] });
  const headers = { 'x-api-key': lesser.body.secret, 'content-type': 'application/json' };
  const post = async (path: string, body: object) =>
    await request(`${service.url}${path}`, { method: 'POST', headers, body: JSON.stringify(body) });
  const key = await post('/v1/keys', { scopes: ['email:send'] });
  expect({ status: key.status, paths: pathsOf(key.body.faults) }).toEqual({
    status: 403,
    paths: ['scopes'],
  });
  const member = await post('/v1/team/invitations', { email: 'a@b.example', role: 'owner' });
  expect({ status: member.status, paths: pathsOf(member.body.faults) }).toEqual({
    status: 403,
    paths: ['role'],
  });
});

describe('the rules of a key', () => {
  it.each([
    [
      { allowed_recipients: ['example.net'] },
      { cc: ['x@example.net', 'Eve <Eve@evil.example>'] },
      'cc[1]',
    ],
    [{ no_bcc: true }, { bcc: ['x@example.net'] }, 'bcc'],
    [{ templates_only: true }, {}, 'template'],
    [
      { templates_only: true },
      { template: 'own', html: undefined, variables: { order: { id: 1 } } },
      'subject',
    ],
  ])('%j', async (rules, changes, path) => {
    const made = await call('POST', '/v1/keys', { scopes: ['email:send'], rules });
    const { status, body } = await service.send(made.body.secret, anEmail(changes));
    expect({ status, paths: pathsOf(body.faults) }).toEqual({ status: 403, paths: [path] });
  });
});
