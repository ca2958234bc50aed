// `sandmartin template` and `sandmartin branding`, as an operator types them, on a real database.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Command } from 'commander';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { registerBranding } from '../../src/cli/branding.ts';
import { registerTemplate } from '../../src/cli/template.ts';
import { catalog } from '../support/catalog.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { makeAccount } from '../support/service.ts';
import { page } from './support.ts';

let test: TestDatabase;
let account: string;
let folder: string;

beforeAll(async () => {
  test = await createTestDatabase();
  vi.stubEnv('DATABASE_URL', test.url);
  vi.stubEnv('BASE_URL', '');
  account = String((await makeAccount(test.database)).id);
  folder = mkdtempSync(join(tmpdir(), 'sandmartin-cli-'));
});
afterAll(async () => {
  vi.unstubAllEnvs();
  rmSync(folder, { recursive: true });
  await test.drop();
});

async function run(...args: string[]): Promise<string> {
  let output = '';
  const write = vi.spyOn(process.stdout, 'write').mockImplementation((text) => {
    output += text;
    return true;
  });
  try {
    const program = new Command().exitOverride();
    registerTemplate(program);
    registerBranding(program);
    await program.parseAsync(['node', 'sandmartin', ...args]);
  } finally {
    write.mockRestore();
  }
  return output;
}

// biome-ignore lint/suspicious/noExplicitAny: what an answer holds is what the tests are about
const json = async (...args: string[]): Promise<any> => {
  const output = await run(...args, '--json');
  expect(output).toMatch(/^[^\n]+\n$/);
  return JSON.parse(output);
};

function file(name: string, content: unknown): string {
  const path = join(folder, name);
  writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content));
  return path;
}

const refusal = (detail: string | RegExp) =>
  expect.objectContaining({
    detail:
      typeof detail === 'string' ? expect.stringContaining(detail) : expect.stringMatching(detail),
  });

describe('template', () => {
  it('list and show need no account for the catalogue', async () => {
    const all = await json('template', 'list');
    expect(all).toHaveLength(catalog.templates.size);
    expect(await json('template', 'list', '--category', 'billing')).toEqual(
      all.filter((it: { category: string }) => it.category === 'billing'),
    );
    const shown = await json('template', 'show', 'invoice');
    const { compiled: _, ...invoice } = catalog.templates.get('invoice')!;
    expect(shown).toEqual({ ...invoice, version: null });
    expect(await run('template', 'show', 'invoice')).toContain(invoice.subject);
    await expect(run('template', 'show', 'invoyce')).rejects.toEqual(refusal('invoice'));
    await expect(run('template', 'list', '--category', 'x')).rejects.toEqual(refusal('--category'));
  });

  it('render prints subject, html and text', async () => {
    const sampled = await json('template', 'render', 'welcome', '--sample');
    expect(Object.keys(sampled)).toEqual(['subject', 'html', 'text']);
    expect(JSON.parse(await run('template', 'render', 'welcome', '--sample'))).toEqual(sampled);
    const variables = file('variables.json', catalog.templates.get('welcome')!.sample);
    expect(await json('template', 'render', 'welcome', '--variables', variables)).toEqual(sampled);
    const german = await json('template', 'render', 'welcome', '--sample', '--locale', 'de-AT');
    expect(german.text).toContain('Laden Sie Ihr Team ein');
    await expect(run('template', 'render', 'password-reset')).rejects.toEqual(
      refusal(/needs variables that are missing/),
    );
    for (const [wrong, detail] of [
      [join(folder, 'nowhere.json'), '--variables: cannot read'],
      [file('wrong.json', '{'), 'is not JSON'],
      [file('list.json', []), 'must contain a JSON object'],
    ] as const) {
      await expect(run('template', 'render', 'welcome', '--variables', wrong)).rejects.toEqual(
        refusal(detail),
      );
    }
  });

  it('clone, put, render the draft, publish, roll back, archive', async () => {
    const own = ['--account', account];
    expect(await json('template', 'clone', 'welcome', ...own)).toMatchObject({
      slug: 'welcome',
      published_version: 1,
    });
    const put = await json(
      ...['template', 'put', 'welcome', ...own, '--subject', 'Hi {{ name }}'],
      ...['--html', file('welcome.html', page('Drafted'))],
      ...['--text', file('welcome.txt', 'Hello {{ name }}')],
      ...['--schema', file('schema.json', [{ name: 'name', required: true }])],
      ...['--sample', file('sample.json', { name: 'Ada' })],
      ...['--name', 'Our welcome', '--category', 'team', '--description', 'For us'],
    );
    expect(put).toMatchObject({ version: 2, published_version: 1, name: 'Our welcome' });

    const draft = await json('template', 'render', 'welcome', ...own, '--version', '2', '--sample');
    expect(draft).toMatchObject({ subject: 'Hi Ada', text: 'Hello Ada' });
    expect(draft.html).toContain('Drafted');
    const used = () => json('template', 'render', 'welcome', ...own, '--sample');
    expect((await used()).html).not.toContain('Drafted');

    expect(await json('template', 'publish', 'welcome', ...own)).toMatchObject({
      published_version: 2,
    });
    expect(await used()).toEqual(draft);
    expect(await json('template', 'show', 'welcome', ...own)).toMatchObject({
      state: 'published',
      version: 2,
      variables: [{ name: 'name', required: true, type: 'any', description: '' }],
    });
    expect(await json('template', 'versions', 'welcome', ...own)).toMatchObject([
      { version: 2, based_on: 1, published: true },
      { version: 1, cloned_from: 'welcome', published: false },
    ]);
    expect(await run('template', 'versions', 'welcome', ...own)).toMatch(
      /2 .* version 1 .*published/,
    );

    expect(await json('template', 'rollback', 'welcome', ...own)).toMatchObject({
      published_version: 1,
    });
    expect((await used()).html).not.toContain('Drafted');
    const states = async () =>
      (await json('template', 'list', ...own))
        .filter((it: { slug: string }) => it.slug === 'welcome')
        .map((it: { source: string; state: string }) => [it.source, it.state]);
    expect(await states()).toEqual([
      ['system', 'replaced by the account’s own'],
      ['account', 'in use, version 1, newest 2'],
    ]);
    await run('template', 'archive', 'welcome', ...own);
    expect(await states()).toEqual([
      ['system', 'in use'],
      ['account', 'archived'],
    ]);
  });

  it('put can publish at once', async () => {
    const html = file('new.html', '<p>New</p>');
    const put = ['template', 'put', 'brand-new', '--account', account, '--html', html];
    expect(await json(...put, '--subject', 'New', '--publish')).toMatchObject({
      version: 1,
      published_version: 1,
    });
  });

  it('put refuses bad syntax with line and column', async () => {
    const html = file('bad.html', '<p>\n{% endif %}</p>');
    await expect(
      run('template', 'put', 'bad', '--account', account, '--subject', 'x', '--html', html),
    ).rejects.toEqual(refusal(/^Template "bad", line 2, column \d+: /));
    await expect(run('template', 'versions', 'bad', '--account', account)).rejects.toEqual(
      refusal('has no template "bad"'),
    );
  });

  it('knows no account that is not there', async () => {
    for (const args of [
      ['list'],
      ['clone', 'welcome'],
      ['render', 'welcome', '--sample'],
      ['put', 'x', '--subject', 'x', '--html', file('x.html', 'x')],
    ]) {
      await expect(run('template', ...args, '--account', '999999')).rejects.toEqual(
        refusal('no account 999999'),
      );
    }
  });
});

