// lint_email, and what is found in templates when they are rendered and saved, over HTTP.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { changeAccount } from '../../src/accounts/accounts.ts';
import { callTool } from '../mcp/support.ts';
import {
  request,
  startTestService,
  type TestAccount,
  type TestService,
} from '../support/service.ts';
import { startSink } from '../support/smtp-sink.ts';
import { until } from '../support/until.ts';

let service: TestService;
let account: TestAccount;
beforeAll(async () => {
  service = await startTestService();
  account = await service.account({ scopes: ['admin', 'email:send'] });
});
afterAll(() => service.stop());

const call = (method: string, path: string, body: unknown) =>
  request(`${service.url}${path}`, {
    method,
    headers: { 'x-api-key': account.key, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
const rulesOf = (findings: { rule: string }[]) => findings.map(({ rule }) => rule);

describe('POST /v1/lint', () => {
  it('says what is wrong with an email, and nothing about a good one', async () => {
    const bad = await call('POST', '/v1/lint', {
      subject: 'Hello {{ name }}',
      html: '<p>Your order has been shipped and will reach you soon.</p><a href="/x">x</a>',
    });
    expect(bad.status).toBe(200);
    expect(rulesOf(bad.body.findings)).toEqual([
      'missing-text',
      'broken-link',
      'unresolved-variable',
    ]);
    const good = await call('POST', '/v1/lint', { subject: 'Hello', text: 'Hello Ada!' });
    expect(good.body).toEqual({ findings: [] });
  });

  it('reads a template with its sample, and knows the stream', async () => {
    const { body } = await call('POST', '/v1/lint', { template: 'password-reset' });
    expect(body.findings.filter((it: { severity: string }) => it.severity === 'error')).toEqual([]);
    const other = await call('POST', '/v1/lint', { text: 'x', stream: 'nowhere' });
    expect(other.status).toBe(404);
  });

  it('refuses what is no email', async () => {
    for (const body of [{}, { subject: 'x' }, { text: 'x', template: 'welcome' }]) {
      expect((await call('POST', '/v1/lint', body)).status).toBe(400);
    }
  });
});

it('tells agents the same before they send', async () => {
  const email = { subject: 'Hello {{ name }}', html: '<a href="/x">x</a>' };
  const { body } = await call('POST', '/v1/lint', email);
  const told = await callTool(service, account.key, 'lint_email', email);
  expect(told.isError).toBe(false);
  expect(told.content).toEqual(body);
  expect(rulesOf(told.content.findings)).toContain('unresolved-variable');
});

it('knows a broadcast that recipients could not leave: nobody said where they reach us', async () => {
  const relay = await startSink();
  const bare = await startTestService({ RELAY_URL: relay.url });
  const { key, id } = await bare.account({ scopes: ['admin', 'email:send'] });
  const ask = (method: string, path: string, body: unknown) =>
    request(`${bare.url}${path}`, {
      method,
      headers: { 'x-api-key': key, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
  expect((await ask('PUT', '/v1/streams/news', { kind: 'broadcast' })).status).toBeLessThan(300);
  const news = { subject: 'News', text: 'Hello', stream: 'news' };
  const found = await ask('POST', '/v1/lint', news);
  expect(rulesOf(found.body.findings)).toEqual(['missing-unsubscribe']);
  const headers = { 'List-Unsubscribe': '<https://shop.example/leave>' };
  const own = await ask('POST', '/v1/lint', { ...news, headers });
  expect(own.body.findings).toEqual([]);

  await changeAccount(bare.database, id, { lintSends: true });
  const send = (more: object) =>
    bare.send(key, { from_email: 'a@example.com', to: ['ada@example.net'], ...news, ...more });
  await until(async () =>
    (await send({})).headers.get('x-sm-warning')?.includes('missing-unsubscribe'),
  );
  expect((await send({ headers })).headers.get('x-sm-warning') ?? '').not.toContain('unsubscribe');
  await bare.stop();
  await relay.stop();
});

it('tells of a template what was found, when it is rendered and when it is saved', async () => {
  const draft = { name: 'Own', category: 'orders', subject: 'HELLO HELLO HELLO', html: '<p>x</p>' };
  const saved = await call('PUT', '/v1/templates/own', draft);
  expect([saved.status, rulesOf(saved.body.findings)]).toEqual([200, ['spammy-subject']]);
  const rendered = await call('POST', '/v1/templates/own/render', {
    version: saved.body.version,
    draft: { html: '<p>x</p><img src="https://x.example/a.png">' },
  });
  expect(rulesOf(rendered.body.findings)).toEqual(['spammy-subject', 'image-only', 'missing-alt']);
});
