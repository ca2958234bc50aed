// Languages through the running service: `locale` on sends, batches and previews, the account's own
// language, and messages of an account's templates from saving to publishing to sending.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  anEmail,
  startTestService,
  type TestAccount,
  type TestService,
} from '../support/service.ts';
import { until } from '../support/until.ts';
import { fromTemplate, storedEmail } from './support.ts';

let service: TestService;
let account: TestAccount;

beforeAll(async () => {
  service = await startTestService();
  account = await service.account({
    scopes: [
      'email:send',
      'email:read',
      'templates:read',
      'templates:write',
      'branding:read',
      'messages:read',
      'account:write',
      'account:read',
    ],
  });
  const saved = await call('PUT', '/v1/templates/hello', {
    subject: "{{ t('subject', name=name) }}",
    html: "<p>{{ t('files', count=files) }}</p>",
    text: "{{ t('files', count=files) }}",
    messages: {
      en: { subject: 'Hello {name}', files: { one: '{count} file', other: '{count} files' } },
      de: {
        subject: 'Guten Tag {name}',
        files: { one: '{count} Datei', other: '{count} Dateien' },
      },
    },
    sample: { name: 'Ada', files: 2 },
    publish: true,
  });
  expect(saved.body).toMatchObject({ published_version: 1 });
});
afterAll(async () => await service.stop());

