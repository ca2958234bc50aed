// Hostile values in every parameter of every door: refused with a sentence, never a 500, and the
// detail quotes little of them.
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createKey } from '../../src/accounts/keys.ts';
import { ROUTES, type RouteName } from '../../src/dashboard/contract.ts';
import { TOOLS } from '../../src/mcp/tools.ts';
import { systemClock } from '../../src/process/clock.ts';
import { sendRequest } from '../../src/sending/request.ts';
import { type DashboardClient, openSignedIn } from '../dashboard/dashboard-client.ts';
import { rpc } from '../mcp/support.ts';
import { searchFor } from '../support/longer.ts';
import { anEmail, request, startTestService, type TestService } from '../support/service.ts';

let service: TestService;
let key: string;
let adminKey: string;
let dashboard: DashboardClient;
beforeAll(async () => {
  service = await startTestService();
  const account = await service.account();
  key = account.key;
  const made = { accountId: account.id, scopes: ['admin', 'email:send', 'email:read'] as const };
  ({ key: adminKey } = await createKey(service.database, systemClock, made));
  dashboard = await openSignedIn(service, { accountId: account.id, operator: true });
});
afterAll(() => service.stop());

const TEXTS = [
  '\0',
  'a\0b',
  '\ud83d',
  '__proto__',
  'constructor',
  '\u202e\u2066\x1b[31m',
  "'; DROP TABLE accounts; --",
  '%00',
  '../../etc/passwd',
  'x'.repeat(3000),
  '\u0000'.repeat(300),
  '9'.repeat(400),
  '-1',
  '1e400',
  '{{ 1 }}',
  'a@b.example\r\nBcc: c@d.example',
  '😀'.repeat(200),
  'msg_01K9ZQ3V7N8M2R4T6W8Y0A1B2C',
  '00000000-0000-0000-0000-000000000000',
];
const text = fc.oneof(fc.constantFrom(...TEXTS), fc.string({ unit: 'binary', maxLength: 40 }));
const value: fc.Arbitrary<unknown> = fc.oneof(
  text,
  fc.constantFrom(null, true, 0, -1, 1e308, 2 ** 53, [], {}, [[]], [{}]),
  fc.array(text, { maxLength: 3 }),
  fc.dictionary(text, text, { maxKeys: 3 }),
  fc.constant(JSON.parse('['.repeat(90) + ']'.repeat(90))),
);

/** A URL can hold nothing else. */
const wellFormed = (text: string): string => text.replace(/\p{Cs}/gu, '?');

const run = (property: fc.IAsyncProperty<unknown>, searchMs: number): Promise<void> =>
  searchFor(searchMs, () => fc.assert(property, { numRuns: Math.ceil(searchMs / 20) }));

function expectNoFault(status: number, body: unknown, about: unknown): void {
  const shown = JSON.stringify(about).slice(0, 2000);
  expect(status, shown).not.toBe(500);
  const detail = (body as { detail?: unknown } | null)?.detail;
  if (typeof detail !== 'string') return;
  expect(detail.length, shown).toBeLessThan(2000);
  expect(detail, shown).not.toMatch(/[^\P{Cc}\n]|\p{Cs}/u);
}

const oneOf = (names: readonly string[]): fc.Arbitrary<Record<string, unknown>> =>
  fc.dictionary(fc.oneof({ weight: 9, arbitrary: fc.constantFrom('a', ...names) }, text), value, {
    minKeys: 1,
    maxKeys: 3,
  });

it('POST /v1/send', () =>
  run(
    fc.asyncProperty(oneOf(Object.keys(sendRequest.shape)), async (changes) => {
      const { status, body } = await service.send(key, { ...anEmail(), ...changes });
      expectNoFault(status, body, changes);
    }) as never,
    2000,
  ));

it('GET /v1/messages/{id}, and other paths', () =>
  run(
    fc.asyncProperty(
      text,
      fc.constantFrom('/v1/messages/', '/', '/u/', '/c/', '/verify/'),
      async (text, path) => {
        const written = encodeURIComponent(wellFormed(text));
        const answer = await fetch(`${service.url}${path}${written}?q=${written}`, {
          headers: { 'x-api-key': key },
        });
        expect(answer.status, written).not.toBe(500);
        await answer.arrayBuffer();
      },
    ) as never,
    1000,
  ));

