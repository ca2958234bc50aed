// What a template declares of its variables holds at every door: types, entries of lists, web
// addresses, and no name it does not know.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { publishTemplate, putTemplate } from '../../src/templates/account-templates.ts';
import { brandingContext } from '../../src/templates/branding.ts';
import { defaultBranding } from '../../src/templates/branding-fields.ts';
import { makeHere } from '../../src/templates/making.ts';
import { isWebAddress, namesReadBy, requireFit } from '../../src/templates/variable-fit.ts';
import { callTool } from '../mcp/support.ts';
import { workedMs } from '../support/blocked.ts';
import { catalog } from '../support/catalog.ts';
import {
  request,
  startTestService,
  type TestAccount,
  type TestService,
} from '../support/service.ts';
import { fromTemplate, page, storedEmail } from './support.ts';

let service: TestService;
let account: TestAccount;

beforeAll(async () => {
  service = await startTestService();
  account = await service.account();
});
afterAll(() => service.stop());

const receipt = catalog.templates.get('receipt')!.sample;

const FAULTS: [what: string, template: string, change: Record<string, unknown>, RegExp][] = [
  [
    'an object for a name',
    'receipt',
    { name: { first: 'Bob' } },
    /name must be text, not an object/,
  ],
  ['true for a text', 'receipt', { name: true }, /name must be text, not a boolean/],
  ['a list for a text', 'receipt', { name: ['Bob'] }, /name must be text, not a list/],
  ['a text for a list', 'receipt', { items: '3 studio' }, /items must be a list, not text/],
  [
    'an object for a list',
    'receipt',
    { items: { name: 'a' } },
    /items must be a list, not an object/,
  ],
  ['no entry', 'receipt', { items: [] }, /items must contain at least one entry/],
  [
    'a text as an entry',
    'receipt',
    { items: ['3 studio'] },
    /items\[0\] must be an object with name/,
  ],
  ['an empty entry', 'receipt', { items: [null] }, /items\[0\] is empty/],
  [
    'an entry without its name',
    'receipt',
    { items: [{ price: '$1' }] },
    /items\[0\]\.name is missing/,
  ],
  [
    'a field that no entry has',
    'receipt',
    { items: [{ name: 'a' }, { name: 'b', prize: 1 }] },
    /items\[1\] has no prize \(did you mean price\?\)/,
  ],
  ['a wrong name', 'receipt', { nmae: 'Bob' }, /has no variable nmae \(did you mean name\?\)/],
  ['an unknown name', 'receipt', { zebra: 1 }, /has no variable zebra; it has/],
  ['a script', 'receipt', { receipt_url: 'javascript:alert(1)' }, /must be a complete web address/],
  [
    'data',
    'receipt',
    { receipt_url: 'data:text/html,x' },
    /receipt_url must be a complete web address/,
  ],
  ['a file', 'receipt', { receipt_url: 'file:///etc/passwd' }, /must be a complete web address/],
  ['a script with a tab', 'receipt', { receipt_url: 'java\tscript:alert(1)' }, /web address/],
  ['a script in capitals', 'receipt', { receipt_url: ' JaVaScRiPt:alert(1)' }, /web address/],
  ['an address without a scheme', 'receipt', { receipt_url: 'example.com' }, /web address/],
  ['an address with a space', 'receipt', { receipt_url: 'https://a.example/ b' }, /web address/],
  [
    'a script in an entry',
    'welcome',
    { steps: [{ title: 'a', url: 'vbscript:x' }] },
    /steps\[0\]\.url/,
  ],
  ['a text for a number', 'usage-limit-warning', { percent: '82' }, /percent must be a number/],
  [
    'an object for a line',
    'order-confirmation',
    { shipping_address: [{ a: 1 }] },
    /\[0\] must be text/,
  ],
  ['a text for an object', 'event-ticket', { venue: 'Halle' }, /venue\.name/],
  [
    'an unknown name within an object',
    'event-ticket',
    { event: { name: 'A', starts_at: 'B', door: 'C' } },
    /event has no door \(did you mean doors\?\)/,
  ],
];

describe('POST /v1/send refuses', () => {
  it.each(FAULTS)('%s', async (_what, template, change, detail) => {
    const variables = { ...catalog.templates.get(template)!.sample, ...change };
    const answer = await service.send(account.key, fromTemplate(template, variables));
    expect(answer.status).toBe(400);
    expect(answer.body.detail).toMatch(detail);
    expect(answer.body.faults[0].path).toMatch(/^variables\./);
  });

  it('several at once, each with its place', async () => {
    const variables = { ...receipt, name: {}, itmes: [], receipt_url: 'x' };
    const { body } = await service.send(account.key, fromTemplate('receipt', variables));
    const paths = body.faults.map(({ path }: { path: string }) => path);
    expect(paths.sort()).toEqual(['variables.itmes', 'variables.name', 'variables.receipt_url']);
  });
});

