// Values reach the template as they were written: numbers without loss, the footer as HTML, and
// nothing that is no UTF-8.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestService, type TestAccount, type TestService } from '../support/service.ts';
import { storedEmail } from './support.ts';

let service: TestService;
let account: TestAccount;

beforeAll(async () => {
  service = await startTestService();
  account = await service.account({ scopes: ['admin', 'email:send'] });
});
afterAll(() => service.stop());

/** Through the service, whose next send knows it then. */
async function call(method: 'PUT' | 'PATCH', path: string, body: object): Promise<void> {
  const answer = await fetch(`${service.url}${path}`, {
    method,
    headers: { 'x-api-key': account.key, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  expect(answer.status, await answer.text()).toBe(200);
}

const publish = (slug: string, html: string) =>
  call('PUT', `/v1/templates/${slug}`, {
    ...{ subject: 'Values', html, category: 'account', description: 'Values', publish: true },
  });

/** Raw, as a program of another language would write it. */
const post = (body: string | Buffer, headers: Record<string, string> = {}) =>
  fetch(`${service.url}/v1/send`, {
    method: 'POST',
    headers: { 'x-api-key': account.key, 'content-type': 'application/json', ...headers },
    body,
  });

const request = (slug: string, variables: string, padding = '') =>
  `{"from_email": "a@example.com", "to": ["b@example.net"], "template": "${slug}",
    "headers": {"X-Padding": "${padding}"}, "variables": ${variables}}`;

async function rendered(slug: string, variables: string): Promise<string> {
  const answer = await post(request(slug, variables));
  const body = (await answer.json()) as { id: string };
  expect(answer.status, JSON.stringify(body)).toBe(202);
  return (await storedEmail(service.database, body.id)).html;
}

describe('numbers', () => {
  it.each([
    ['1234567890123456789', '1234567890123456789'],
    ['-98765432109876543210', '-98765432109876543210'],
    ['9007199254740993', '9007199254740993'],
    ['10.0', '10.0'],
    ['-0.0', '-0.0'],
    ['-0', '0'],
    ['1e3', '1000.0'],
    ['1.50', '1.5'],
    ['12', '12'],
    ['0.1', '0.1'],
  ])('%s is printed as %s', async (written, printed) => {
    await publish('printed', '<p>[{{ n }}|{{ deep.list[1].n }}]</p>');
    const html = await rendered(
      'printed',
      `{"n": ${written}, "deep": {"list": ["10.0", {"n": ${written}}]}}`,
    );
    expect(html).toContain(`[${printed}|${printed}]`);
  });

  it('are what they were written as to arithmetic and tests too', async () => {
    await publish(
      'reckoned',
      '<p>[{{ big + 1 }} {{ f is float }} {{ f is integer }} {{ f / 4 }} {{ "%.2f"|format(f) }} {{ [f, big]|max }}]</p>',
    );
    expect(await rendered('reckoned', '{"big": 1234567890123456789, "f": 10.0}')).toContain(
      '[1234567890123456790 True False 2.5 10.00 1234567890123456789]',
    );
  });

  it('in texts are texts', async () => {
    await publish('texts', '<p>[{{ a }} {{ b }}]</p>');
    const html = await rendered('texts', '{"a": "10.0, 1234567890123456789", "b": 10.0}');
    expect(html).toContain('[10.0, 1234567890123456789 10.0]');
  });

  it('keep an idempotency key to its request', async () => {
    await publish('kept', '<p>{{ n }}</p>');
    const send = (n: string) =>
      post(request('kept', `{"n": ${n}}`), { 'idempotency-key': 'the-same' });
    const first = await (await send('1234567890123456789')).json();
    expect(await (await send('1234567890123456789')).json()).toEqual(first);
    expect((await send('1234567890123456788')).status).toBe(400);
  });

  it('of thousands of digits are refused, as Python does', async () => {
    await publish('long', '<p>{{ n }}</p>');
    const answer = await post(request('long', `{"n": ${'9'.repeat(5000)}}`));
    expect(answer.status).toBe(400);
    expect(await answer.json()).toMatchObject({
      detail: expect.stringContaining('more than 4300 digits'),
    });
  });
});

it('a body that is not UTF-8 is refused', async () => {
  const text = request('printed', '{"n": "Caf#"}');
  const bytes = Buffer.from(text);
  bytes[bytes.indexOf('#')] = 0xe9;
  const answer = await post(bytes);
  expect(answer.status).toBe(400);
  expect(await answer.json()).toMatchObject({ detail: expect.stringContaining('UTF-8') });
});

it('the footer is HTML in an account’s own templates', async () => {
  await call('PATCH', '/v1/branding', { footer_html: '<b>Acme & Söhne</b>' });
  await publish('footer', '<p>[{{ branding.footer_html }}]</p>');
  expect(await rendered('footer', '{}')).toContain('[<b>Acme & Söhne</b>]');
});