describe('MCP', () => {
  it('a number that JavaScript cannot hold, to every tool', async () => {
    for (const { operation } of TOOLS) {
      const given = { name: operation.name, arguments: { variables: { order: 2 ** 60 } } };
      const { headers, body } = rpc('legacy', 'tools/call', given);
      const answer = await request(`${service.url}/mcp`, {
        method: 'POST',
        headers: { ...headers, 'x-api-key': adminKey },
        body: JSON.stringify(body),
      });
      expect(answer.status, operation.name).toBe(200);
    }
  });

  it.each(TOOLS.map(({ operation }) => [operation.name, operation] as const))('%s', (name, tool) =>
    run(
      fc.asyncProperty(oneOf(Object.keys(tool.input.shape)), async (given) => {
        const { headers, body } = rpc('legacy', 'tools/call', { name, arguments: given });
        const answer = await request(`${service.url}/mcp`, {
          method: 'POST',
          headers: { ...headers, 'x-api-key': adminKey },
          body: JSON.stringify(body),
        });
        const said = answer.body?.result?.content?.[0]?.text;
        const result = typeof said === 'string' ? JSON.parse(said) : answer.body;
        expectNoFault(result?.status ?? answer.status, result, { name, given });
      }) as never,
      250,
    ),
  );
});

describe('dashboard', () => {
  const names = (Object.keys(ROUTES) as RouteName[]).filter(
    (name) =>
      !('kind' in ROUTES[name]) && !['signOut', 'removeMember', 'changeMember'].includes(name),
  );
  const FIELDS = [
    'email',
    'token',
    'password',
    'slug',
    'slugs',
    'search',
    'before',
    'limit',
    'state',
  ]
    .concat(
      'as',
      'version',
      'subject',
      'html',
      'text',
      'variables',
      'to',
      'domain',
      'address',
      'url',
    )
    .concat('eventType', 'from', 'until', 'name', 'scopes', 'limits', 'role', 'reason', 'accountId')
    .concat(
      'branding',
      'brand_name',
      'footer_html',
      'tag',
      'status',
      'template',
      'recipient',
      'days',
    );

  it.each(names)('%s', (name) => {
    const { path, method } = ROUTES[name];
    const params = [...path.matchAll(/:(\w+)/g)].map((match) => match[1]!);
    const call = fc.record({
      params: fc.record(Object.fromEntries(params.map((param) => [param, text]))),
      query: fc.dictionary(fc.constantFrom(...FIELDS), text, { maxKeys: 2 }),
      body: oneOf(FIELDS),
    });
    return run(
      fc.asyncProperty(call, async ({ params, query, body }) => {
        const well = Object.entries(params).map(([name, it]) => [name, wellFormed(String(it))]);
        const answer = await dashboard.try(name, {
          params: Object.fromEntries(well),
          query: Object.fromEntries(Object.entries(query).map(([n, it]) => [n, wellFormed(it)])),
          ...(method === 'GET' ? {} : { body }),
        });
        expectNoFault(answer.status, answer.body, { name, params, query, body });
      }) as never,
      150,
    );
  });
});

it('a million unknown fields, headers, tags or recipients are refused at once', async () => {
  const many = Array.from({ length: 90_000 }, (_, n) => `f${n}`);
  const fields = Object.fromEntries(many.map((name) => [name, 1]));
  const before = process.cpuUsage();
  for (const changes of [fields, { headers: fields }, { tags: many }, { to: many }]) {
    const { status, body } = await service.send(key, { ...anEmail(), ...changes });
    expect(status).toBe(400);
    expect(body.detail.length).toBeLessThan(500);
  }
  // Of the client's work too. It was a minute for the fields alone.
  expect(process.cpuUsage(before).user).toBeLessThan(6_000_000);
  const { body } = await service.send(key, { ...anEmail(), form_email: 'x', atachments: [], a: 1 });
  expect(body.detail).toContain('"form_email" (did you mean from_email?)');
});