describe('branding', () => {
  it('get shows the defaults, set changes and unsets', async () => {
    const of = ['--account', account];
    expect(await json('branding', 'get', ...of)).toEqual({
      brand_name: null,
      logo_url: null,
      logo_dark_url: null,
      logo_inline: null,
      layout: null,
      font: null,
      background: null,
      primary_color: '#00a071',
      accent_color: '#00e5a0',
      support_email: null,
      support_url: null,
      footer_html: null,
      button_radius: 8,
      privacy_policy_url: null,
      terms_url: null,
      version: 0,
    });
    const set = await json(
      ...['branding', 'set', ...of, '--set', 'brand_name=A = B', '--set', 'button_radius=0'],
      ...['--set', 'footer_html=<a href="https://x.example/?a=1">x</a>'],
    );
    expect(set).toMatchObject({
      brand_name: 'A = B',
      button_radius: 0,
      footer_html: '<a href="https://x.example/?a=1">x</a>',
      version: 1,
    });
    const rendered = await json('template', 'render', 'invoice', ...of, '--sample');
    expect(rendered.html).toContain('A = B');
    const unset = await json('branding', 'set', ...of, '--set', 'brand_name=');
    expect(unset).toMatchObject({ brand_name: null, button_radius: 0, version: 2 });
    expect(await json('branding', 'get', ...of)).toEqual(unset);
    expect(await run('branding', 'get', ...of)).toMatch(/^primary_color +#00a071$/m);
  });

  it.each([
    ['primary_color=green', 'primary_color'],
    ['button_radius=25', 'button_radius'],
    ['logo_url=ftp://x.example/a', 'logo_url'],
    ['support_email=me', 'support_email'],
    ['color=#fff', 'There is no field "color"'],
    ['brand_name', '--set must be field=value'],
  ])('set %s names the field and changes nothing', async (setting, detail) => {
    const before = await json('branding', 'get', '--account', account);
    await expect(
      run('branding', 'set', '--account', account, '--set', 'terms_url=', '--set', setting),
    ).rejects.toEqual(refusal(detail));
    expect(await json('branding', 'get', '--account', account)).toEqual(before);
  });

  it('knows no account that is not there', async () => {
    for (const args of [['get'], ['set', '--set', 'brand_name=x']]) {
      await expect(run('branding', ...args, '--account', '999999')).rejects.toEqual(
        refusal('no account 999999'),
      );
    }
  });
});
