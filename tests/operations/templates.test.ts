// Templates as programs and pages edit them: versions, two people at once, previews with faults,
// test sends.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Sandmartin } from '../../src/client/sandmartin.ts';
import { countLockWaits } from '../support/lock-waits.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { until } from '../support/until.ts';

let service: TestService;
let account: { id: number; key: string };
let api: Sandmartin;

beforeAll(async () => {
  service = await startTestService({ ROLES: 'api' });
  account = await service.account({ scopes: ['admin', 'email:send', 'email:read'] });
  api = new Sandmartin({ baseUrl: service.url, apiKey: account.key, retries: 0 });
});
afterAll(() => service.stop());

const named = [{ name: 'name', required: true }];
const bare = { subject: 'Hi {{ name }}', html: '<p>{{ name }}</p>', variables: named };

it('clone → edit → error shown → fix → publish → test send → roll back → archive', async () => {
  const slug = 'welcome';
  expect(await api.templates.clone({ slug })).toMatchObject({
    state: 'published',
    published_version: 1,
    has_system: true,
  });

  const broken = { subject: 'Hi', html: '<p>\n  {{ name | upcase }}</p>' };
  const fault = { path: 'html', line: 2, column: expect.any(Number) };
  await expect(api.templates.render({ slug, draft: broken })).rejects.toMatchObject({
    status: 400,
    code: 'invalid',
    faults: [fault],
  });
  await expect(api.templates.put({ slug, ...broken })).rejects.toMatchObject({
    status: 400,
    message: expect.stringContaining('line 2'),
    faults: [fault],
  });

  const fixed = { ...bare, html: '<p>Hello {{ name | upper }}</p>', sample: { name: 'Ada' } };
  const saved = await api.templates.put({ slug, ...fixed });
  expect(saved).toMatchObject({ version: 2, newest_version: 2, published_version: 1 });
  expect(await api.templates.render({ slug, version: 2 })).toMatchObject({
    subject: 'Hi Ada',
    html: '<p>Hello ADA</p>',
  });
  expect((await api.templates.render({ slug })).html).not.toContain('ADA');
  expect(await api.templates.publish({ slug, version: 2 })).toMatchObject({ published_version: 2 });

  const { id, status } = await api.templates.testSend({
    slug,
    to: 'ada@example.net',
    variables: { name: 'Grace' },
  });
  expect(status).toBe('queued');
  const [message] = (await api.messages.list({ recipient: 'ada@example.net' })).data;
  expect(message).toMatchObject({
    ...{ id, subject: 'Hi Grace', tags: ['test'], door: 'rest', from_email: 'hello@example.com' },
  });

  const { data: versions } = await api.templates.listVersions({ slug });
  expect(versions.map(({ version, published }) => [version, published])).toEqual([
    [2, true],
    [1, false],
  ]);
  expect((await api.templates.rollBack({ slug })).published_version).toBe(1);
  expect((await api.templates.archive({ slug })).state).toBe('archived');
  const { data: audit } = await api.audit.list({ action: 'archive_template', target: slug });
  expect(audit).toMatchObject([
    { before: { state: 'published' }, after: { state: 'archived', published_version: 1 } },
  ]);
});