async function call(method: string, path: string, body?: unknown) {
  const response = await fetch(`${service.url}${path}`, {
    method,
    headers: { 'x-api-key': account.key, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  // biome-ignore lint/suspicious/noExplicitAny: what an answer holds is what the tests are about
  return { status: response.status, body: (await response.json()) as any };
}

const hello = (locale?: string) =>
  fromTemplate('hello', { name: 'Ada', files: 2 }, locale === undefined ? {} : { locale });

async function sent(locale?: string) {
  const answer = await service.send(account.key, hello(locale));
  expect(answer.status).toBe(202);
  return await storedEmail(service.database, answer.body.id);
}

describe('a send', () => {
  it('is written in its locale: subject, HTML and text', async () => {
    expect(await sent('de')).toMatchObject({
      subject: 'Guten Tag Ada',
      html: '<p>2 Dateien</p>',
      text: '2 Dateien',
    });
    expect((await sent('de-AT')).subject).toBe('Guten Tag Ada');
    expect((await sent('ja')).subject).toBe('Hello Ada');
    expect((await sent()).subject).toBe('Hello Ada');
  });

  it.each(['deutsch!', 'de_AT', 'x'.repeat(200)])('is refused with locale %j', async (tag) => {
    const answer = await service.send(account.key, hello(tag));
    expect(answer.status).toBe(400);
    expect(answer.body.detail).toContain('locale');
  });

  it('has no locale without a template', async () => {
    const inline = { ...hello('de'), template: undefined, variables: undefined };
    const answer = await service.send(account.key, { ...inline, subject: 'Hi', text: 'Hi' });
    expect(answer.status).toBe(400);
    expect(answer.body.detail).toContain('locale is only used with a template');
  });

  it('of many has one for each recipient', async () => {
    const { to: _, ...common } = hello('de') as Record<string, unknown>;
    const answer = await call('POST', '/v1/send/batch', {
      ...common,
      recipients: [
        { to: 'ada@example.net' },
        { to: 'bob@example.net', locale: 'en', variables: { name: 'Bob', files: 1 } },
      ],
    });
    expect(answer.status).toBe(202);
    const ids = JSON.stringify(answer.body).match(/msg_[0-9A-Z]+/g)!;
    const emails = await Promise.all(ids.map((id) => storedEmail(service.database, id)));
    expect(emails.map(({ subject }) => subject)).toEqual(['Guten Tag Ada', 'Hello Bob']);
    expect(emails.map(({ text }) => text)).toEqual(['2 Dateien', '1 file']);
  });

  it('counts its locale as part of what it says', async () => {
    const once = { 'idempotency-key': 'in-one-language' };
    expect((await service.send(account.key, hello('de'), once)).status).toBe(202);
    expect((await service.send(account.key, hello('de'), once)).status).toBe(202);
    expect((await service.send(account.key, hello('en'), once)).status).not.toBe(202);
  });
});

describe('the account’s own language', () => {
  it('is used where a send has none, and is a tag', async () => {
    expect((await call('PATCH', '/v1/account', { locale: 'klingon?' })).status).toBe(400);
    const changed = await call('PATCH', '/v1/account', { locale: 'de-ch' });
    expect(changed.body).toMatchObject({ locale: 'de-CH' });
    await until(async () => (await sent()).subject === 'Guten Tag Ada');
    expect((await sent('ja')).subject).toBe('Guten Tag Ada');
    expect((await sent('en')).subject).toBe('Hello Ada');
    const shown = await call('POST', '/v1/templates/hello/render', {});
    expect(shown.body.subject).toBe('Guten Tag Ada');
    const system = await call('POST', '/v1/templates/welcome/render', {});
    expect(system.body.text).toContain('Laden Sie Ihr Team ein');
    const { sample, preview } = (await call('GET', '/v1/templates/welcome')).body;
    expect(sample.steps[1].title).toBe('Laden Sie Ihr Team ein');
    expect(preview).toContain(sample.steps[1].title);
    const french = await call('POST', '/v1/templates/render', { slugs: ['welcome'], locale: 'fr' });
    expect(french.body.data[0].email.text).toContain('Invitez votre équipe');
    expect((await call('PATCH', '/v1/account', { locale: null })).body.locale).toBeNull();
    await until(async () => (await sent()).subject === 'Hello Ada');
  });
});

describe('messages of a template', () => {
  it('are read back as they were saved, and stay where a change gives none', async () => {
    const before = await call('GET', '/v1/templates/hello/versions/newest');
    expect(Object.keys(before.body.messages)).toEqual(['en', 'de']);
    await call('PUT', '/v1/templates/hello', { preheader: 'Soon' });
    const after = await call('GET', '/v1/templates/hello/versions/newest');
    expect(after.body.messages).toEqual(before.body.messages);
  });

  it('of a clone are the catalogue’s, in every language', async () => {
    expect((await call('POST', '/v1/templates/welcome/clone', { as: 'my-welcome' })).status).toBe(
      201,
    );
    const own = await call('GET', '/v1/templates/my-welcome/versions/newest');
    const system = await call('GET', '/v1/templates/welcome/versions/system');
    expect(own.body.messages).toEqual(system.body.messages);
  });

  it.each([
    [{ deutsch_: { a: 'x' } }, 'messages'],
    [{ 'DE-at': { a: 'x' } }, 'messages'],
    [{ de: { 'a b': 'x' } }, 'messages'],
    [{ de: { a: 1 } }, 'messages'],
    [{ de: { a: { one: 'x' } } }, 'messages'],
    [{ de: { a: { other: 'x', lots: 'y' } } }, 'messages'],
    ['text', 'messages'],
  ])('%j are refused', async (messages, named) => {
    const answer = await call('PUT', '/v1/templates/hello', { messages });
    expect(answer.status).toBe(400);
    expect(answer.body.detail).toContain(named);
  });

  it('that a language lacks are named when it is published, and replaced when it is sent', async () => {
    const parts = { subject: "{{ t('subject') }}", html: "<p>{{ t('body', name=name) }}</p>" };
    const messages = { en: { subject: 'Hello', body: 'Dear {name}' }, de: { subject: 'Hallo' } };
    const saved = await call('PUT', '/v1/templates/half', { ...parts, messages });
    expect(saved.status).toBe(200);
    const refused = await call('POST', '/v1/templates/half/publish', { version: 1 });
    expect(refused.status).toBe(400);
    expect(refused.body.detail).toContain('de has no "body"');
    const shown = await call('POST', '/v1/templates/half/render', {
      ...{ version: 1, locale: 'de', variables: { name: 'Ada' } },
    });
    expect(shown.body).toMatchObject({ subject: 'Hallo', html: '<p>Dear Ada</p>' });
    const strange = { ...messages, de: { subject: 'Hallo', body: 'Liebe {nmae}' } };
    await call('PUT', '/v1/templates/half', { messages: strange });
    const again = await call('POST', '/v1/templates/half/publish', { version: 2 });
    expect(again.body.detail).toContain('{nmae}');
    const none = await call('PUT', '/v1/templates/half', { messages: {}, publish: true });
    expect(none.status).toBe(400);
    expect(none.body.detail).toMatch(/t\('subject'\).*t\('body'\)/);
  });

  it('are tried on emails in the language these had', async () => {
    await sent('de');
    const answer = await call('POST', '/v1/templates/hello/rehearse', { limit: 1 });
    expect(answer.body.sends[0]).toMatchObject({ subject: 'Guten Tag Ada', changed: [] });
    const [{ sm_mail_id }] = answer.body.sends;
    const shown = await call('POST', '/v1/templates/hello/render', { variables_of: sm_mail_id });
    expect(shown.body.subject).toBe('Guten Tag Ada');
  });

  it('so is a branding, on the last emails from any template', async () => {
    await sent('de');
    await call('POST', '/v1/send', anEmail({ subject: 'From no template' }));
    const branding = { brand_name: 'Nest & Co' };
    const answer = await call('POST', '/v1/branding/rehearse', { branding, limit: 1 });
    expect(answer.body).toMatchObject({
      sends: [{ template: 'hello', subject: 'Guten Tag Ada', changed: [], faults: [] }],
      unkept: 0,
    });
    const [{ sm_mail_id }] = answer.body.sends;
    const shown = await call('POST', '/v1/branding/preview', {
      ...{ branding, slugs: ['hello'], variables_of: sm_mail_id },
    });
    expect(shown.body.previews[0].email.subject).toBe('Guten Tag Ada');
  });
});