describe('the other doors refuse the same', () => {
  const variables = { ...receipt, name: { first: 'Bob' } };
  const wrong = /variables\.name must be text, not an object/;

  it('a batch', async () => {
    const emails = [fromTemplate('receipt', receipt), fromTemplate('receipt', variables)];
    const answer = await request(`${service.url}/v1/send/batch`, {
      method: 'POST',
      headers: { 'x-api-key': account.key, 'content-type': 'application/json' },
      body: JSON.stringify(emails),
    });
    expect(answer.status).toBe(400);
    expect(answer.body.detail).toMatch(wrong);
  });

  it('MCP', async () => {
    const sent = await callTool(
      service,
      account.key,
      'send_email',
      fromTemplate('receipt', variables),
    );
    expect(sent.isError).toBe(true);
    expect(sent.content.detail).toMatch(wrong);
  });
});

describe('what fits is sent', () => {
  it('every sample, a number for a text, and what is absent', async () => {
    for (const [slug, { sample, variables }] of catalog.templates) {
      requireFit({ slug, variables, reads: null }, sample);
    }
    const loose = { ...receipt, name: 7, lang: 'de', dir: 'ltr', card: null, note: undefined };
    const { card: _, ...given } = loose;
    const answer = await service.send(account.key, fromTemplate('receipt', given));
    expect(answer.body).toMatchObject({ status: 'queued' });
  });

  it('a name that only the sender’s own subject reads', async () => {
    const subject = 'For {{ project }}, by {% if boss %}{{ boss }}{% endif %}';
    const variables = { ...receipt, project: 'Mars', boss: 'Eve' };
    const answer = await service.send(account.key, fromTemplate('receipt', variables, { subject }));
    expect(answer.status).toBe(202);
    expect((await storedEmail(service.database, answer.body.id)).subject).toBe('For Mars, by Eve');
  });

  it('what an account’s template reads without declaring it, and nothing else', async () => {
    const deps = { database: service.database, catalog };
    const draft = {
      ...{ name: 'Own', category: 'account' as const, description: '', stream: null },
      ...{ subject: 'Hello {{ who.first }}', preheader: '', html: page('Hi'), text: null },
      ...{ variables: [{ name: 'name', required: true, type: 'any' as const, description: '' }] },
      sample: { name: 'A' },
    };
    await putTemplate(deps, account.id, 'own', draft);
    await publishTemplate({ database: service.database, catalog }, account.id, 'own', 1);
    const variables = { name: ['any'], who: { first: 'Ada' } };
    const send = (more = {}) =>
      service.send(account.key, fromTemplate('own', { ...variables, ...more }));
    await expect.poll(async () => (await send()).status).toBe(202);
    const { status, body } = await send({ whoo: 1 });
    expect(status).toBe(400);
    expect(body.detail).toMatch(/has no variable whoo/);
  });
});

it('no variable of the catalogue that is accepted as text becomes the address of a link', async () => {
  const evil = 'javascript:alert(1)';
  const making = makeHere(catalog);
  const branding = { key: null, value: brandingContext(defaultBranding) };
  for (const [slug, { sample, variables }] of catalog.templates) {
    // A time that is none is refused by the calendar file: tests/templates/calendar-file.test.ts.
    const isText = ({ type, name }: (typeof variables)[number]) =>
      type === 'string' && !name.includes('.') && name !== 'start' && name !== 'end';
    const texts = variables.filter(isText);
    const given = { ...sample, ...Object.fromEntries(texts.map(({ name }) => [name, evil])) };
    requireFit({ slug, variables, reads: null }, given);
    const made = await making.make(
      { slug, template: null, branding, variables: given, subject: undefined, text: undefined },
      { share: 'test', ratePerSecond: 100 },
    );
    const html = Buffer.from(made.html).toString();
    expect([slug, /(?:href|src)=["']?\s*javascript:/i.test(html)]).toEqual([slug, false]);
  }
});

it('an address of the web is one', () => {
  for (const good of ['https://a.example/ä?b=c#d', 'HTTP://a.example:8080/', 'https://[::1]/']) {
    expect([good, isWebAddress(good)]).toEqual([good, true]);
  }
  for (const bad of [
    'https://',
    'https:a.example',
    '//a.example',
    'mailto:a@b.example',
    'https://a\u200b.example/',
    'https://a.example/"x',
    '\u0001https://a.example',
    'https://a.example\n',
  ]) {
    expect([bad, isWebAddress(bad)]).toEqual([bad, false]);
  }
});

it('names are read off a hostile source in no time', () => {
  const hostile = () => {
    expect(namesReadBy('{{'.repeat(128 * 1024)).size).toBe(0);
    expect(namesReadBy('{'.repeat(256 * 1024)).size).toBe(0);
  };
  expect(workedMs(hostile)).toBeLessThan(1000);
  expect([...namesReadBy('{{ a }} class {% for b in c.d %}{# e #}{{ f')]).toEqual(
    expect.arrayContaining(['a', 'b', 'c', 'd', 'f']),
  );
});