describe('two people at once', () => {
  /** Both are at work before either can change anything. */
  const rollBackTwice = async (slug: string, published_version?: number) => {
    for (const version of [1, 2, 3]) {
      await api.templates.put({ slug, ...bare, html: `<p>${version}</p>` });
      await api.templates.publish({ slug, version });
    }
    const { database } = service;
    const { both } = await database.transaction(async (client) => {
      await client.query('SELECT FROM accounts WHERE id = $1 FOR UPDATE', [account.id]);
      const wish = published_version === undefined ? { slug } : { slug, published_version };
      const both = Promise.allSettled([1, 2].map(() => api.templates.rollBack(wish)));
      await until(async () => (await countLockWaits(database)) === 2);
      return { both };
    });
    return await both;
  };

  it('who take back the same version go back once', async () => {
    const slug = 'taken-back-by-two';
    const answers = await rollBackTwice(slug, 3);
    const refused = answers.flatMap((it) => (it.status === 'rejected' ? it.reason.status : []));
    expect(refused).toEqual([412]);
    const { data } = await api.templates.listVersions({ slug });
    expect(data.find(({ published }) => published)!.version).toBe(2);
  });

  it('are in the audit one after the other', async () => {
    const slug = 'back-and-back';
    await rollBackTwice(slug);
    const { data } = await api.audit.list({ action: 'roll_back_template', target: slug });
    const steps = data.map(({ before, after }) =>
      [before, after].map((it) => it!.published_version),
    );
    expect(steps).toEqual([
      [2, 1],
      [3, 2],
    ]);
  });

  const put = (slug: string, body: object, ifMatch?: string) =>
    fetch(`${service.url}/v1/templates/${slug}`, {
      method: 'PUT',
      headers: {
        'x-api-key': account.key,
        'content-type': 'application/json',
        ...(ifMatch === undefined ? {} : { 'if-match': ifMatch }),
      },
      body: JSON.stringify(body),
    });

  it('the second is told what the first changed, and nothing is lost', async () => {
    const slug = 'edited-by-two';
    const made = await put(slug, bare);
    expect([made.status, made.headers.get('etag')]).toEqual([200, '"1"']);
    const read = await fetch(`${service.url}/v1/templates/${slug}/versions/newest`, {
      headers: { 'x-api-key': account.key },
    });
    expect(read.headers.get('etag')).toBe('"1"');
    expect((await put(slug, { subject: 'First', text: 'Text' }, '"1"')).status).toBe(200);
    const second = await put(slug, { html: '<p>Second</p>' }, '"1"');
    expect(second.status).toBe(412);
    expect(await second.json()).toMatchObject({
      code: 'stale',
      detail: expect.stringContaining('It changes subject, text.'),
      faults: [{ path: 'subject' }, { path: 'text' }],
    });
    expect((await api.templates.getVersion({ slug, version: 'newest' })).version).toBe(2);
  });

  it('nobody puts live what they have not seen', async () => {
    const slug = 'published-by-two';
    await api.templates.put({ slug, ...bare });
    await api.templates.put({ slug, subject: 'Somebody else’s' });
    await expect(
      api.templates.publish({ slug, version: 1, base_version: 1 }),
    ).rejects.toMatchObject({ status: 412, faults: [{ path: 'subject' }] });
    await expect(api.templates.publish({ slug } as never)).rejects.toMatchObject({ status: 400 });
    const done = await api.templates.publish({ slug, version: 1, base_version: 2 });
    expect(done).toMatchObject({ published_version: 1, newest_version: 2 });
  });

  it('a new template takes no slug that is in use', async () => {
    const slug = 'taken';
    await api.templates.put({ slug, ...bare, base_version: 0 });
    await expect(api.templates.put({ slug, ...bare, base_version: 0 })).rejects.toMatchObject({
      status: 412,
      message: expect.stringContaining('already'),
    });
    await expect(api.templates.put({ slug, ...bare, base_version: 7 })).rejects.toMatchObject({
      status: 412,
    });
  });

  it('the same put again makes no new version; an older text makes one', async () => {
    const slug = 'put-twice';
    for (const subject of ['One', 'Two', 'Two']) {
      await api.templates.put({ slug, ...bare, subject });
    }
    expect((await api.templates.listVersions({ slug })).data).toHaveLength(2);
    const back = await api.templates.put({ slug, from_version: 1 });
    expect(back.version).toBe(3);
    const { subject } = await api.templates.getVersion({ slug, version: '3' });
    expect(subject).toBe('One');
  });
});

