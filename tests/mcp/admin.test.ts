// The second tool set: only keys with the scope admin see it and may call it, each for its own
// account.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Scope } from '../../src/accounts/scopes.ts';
import { catalogFolder } from '../../src/templates/catalog.ts';
import {
  anEmail,
  startTestService,
  type TestAccount,
  type TestService,
} from '../support/service.ts';
import { callTool, post, rpc } from './support.ts';

let service: TestService;
let owner: TestAccount;
let stranger: TestAccount;
beforeAll(async () => {
  service = await startTestService({ ROLES: 'api', WEBHOOK_ALLOW: '127.0.0.1/32' });
  const scopes = ['email:send', 'email:read', 'admin'] as const;
  owner = await service.account({ scopes });
  stranger = await service.account({ scopes });
});
afterAll(() => service.stop());

const admin = async (name: string, wanted: Record<string, unknown> = {}, key = owner.key) =>
  (await callTool(service, key, name, wanted)).content;

const listTools = async (key: string) =>
  (await post(`${service.url}/mcp`, key, rpc('modern', 'tools/list'))).body.result.tools as {
    name: string;
  }[];

describe('who sees it', () => {
  const names = [
    ...['search_messages', 'list_suppressions', 'add_suppression', 'remove_suppression'],
    ...['get_branding', 'set_branding', 'list_own_templates', 'clone_template', 'update_template'],
    ...['list_webhook_endpoints', 'create_webhook_endpoint', 'update_webhook_endpoint'],
  ];
  it('a key with the scope admin, beside the tools its other scopes allow', async () => {
    expect((await listTools(owner.key)).map((tool) => tool.name)).toEqual(
      expect.arrayContaining([...names, 'send_email']),
    );
    const { key } = await service.account({ scopes: ['admin'] });
    const seen = (await listTools(key)).map((tool) => tool.name);
    expect(seen).toEqual(expect.arrayContaining(names));
    expect(seen).not.toContain('send_email');
  });
  it.each(names.slice(1))('no other key may call %s', async (name) => {
    const { key } = await service.account();
    expect((await listTools(key)).map((tool) => tool.name)).not.toContain(name);
    expect(await admin(name, {}, key)).toMatchObject({
      status: 403,
      detail: expect.stringContaining('scope'),
    });
  });
  it('whoever may change templates is told their blocks and macros', async () => {
    const told = async (scopes: Scope[]) => {
      const { key } = await service.account({ scopes });
      const sent = rpc('modern', 'server/discover');
      return (await post(`${service.url}/mcp`, key, sent)).body.result.instructions as string;
    };
    const macros = readFileSync(join(catalogFolder, 'macros.html'), 'utf8');
    const names = [...macros.matchAll(/\{%- macro (\w+)/g)].map(([, name]) => `${name}(`);
    for (const scopes of [['templates:write'], ['admin']] as Scope[][]) {
      const words = await told(scopes);
      expect(names.filter((name) => !words.includes(name))).toEqual([]);
      expect(words).toMatch(/blocks \(header, content, footer, help;/);
    }
    expect(await told(['email:send'])).not.toMatch(/macros\.html|Managing/);
  });
  it('the scope admin alone may not send', async () => {
    const { key } = await service.account({ scopes: ['admin'] });
    expect(await admin('send_email', anEmail(), key)).toMatchObject({ status: 403 });
  });
});

describe('messages', () => {
  it('are found by recipient, subject, tag and status, page by page, and only the account’s own', async () => {
    for (const n of [1, 2, 3]) {
      await service.send(
        owner.key,
        anEmail({ to: ['seeker@example.net'], subject: `Found ${n}`, tags: [`n${n}`] }),
      );
    }
    const recipient = 'seeker@example.net';
    const first = await admin('search_messages', { recipient, limit: 2 });
    const subjects = (page: { messages: { subject: string }[] }) =>
      page.messages.map((message) => message.subject);
    expect(subjects(first)).toEqual(['Found 3', 'Found 2']);
    const rest = await admin('search_messages', { recipient, limit: 2, cursor: first.next });
    expect(subjects(rest)).toEqual(['Found 1']);
    expect(rest.next).toBeUndefined();
    expect(subjects(await admin('search_messages', { subject: 'found 2' }))).toEqual(['Found 2']);
    const [one] = (await admin('search_messages', { tag: 'n1', status: 'queued' })).messages;
    expect(one).toMatchObject({
      subject: 'Found 1',
      door: 'rest',
      from_email: 'hello@example.com',
    });
    expect(await admin('get_email_status', { sm_mail_id: one.id })).toMatchObject({
      status: 'queued',
    });
    expect((await admin('search_messages', { recipient }, stranger.key)).messages).toEqual([]);
  });
  it('times and cursors that make no sense are refused', async () => {
    expect(await admin('search_messages', { after: 'yesterday' })).toMatchObject({ status: 400 });
    expect(await admin('search_messages', { cursor: 'x' })).toMatchObject({ status: 400 });
    expect(await admin('search_messages', { limit: 1000 })).toMatchObject({ status: 400 });
  });
});

describe('suppressions', () => {
  it('are added, listed page by page, and removed', async () => {
    for (const address of ['Carl@Example.net', 'anna@example.net', 'bert@example.org']) {
      await admin('add_suppression', { address });
    }
    const addresses = (page: { suppressions: { address: string }[] }) =>
      page.suppressions.map((it) => it.address);
    const first = await admin('list_suppressions', { limit: 2 });
    expect(addresses(first)).toEqual(['anna@example.net', 'bert@example.org']);
    const rest = await admin('list_suppressions', { limit: 2, cursor: first.next });
    expect(rest).toMatchObject({
      suppressions: [{ address: 'carl@example.net', reason: 'manual', message_id: null }],
    });
    expect(rest.next).toBeUndefined();
    expect(addresses(await admin('list_suppressions', { search: 'EXAMPLE.ORG' }))).toEqual([
      'bert@example.org',
    ]);
    expect(addresses(await admin('list_suppressions', {}, stranger.key))).toEqual([]);

    const gone = await admin('remove_suppression', { address: 'carl@example.NET' });
    expect(gone.address).toBe('carl@example.net');
    expect(await admin('remove_suppression', { address: 'carl@example.net' })).toMatchObject({
      status: 404,
    });
    expect(await admin('add_suppression', { address: 'nobody' })).toMatchObject({ status: 400 });
  });
});

describe('branding', () => {
  it('is read, changed field by field, and taken back', async () => {
    expect(await admin('get_branding')).toMatchObject({
      version: 0,
      branding: { primary_color: '#00a071', accent_color: '#00e5a0', button_radius: 8 },
    });
    await admin('set_branding', { brand_name: 'Acme', primary_color: '#123456' });
    const changed = await admin('set_branding', { button_radius: 0, primary_color: null });
    expect(changed.branding).toMatchObject({
      ...{ brand_name: 'Acme', primary_color: '#00a071', button_radius: 0 },
    });
    expect(await admin('set_branding', { primary_color: 'green' })).toMatchObject({
      status: 400,
      detail: expect.stringContaining('primary_color'),
    });
    expect((await admin('get_branding', {}, stranger.key)).version).toBe(0);
  });
});

describe('templates', () => {
  it('are cloned, changed as a draft, and published', async () => {
    const cloned = await admin('clone_template', { slug: 'welcome', as: 'welcome-vip' });
    expect(cloned).toMatchObject({
      ...{ slug: 'welcome-vip', state: 'draft', published_version: null, newest_version: 1 },
      note: expect.stringContaining('nothing can be sent with it'),
    });
    expect(await admin('get_template', { slug: 'welcome-vip' })).toMatchObject({ status: 404 });
    expect(await admin('publish_template', { slug: 'welcome-vip', version: 1 })).toMatchObject({
      published_version: 1,
    });
    const draft = await admin('update_template', {
      ...{ slug: 'welcome-vip', subject: 'Dear {{ name }}', base_version: 1 },
    });
    expect(draft).toMatchObject({ version: 2, published_version: 1, newest_version: 2 });
    const subjectOf = async () =>
      (await admin('get_template', { slug: 'welcome-vip' })).subject as string;
    expect(await subjectOf()).not.toContain('Dear');
    const published = await admin('update_template', {
      ...{ slug: 'welcome-vip', subject: 'Dearest {{ name }}', base_version: 2, publish: true },
    });
    expect(published).toMatchObject({ version: 3, published_version: 3 });
    expect(await subjectOf()).toBe('Dearest {{ name }}');
    expect(await admin('list_own_templates')).toMatchObject({
      templates: [{ slug: 'welcome-vip', published_version: 3, state: 'published' }],
    });
    expect((await admin('list_own_templates', {}, stranger.key)).templates).toEqual([]);
    expect(await admin('get_template', { slug: 'welcome-vip' }, stranger.key)).toMatchObject({
      status: 404,
    });
  });
  it('with faults are refused with the place', async () => {
    await admin('clone_template', { slug: 'receipt', replaces_system: true });
    expect(
      await admin('update_template', {
        ...{ slug: 'receipt', html: '<p>{% if %}</p>', base_version: 1 },
      }),
    ).toMatchObject({ status: 400, detail: expect.stringMatching(/line 1/) });
    expect(await admin('clone_template', { slug: 'welcom' })).toMatchObject({
      status: 404,
      detail: expect.stringContaining('welcome'),
    });
  });
});

describe('content work without accidents', () => {
  const content = {
    ...{ name: 'Note', category: 'account', subject: 'Note', description: 'A note.' },
    html: '<p>{{ name }} {{ place }}</p>',
    variables: [
      { name: 'name', type: 'string', required: true },
      { name: 'place', type: 'string', required: false },
    ],
    sample: { name: 'Ada', place: 'Rome' },
  };

  it('a change names the version it starts from', async () => {
    await admin('update_template', { slug: 'note', ...content });
    const blind = await admin('update_template', { slug: 'note', subject: 'Other' });
    expect(blind).toMatchObject({ status: 412, detail: expect.stringContaining('version') });
    const stale = await admin('update_template', { slug: 'note', subject: 'X', base_version: 7 });
    expect(stale.status).toBe(412);
    const known = { slug: 'note', version: 'newest' };
    expect(await admin('get_template_version', known)).toMatchObject({
      version: 1,
      state: 'draft',
    });
    const changed = { slug: 'note', subject: 'Other', base_version: 1 };
    expect(await admin('update_template', changed)).toMatchObject({ version: 2 });
  });

  it('standing in for a system template takes a word, and is told', async () => {
    for (const call of [
      () => admin('clone_template', { slug: 'welcome' }),
      () => admin('clone_template', { slug: 'receipt', as: 'welcome' }),
      () => admin('update_template', { slug: 'welcome', ...content, publish: true }),
    ]) {
      expect(await call()).toMatchObject({
        status: 409,
        detail: expect.stringContaining('replaces_system'),
      });
    }
    const clone = await admin('clone_template', { slug: 'welcome' });
    expect(clone.detail).toContain('Name another slug for the copy in `as`, such as my-welcome');
    const made = await admin('clone_template', { slug: 'welcome', replaces_system: true });
    expect(made).toMatchObject({ has_system: true, note: expect.stringContaining('replaces') });
  });

  it('what goes live was rendered first, with its sample', async () => {
    const broken = { ...content, slug: 'broken', html: '<p>{{ name.first.last }}</p>' };
    const refusal = { status: 400, detail: expect.stringMatching(/line 1, column \d+/) };
    expect(await admin('update_template', { ...broken, publish: true })).toMatchObject(refusal);
    expect(await admin('list_own_templates')).not.toMatchObject({
      templates: expect.arrayContaining([expect.objectContaining({ slug: 'broken' })]),
    });
    // A draft may be unfinished.
    expect(await admin('update_template', broken)).toMatchObject({ version: 1, state: 'draft' });
    const publish = { slug: 'broken', version: 1 };
    expect(await admin('publish_template', publish)).toMatchObject(refusal);
    expect(await admin('get_template', { slug: 'broken' })).toMatchObject({ status: 404 });
    const unfilled = { slug: 'broken', html: content.html, sample: {}, base_version: 1 };
    expect(await admin('update_template', { ...unfilled, publish: true })).toMatchObject({
      status: 400,
      detail: expect.stringContaining('name'),
    });
    const mended = { ...unfilled, sample: content.sample, publish: true };
    expect(await admin('update_template', mended)).toMatchObject({ published_version: 2 });
  });

  it('a draft renames nothing that agents choose by', async () => {
    const described = async () => {
      const { templates } = await admin('list_templates', { query: 'chosen' });
      return templates.find(({ slug }: { slug: string }) => slug === 'chosen')?.description;
    };
    await admin('update_template', { slug: 'chosen', ...content, publish: true });
    const draft = await admin('update_template', {
      ...{ slug: 'chosen', name: 'Chosen', description: 'Another note.', base_version: 1 },
    });
    expect(draft).toMatchObject({ name: 'Chosen', description: 'Another note.', version: 2 });
    expect(await described()).toBe('A note.');
    expect(await admin('get_template_version', { slug: 'chosen' })).toMatchObject({
      ...{ name: 'Note', version: 1 },
    });
    expect(
      await admin('get_template_version', { slug: 'chosen', version: 'newest' }),
    ).toMatchObject({ name: 'Chosen', version: 2 });
    await admin('publish_template', { slug: 'chosen', version: 2 });
    expect(await described()).toBe('Another note.');
    await admin('roll_back_template', { slug: 'chosen' });
    expect(await described()).toBe('A note.');
  });

  it('variables that a publish drops are told', async () => {
    await admin('update_template', { slug: 'dropping', ...content, publish: true });
    const without = {
      ...{ slug: 'dropping', html: '<p>{{ name }}</p>', sample: { name: 'Ada' } },
      variables: content.variables.slice(0, 1),
    };
    const saved = await admin('update_template', { ...without, base_version: 1 });
    expect(saved.variables_dropped).toBeUndefined();
    expect(await admin('publish_template', { slug: 'dropping', version: 2 })).toMatchObject({
      variables_dropped: ['place'],
      note: expect.stringContaining('refused'),
    });
    expect(await admin('roll_back_template', { slug: 'dropping' })).toMatchObject({
      published_version: 1,
    });
    expect(await admin('archive_template', { slug: 'dropping' })).toMatchObject({
      state: 'archived',
    });
  });

  it('the suppression of a complaint is lifted by a person alone', async () => {
    await service.database.query(
      `INSERT INTO suppressions (account_id, address, reason)
       VALUES ($1, 'angry@example.net', 'complaint')`,
      [owner.id],
    );
    const refused = await admin('remove_suppression', { address: 'angry@example.net' });
    expect(refused).toMatchObject({ status: 403, detail: expect.stringContaining('a person') });
    const { suppressions } = await admin('list_suppressions', { search: 'angry' });
    expect(suppressions).toHaveLength(1);
  });
});

describe('webhook endpoints', () => {
  it('are added with a secret that is shown once, changed, and turned off and on', async () => {
    const made = await admin('create_webhook_endpoint', {
      ...{ url: 'http://127.0.0.1:9999/hooks', event_types: ['bounce'] },
    });
    expect(made).toMatchObject({
      id: expect.any(String),
      secret: expect.stringMatching(/^whsec_/),
    });
    const { endpoints } = await admin('list_webhook_endpoints');
    expect(endpoints).toMatchObject([{ id: made.id, event_types: ['bounce'], disabled_at: null }]);
    expect(JSON.stringify(endpoints)).not.toContain(made.secret);
    const change = (wanted: object) => admin('update_webhook_endpoint', { id: made.id, ...wanted });
    expect(await change({ enabled: false })).toMatchObject({ disabled_reason: 'owner' });
    expect(await change({ enabled: true, event_types: [] })).toMatchObject({
      ...{ disabled_at: null, event_types: [] },
    });
    const theirs = { id: made.id, enabled: false };
    expect(await admin('update_webhook_endpoint', theirs, stranger.key)).toMatchObject({
      status: 404,
    });
    expect((await admin('list_webhook_endpoints', {}, stranger.key)).endpoints).toEqual([]);
  });
  it('inside the network are refused', async () => {
    expect(await admin('create_webhook_endpoint', { url: 'https://10.0.0.1/' })).toMatchObject({
      status: 400,
    });
  });
});
