// What accounts upload and have read besides emails: lists of addresses, logos, templates,
// branding, domains, webhooks, emails to check. Hostile ones through every operation that takes
// them, on the built program: none ends in a 500, holds up the event loop for 100 ms or takes more
// than 64 MB beside its own weight, and what costs time is charged to the account that asked for
// it.
import { deflateSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { anEmail, makeAccount, type TestAccount } from '../support/service.ts';
import { startWatched, type WatchedProcess } from '../support/watched-process.ts';
import { fromTemplate } from '../templates/support.ts';

const MB = 1024 * 1024;
const repeated = (piece: string, length: number): string =>
  piece.repeat(Math.floor(length / piece.length));

let test: TestDatabase;
let service: WatchedProcess;
let attacker: TestAccount;
let bystander: TestAccount;
beforeAll(async () => {
  test = await createTestDatabase();
  service = await startWatched({ DATABASE_URL: test.url, ROLES: 'api' });
  attacker = await makeAccount(test.database, { scopes: ['email:send', 'email:read', 'admin'] });
  bystander = await makeAccount(test.database);
  for (const account of [attacker, bystander]) await ask(account, 'POST', '/v1/send', welcome());
  await ask(attacker, 'POST', '/v1/templates/welcome/clone', { slug: 'mine' });
});
afterAll(async () => {
  await service.end('SIGTERM');
  await test.drop();
});

const welcome = (name = 'Ada') =>
  fromTemplate('welcome', { name, action_url: 'https://example.com/' });

async function ask(
  { key }: TestAccount,
  method: string,
  path: string,
  body?: unknown,
): Promise<number> {
  const answer = await fetch(service.url + path, {
    method,
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  });
  await answer.arrayBuffer();
  return answer.status;
}

async function expectCeiling(method: string, path: string, given: unknown): Promise<void> {
  const body = typeof given === 'string' ? given : JSON.stringify(given);
  let status = 0;
  const { stands, grewMb } = await service.watch(async () => {
    status = await ask(attacker, method, path, body);
  });
  expect([200, 201, 400, 404, 409, 412, 413, 429], `${status}`).toContain(status);
  expect(stands).toEqual([]);
  expect(grewMb).toBeLessThan(64 + Buffer.byteLength(body) / MB);
}

/** A PNG that says of itself how large it is. */
function png(width: number, height: number, data = Buffer.alloc(0)): string {
  const head = Buffer.alloc(33);
  Buffer.from('\x89PNG\r\n\x1a\n\0\0\0\rIHDR', 'latin1').copy(head);
  head.writeUInt32BE(width, 16);
  head.writeUInt32BE(height, 20);
  return Buffer.concat([head, data]).toString('base64');
}

const draft = (changes: Record<string, unknown>) => ({
  ...{ subject: 'x', html: '<p>x</p>', ...changes },
});

const manyKeys = (count: number) => Array.from({ length: count }, (_, n) => [`k${n}`, `v${n}`]);

const UPLOADS: [string, string, string, () => unknown][] = [
  [
    'addresses to suppress, each a long one',
    ...post('/v1/suppressions'),
    () => ({
      addresses: Array.from(
        { length: 1000 },
        (_, n) => `${'a.'.repeat(30)}${n}@${'b.'.repeat(100)}example`,
      ),
    }),
  ],
  [
    '90,000 addresses',
    ...post('/v1/suppressions'),
    () => ({ addresses: Array.from({ length: 90_000 }, (_, n) => `a${n}@example.net`) }),
  ],
  [
    'addresses of quotes, commas and control characters',
    ...post('/v1/suppressions'),
    () => ({ addresses: Array.from({ length: 1000 }, () => `"${'\\"'.repeat(150)}"@x`) }),
  ],
  [
    'one address of 20 MB',
    ...post('/v1/suppressions'),
    () => ({ addresses: ['a'.repeat(20 * MB)] }),
  ],
  [
    'a logo of 18 MB',
    'PUT',
    '/v1/branding/logo',
    () => ({ content_base64: png(10, 10, Buffer.alloc(18 * MB)) }),
  ],
  [
    'a logo of four billion pixels each way',
    'PUT',
    '/v1/branding/logo',
    () => ({ content_base64: png(0xff_ff_ff_ff, 0xff_ff_ff_ff, deflateSync(Buffer.alloc(MB))) }),
  ],
  [
    'a logo of half a head',
    'PUT',
    '/v1/branding/logo',
    () => ({ content_base64: png(1, 1).slice(0, 24) }),
  ],
  [
    'a GIF that never ends',
    'PUT',
    '/v1/branding/logo',
    () => ({
      content_base64: Buffer.from(`GIF89a${'\x21\xff\x01'.repeat(80_000)}`, 'latin1').toString(
        'base64',
      ),
    }),
  ],
  [
    'a JPEG of empty segments',
    'PUT',
    '/v1/branding/logo',
    () => ({
      content_base64: Buffer.from(`\xff\xd8${'\xff\xe0\0\x02'.repeat(60_000)}`, 'latin1').toString(
        'base64',
      ),
    }),
  ],
  ['a name for a logo', 'PUT', '/v1/branding/logo', () => ({ content_base64: '../../etc/passwd' })],
  ...[
    '{{ ',
    '{% if a %}',
    '{{ (',
    '{{ a.',
    '{# ',
    '{% for a in b %}',
    '{{ [[',
    "{{ 'a' ~ ",
    '<a href="',
  ].map((piece): (typeof UPLOADS)[number] => [
    `a template of ${piece}`,
    'PUT',
    '/v1/templates/mine',
    () => draft({ html: repeated(piece, 256 * 1024), subject: repeated(piece, 2000) }),
  ]),
  [
    'a template of 20 MB',
    'PUT',
    '/v1/templates/mine',
    () => draft({ html: repeated('<p>x</p>', 20 * MB) }),
  ],
  [
    'a template with a sample 90 deep and wide',
    'PUT',
    '/v1/templates/mine',
    () =>
      draft({
        sample: JSON.parse(`${'{"a":'.repeat(90)}[${'1,'.repeat(90_000)}1]${'}'.repeat(90)}`),
      }),
  ],
  [
    'a template that includes itself by its path',
    'PUT',
    '/v1/templates/mine',
    () => draft({ html: "{% include '../../../etc/passwd' %}{% extends 'mine' %}" }),
  ],
  ['a slug that climbs', 'PUT', '/v1/templates/..%2f..%2fetc%2fpasswd', () => draft({})],
  ...['<table>', '<a href=', '{{ ', '&amp;', '<!--'].map((piece): (typeof UPLOADS)[number] => [
    `a footer of ${piece}`,
    'PATCH',
    '/v1/branding',
    () => ({ footer_html: repeated(piece, 4 * MB) }),
  ]),
  [
    'the preview of branding that is refused',
    ...post('/v1/branding/preview'),
    () => ({
      slug: 'welcome',
      branding: { footer_html: repeated('<b>', 9000), primary_color: '#'.repeat(MB) },
    }),
  ],
  ['a domain of a megabyte', 'PUT', `/v1/domains/${'a.'.repeat(3000)}example`, () => ({})],
  ['a domain that climbs', 'PUT', '/v1/domains/..%2f..%2fzone', () => ({})],
  [
    'a domain of marks that fold',
    'PUT',
    `/v1/domains/${encodeURIComponent('ﬃ̣'.repeat(300))}.example`,
    () => ({}),
  ],
  [
    'a webhook whose address has 20 MB',
    ...post('/v1/webhooks'),
    () => ({ url: `https://example.com/${'a'.repeat(20 * MB)}`, events: ['delivery'] }),
  ],
  [
    'a webhook for 90,000 kinds of events',
    ...post('/v1/webhooks'),
    () => ({ url: 'https://example.com/', events: new Array(90_000).fill('delivery') }),
  ],
  [
    'a replay of all times',
    ...post('/v1/webhooks/whe_00000000000000000000000000/replay'),
    () => ({ from: '0000-01-01T00:00:00Z', to: '9999-12-31T23:59:59Z' }),
  ],
  [
    'a key with 90,000 scopes',
    ...post('/v1/keys'),
    () => ({ name: 'x', scopes: new Array(90_000).fill('email:send') }),
  ],
  [
    'a preview of an email of 20 MB',
    ...post('/v1/send/preview'),
    () => anEmail({ html: repeated('<a href=http://x>x</a>', 20 * MB) }),
  ],
  ...['<', '注'].map((piece): (typeof UPLOADS)[number] => [
    `a variable of 24 MB of ${piece}`,
    ...post('/v1/send'),
    () => welcome(repeated(piece, (24 * MB) / Buffer.byteLength(piece))),
  ]),
  [
    'a subject and a text of 12 MB for a template',
    ...post('/v1/send/preview'),
    () => ({ ...welcome(), subject: repeated('{{ a }}', 12 * MB), text: 'x'.repeat(12 * MB) }),
  ],
  [
    'messages of a template: 60 languages, deep, long keys, prototypes, plurals of plurals',
    'PUT',
    '/v1/templates/mine',
    () =>
      `{"subject":"x","html":"<p>x</p>","messages":{"__proto__":{"a":"b"},"en":{"__proto__":"x","constructor":{"one":"{count}","other":{"one":{"one":"x"}}},"${'k'.repeat(MB)}":"x","a":"b","a":"${'{a}'.repeat(1500)}"},${Array.from({ length: 60 }, (_, n) => `"en-${n}":{"a":${'{"other":'.repeat(50)}"x"${'}'.repeat(50)}}`).join()}}}`,
  ],
  [
    'messages of a template: 20 MB',
    'PUT',
    '/v1/templates/mine',
    () =>
      draft({
        messages: { en: Object.fromEntries(manyKeys(400)), de: { a: 'x'.repeat(20 * MB) } },
      }),
  ],
  ...[
    '<a href=http://x>x</a>',
    '<img src=x>',
    '&amp;',
    '<',
    '<!--',
    '<a x=',
    '{{',
    '<title>',
    '<style></',
    '&#x41;',
  ].map((piece): (typeof UPLOADS)[number] => [
    `5 MB to check of ${piece}`,
    ...post('/v1/lint'),
    () => ({ subject: 'x', html: repeated(piece, 4_999_000), text: repeated(piece, 4_999_000) }),
  ]),
];

function post(path: string): [string, string] {
  return ['POST', path];
}

describe('uploaded', () => {
  it.each(UPLOADS)('%s', async (_, method, path, make) => {
    await expectCeiling(method, path, make());
  });
});

it('checks by the dozen are charged to who asks for them; another account sends meanwhile', async () => {
  const email = { subject: 'x', html: repeated('<a href=http://x>x</a>', 2 * MB) };
  const slow = await makeAccount(test.database, { ratePerSecond: 10 });
  const statuses = new Set<number>();
  let over = false;
  const flood = async () => {
    for (let n = 0; n < 12; n++) statuses.add(await ask(slow, 'POST', '/v1/lint', email));
  };
  const attack = Promise.all([flood(), flood(), flood()]).finally(() => {
    over = true;
  });
  do expect(await ask(bystander, 'POST', '/v1/send', welcome())).toBe(202);
  while (!over);
  await attack;
  expect([...statuses].toSorted()).toEqual([200, 429]);
});

it('an email that cannot be checked in time is sent anyway', async () => {
  const linted = await makeAccount(test.database);
  await test.database.query('UPDATE accounts SET lint_sends = true WHERE id = $1', [linted.id]);
  for (const size of [9 * MB, 24 * MB]) {
    const html = repeated('<a href=http://x>x</a>', size);
    expect(await ask(linted, 'POST', '/v1/send', anEmail({ html }))).toBe(202);
  }
});