describe('a preview', () => {
  it('of a draft that was never saved names what lacks', async () => {
    const slug = 'brand-new';
    await expect(api.templates.render({ slug, draft: bare })).rejects.toMatchObject({
      faults: [{ path: 'variables.name' }],
    });
    const filled = await api.templates.render({
      ...{ slug, draft: bare, variables: { name: '<Ada>' } },
    });
    expect(filled.html).toBe('<p>&lt;Ada&gt;</p>');
    await expect(
      api.templates.render({ slug, draft: { subject: '', html: '' } }),
    ).rejects.toMatchObject({ faults: [{ path: 'subject' }, { path: 'html' }] });
    await expect(api.templates.render({ slug })).rejects.toMatchObject({ status: 404 });
  });

  it('marks no line where the fault is in a template that it extends', async () => {
    const draft = { ...bare, html: '{% extends "layout.html" %}{% block content %}{% endblock %}' };
    const sample = { name: 'Ada', dir: 1 };
    await api.templates.render({ slug: 'brand-new', draft: { ...draft, sample } });
    const nowhere = { ...bare, html: '{% include "nowhere.html" %}', sample };
    await expect(api.templates.render({ slug: 'brand-new', draft: nowhere })).rejects.toMatchObject(
      { faults: [{ message: expect.stringContaining('nowhere.html') }] },
    );
  });

  it('of the whole catalogue goes in one call', async () => {
    const { key } = await service.account({ scopes: ['templates:read'] });
    const { templates } = new Sandmartin({ baseUrl: service.url, apiKey: key, retries: 0 });
    const { data } = await templates.list();
    const slugs = data.map(({ slug }) => slug).slice(0, 60);
    expect(slugs.length).toBeGreaterThanOrEqual(35);
    const { data: previews } = await templates.renderSeveral({ slugs });
    expect(previews.filter(({ email }) => email === null)).toEqual([]);
  });

  it('that cannot be rendered does not hide the others', async () => {
    const slug = 'lacks-its-sample';
    await api.templates.put({ slug, ...bare, publish: true });
    const { data } = await api.templates.renderSeveral({ slugs: [slug, 'invoice'] });
    expect(data).toMatchObject([
      { slug, email: null, faults: [{ path: 'variables.name' }] },
      { slug: 'invoice', email: { subject: expect.any(String) }, faults: [] },
    ]);
  });
});

it('one’s own template is cloned as it is in use', async () => {
  const slug = 'to-be-cloned';
  await api.templates.put({ slug, ...bare, name: 'Original', publish: true });
  await api.templates.put({ slug, subject: 'A draft' });
  expect(await api.templates.clone({ slug, as: 'the-clone' })).toMatchObject({ name: 'Original' });
  const { subject } = await api.templates.getVersion({ slug: 'the-clone', version: 'current' });
  expect(subject).toBe(bare.subject);
  await expect(api.templates.clone({ slug })).rejects.toMatchObject({ status: 400 });
});

it('a key that only sends cannot read a draft by testing it', async () => {
  const sender = await service.account({ scopes: ['email:send'] });
  const blind = new Sandmartin({ baseUrl: service.url, apiKey: sender.key, retries: 0 });
  await expect(
    blind.templates.testSend({ slug: 'welcome', to: 'ada@example.net' }),
  ).rejects.toMatchObject({ status: 403, message: expect.stringContaining('templates:read') });
});

describe('branding', () => {
  it('is previewed before it is saved, and warns of colours that are hard to read', async () => {
    const branding = { primary_color: '#ffee00', brand_name: 'Engines' };
    const slugs = ['receipt', 'invoice'];
    const { previews, contrasts } = await api.branding.preview({ branding, slugs });
    expect(previews.map(({ email }) => email?.html.includes('#ffee00'))).toEqual([true, true]);
    expect(contrasts[0]).toMatchObject({ field: 'primary_color', low: true });
    expect((await api.branding.get()).version).toBe(0);
    const wrong = { button_radius: 25 };
    const refusal = { status: 400, faults: [{ path: expect.stringMatching(/button_radius$/) }] };
    await expect(api.branding.preview({ branding: wrong, slugs })).rejects.toMatchObject(refusal);
    await expect(api.branding.set(wrong)).rejects.toMatchObject(refusal);

    const saved = await api.branding.set(branding);
    expect(saved).toMatchObject({ version: 1, branding: { ...branding, button_radius: 8 } });
    const back = await api.branding.set({ primary_color: null });
    expect(back.branding.primary_color).toBe(back.defaults.primary_color);
  });

  it('changed by two, the second is told what the first changed', async () => {
    const { version } = await api.branding.get();
    await api.branding.set({ terms_url: 'https://example.com/terms', base_version: version });
    await expect(
      api.branding.set({ brand_name: 'Second', base_version: version }),
    ).rejects.toMatchObject({
      status: 412,
      faults: [{ path: 'terms_url', message: expect.stringContaining('example.com/terms') }],
    });
  });
});
