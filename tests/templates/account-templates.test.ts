// Templates of an account's own, over real PostgreSQL: what may be saved, how versions are
// numbered, what each change leaves behind.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Problem } from '../../src/errors.ts';
import type { Operation } from '../../src/operations/operation.ts';
import { perform } from '../../src/operations/perform.ts';
import { templateOperations } from '../../src/operations/templates.ts';
import { systemClock } from '../../src/process/clock.ts';
import {
  archiveTemplate,
  cloneTemplate,
  publishTemplate,
  putTemplate,
  rollBackTemplate,
} from '../../src/templates/account-templates.ts';
import { makeHere } from '../../src/templates/making.ts';
import {
  findAccountTemplate,
  listTemplateVersions,
  readTemplateVersion,
} from '../../src/templates/stored-templates.ts';
import { catalog } from '../support/catalog.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { makeAccount } from '../support/service.ts';
import { page } from './support.ts';

let test: TestDatabase;
let deps: { database: TestDatabase['database']; catalog: typeof catalog };
let account: number;
let other: number;

beforeAll(async () => {
  test = await createTestDatabase();
  deps = { database: test.database, catalog };
  account = (await makeAccount(test.database)).id;
  other = (await makeAccount(test.database)).id;
});
afterAll(() => test.drop());

const versionOf = async (id: number): Promise<number> =>
  (
    await test.database.query<{ version: number }>('SELECT version FROM accounts WHERE id = $1', [
      id,
    ])
  )[0]!.version;

describe('a clone', () => {
  it('is the system template, word for word, and in use', async () => {
    const system = catalog.templates.get('order-shipped')!;
    const made = await cloneTemplate(deps, account, 'order-shipped');
    expect(made).toMatchObject({ slug: 'order-shipped', publishedVersion: 1, newestVersion: 1 });
    const kept = await readTemplateVersion(test.database, account, 'order-shipped', 1);
    const { subject, preheader, html, variables, sample } = system;
    expect(kept).toMatchObject({ subject, preheader, html, variables, sample, text: null });
    expect(kept).toMatchObject({ clonedFrom: 'order-shipped', basedOn: null });
    // Keys keep the order in which they were written.
    expect(JSON.stringify(kept.sample)).toBe(JSON.stringify(sample));
  });

  it('takes another slug, and no slug twice', async () => {
    const made = await cloneTemplate(deps, account, 'order-shipped', 'on-its-way');
    expect(made.slug).toBe('on-its-way');
    await expect(cloneTemplate(deps, account, 'order-shipped')).rejects.toMatchObject({
      code: 'invalid',
      detail: expect.stringContaining('slug: account'),
    });
  });

  it('of a template that does not exist names the nearest', async () => {
    await expect(cloneTemplate(deps, account, 'shipped-order')).rejects.toMatchObject({
      code: 'not-found',
      detail: expect.stringContaining('order-shipped'),
    });
  });

  it('for an account that is not there is refused', async () => {
    await expect(cloneTemplate(deps, 999_999, 'welcome')).rejects.toMatchObject({
      code: 'not-found',
      detail: expect.stringContaining('no account 999999'),
    });
  });
});

describe('an edit', () => {
  it('is a draft: a new version, and what is in use stays', async () => {
    await cloneTemplate(deps, account, 'receipt');
    const { template, version } = await putTemplate(deps, account, 'receipt', {
      subject: 'Thanks, {{ name }}',
      name: 'Our receipt',
    });
    expect(version).toBe(2);
    expect(template).toMatchObject({ publishedVersion: 1, newestVersion: 2 });
    const draft = await readTemplateVersion(test.database, account, 'receipt', 2);
    expect(draft.subject).toBe('Thanks, {{ name }}');
    expect(draft.html).toBe(catalog.templates.get('receipt')!.html);
    expect(draft).toMatchObject({ basedOn: 1, clonedFrom: null, publishedAt: null });
  });

  it('renames nothing that is in use before it is published, and a way back takes its name back', async () => {
    const nameOf = async () => {
      const { name, description } = (await findAccountTemplate(test.database, account, 'renamed'))!;
      return [name, description];
    };
    const put = (name: string, description: string) =>
      putTemplate(deps, account, 'renamed', { subject: 'x', html: 'x', name, description });
    await put('First', 'one');
    // Nothing is in use yet: it is called what its newest draft says.
    await put('Second', 'two');
    expect(await nameOf()).toEqual(['Second', 'two']);
    await publishTemplate(deps, account, 'renamed');
    await put('Third', 'three');
    expect(await nameOf()).toEqual(['Second', 'two']);
    const draft = await readTemplateVersion(test.database, account, 'renamed', 3);
    expect(draft).toMatchObject({ name: 'Third', description: 'three' });
    expect((await put('Third', 'three')).version).toBe(3);
    await publishTemplate(deps, account, 'renamed');
    expect(await nameOf()).toEqual(['Third', 'three']);
    await rollBackTemplate(test.database, account, 'renamed');
    expect(await nameOf()).toEqual(['Second', 'two']);
    // A change starts from the newest version, whatever is in use.
    const { draft: next } = await putTemplate(deps, account, 'renamed', { subject: 'y' });
    expect(next).toMatchObject({ name: 'Third', description: 'three' });
  });

  it('of a version from before versions had names keeps the template’s', async () => {
    await putTemplate(deps, account, 'older', { subject: 'x', html: 'x', name: 'Old' });
    await test.database.query(
      `UPDATE account_template_versions SET name = NULL, description = NULL
       WHERE account_id = $1 AND slug = 'older'`,
      [account],
    );
    expect((await publishTemplate(deps, account, 'older')).name).toBe('Old');
    expect((await putTemplate(deps, account, 'older', { subject: 'y' })).draft.name).toBe('Old');
  });

  it('can start from an older version', async () => {
    const { version } = await putTemplate(
      deps,
      account,
      'receipt',
      { preheader: 'Paid' },
      { from: 1 },
    );
    const draft = await readTemplateVersion(test.database, account, 'receipt', version);
    expect(draft).toMatchObject({ basedOn: 1, preheader: 'Paid' });
    expect(draft.subject).toBe(catalog.templates.get('receipt')!.subject);
    await expect(putTemplate(deps, account, 'receipt', {}, { from: 99 })).rejects.toMatchObject({
      code: 'not-found',
      detail: expect.stringContaining('no version 99'),
    });
  });

  it('changes the schema of variables', async () => {
    const variables = [{ name: 'buyer.name', required: true }];
    const { version } = await putTemplate(deps, account, 'receipt', { variables });
    const draft = await readTemplateVersion(test.database, account, 'receipt', version);
    expect(draft.variables).toEqual([
      { name: 'buyer.name', required: true, type: 'any', description: '' },
    ]);
  });

  // Versions are numbered under the lock of the account, so that two people who save at once both
  // keep their work.
  it('made by many at once keeps versions unique and loses none', async () => {
    await putTemplate(deps, account, 'busy', { subject: 'start', html: '<p>start</p>' });
    const saved = await Promise.all(
      Array.from({ length: 24 }, (_, index) =>
        putTemplate(deps, account, 'busy', { subject: `edit ${index}` }),
      ),
    );
    const versions = saved.map(({ version }) => version).sort((a, b) => a - b);
    expect(versions).toEqual(Array.from({ length: 24 }, (_, index) => index + 2));
    const kept = await listTemplateVersions(test.database, account, 'busy');
    expect(kept).toHaveLength(25);
    const subjects = await Promise.all(
      kept.map(async ({ version }) => {
        return (await readTemplateVersion(test.database, account, 'busy', version)).subject;
      }),
    );
    expect(new Set(subjects).size).toBe(25);
  });

  it('of the same by many at once makes one version', async () => {
    const draft = { subject: 'x', html: '<p>x</p>' };
    const saved = await Promise.all(
      Array.from({ length: 8 }, () => putTemplate(deps, account, 'raced', draft)),
    );
    expect(new Set(saved.map(({ version }) => version)).size).toBe(1);
  });
});

describe('made from nothing', () => {
  it('needs a subject and HTML, and names all that is wrong', async () => {
    await expect(putTemplate(deps, account, 'blank', {})).rejects.toMatchObject({
      code: 'invalid',
      detail: 'subject: must not be empty; html: must not be empty.',
    });
  });

  it('is no part of an account’s sends until it is published', async () => {
    const { template } = await putTemplate(deps, account, 'fresh', {
      subject: 'Hi',
      html: page('Fresh'),
    });
    expect(template).toMatchObject({ publishedVersion: null, newestVersion: 1, name: 'fresh' });
    const published = await publishTemplate({ database: test.database, catalog }, account, 'fresh');
    expect(published.publishedVersion).toBe(1);
  });

  it.each([
    ['slug', 'Not A Slug', {}, /slug must be/],
    ['slug that is a file', 'layout.html', {}, /slug must be/],
    ['category', 'x', { category: 'spam' }, /category: must be one of/],
    ['html', 'x', { html: 7 }, /html: must be a string/],
    ['NUL', 'x', { html: 'a\u0000b' }, /html: must not contain/],
    ['variables', 'x', { variables: [{ name: '1x', required: true }] }, /variables\[0\]\.name: /],
    ['branding', 'x', { variables: [{ name: 'branding.logo', required: true }] }, /every render/],
    [
      'a name twice',
      'x',
      { variables: ['a', 'a'].map((name) => ({ name, required: true })) },
      /variables\[1\]\.name: is "a", as an earlier one is/,
    ],
    ['sample', 'x', { sample: [] }, /sample: must be an object/],
    ['unknown field', 'x', { colour: 'red' }, /colour/],
  ])('names the field at fault: %s', async (_name, slug, change, detail) => {
    const draft = { subject: 'x', html: '<p>x</p>', ...(change as object) };
    await expect(putTemplate(deps, account, slug, draft)).rejects.toMatchObject({
      code: 'invalid',
      detail: expect.stringMatching(detail),
    });
    expect(await findAccountTemplate(test.database, account, slug)).toBeUndefined();
  });
});

describe('bad syntax', () => {
  /** As the operation does it, in a transaction of its own; `making` compiles. */
  const update = (slug: string, change: Record<string, unknown>, making = makeHere(catalog)) =>
    perform(
      {
        ...deps,
        making,
        clock: systemClock,
        directory: { forget: () => {} },
        lint: async () => [],
      } as never,
      templateOperations.find(({ name }) => name === 'update_template')! as Operation,
      { accountId: account, scopes: new Set(['templates:write']), keyId: null } as never,
      { slug, ...change },
      { door: 'cli', requestId: 'test', person: null } as never,
    );

  it('is looked for before the transaction is opened: nobody waits for a compiler with a lock', async () => {
    let open = -1;
    const making = {
      ...makeHere(catalog),
      check: async () => {
        const [found] = await test.database.query<{ open: number }>(
          `SELECT count(*)::int AS open FROM pg_stat_activity
           WHERE datname = current_database() AND state LIKE 'idle in transaction%'`,
        );
        open = found!.open;
      },
    };
    await update('unlocked', { subject: 'x', html: '<p>x</p>' }, making);
    expect(open).toBe(0);
    expect(await findAccountTemplate(test.database, account, 'unlocked')).toBeDefined();
  });

  it('quotes little of a template', async () => {
    const error = await update('long', {
      subject: 'x',
      html: `{{ x|${'y'.repeat(200_000)} }}`,
    }).catch((problem: unknown) => problem as Problem);
    const { detail, faults } = error as Problem;
    expect(detail).toMatch(/^Template "long", line 1, column \d+: No filter named 'y+ … y+'\.$/);
    expect(detail.length).toBeLessThan(400);
    expect(faults[0]!.message.length).toBeLessThan(400);
  });

  it.each([
    ['html', { html: '<p>\n  {% if x %}\n</p>' }, /^Template "broken", line 3, column \d+: /],
    ['html', { html: 'a\nbb {{ x( }}' }, /^Template "broken", line 2, column \d+: /],
    ['an unknown filter', { html: '{{ x | nope }}' }, /line 1, column \d+: .*nope/],
    ['subject', { subject: 'Hi {{ name' }, /^Template "broken", subject, line 1, column \d+: /],
    [
      'preheader',
      { preheader: '{% for %}' },
      /^Template "broken", preheader, line 1, column \d+: /,
    ],
    ['text', { text: 'a\n{{ }}' }, /^Template "broken", text, line 2, column \d+: /],
  ])(
    'in %s is refused with line and column, and nothing is saved',
    async (_part, change, detail) => {
      const before = await versionOf(account);
      const draft = { subject: 'x', html: '<p>x</p>', ...change };
      await expect(update('broken', draft)).rejects.toMatchObject({
        code: 'invalid',
        detail: expect.stringMatching(detail),
      });
      expect(await findAccountTemplate(test.database, account, 'broken')).toBeUndefined();
      expect(await versionOf(account)).toBe(before);
    },
  );

  it('in an edit leaves the versions as they were', async () => {
    await cloneTemplate(deps, account, 'mention');
    await expect(
      update('mention', { html: '{% block a %}', name: 'Changed' }),
    ).rejects.toMatchObject({ code: 'invalid' });
    expect(await findAccountTemplate(test.database, account, 'mention')).toMatchObject({
      newestVersion: 1,
      name: catalog.templates.get('mention')!.name,
    });
  });
});

describe('publishing and rolling back', () => {
  it('goes to the newest, to any, and back over those that were in use', async () => {
    await cloneTemplate(deps, account, 'refund-issued');
    for (const subject of ['two', 'three', 'four']) {
      await putTemplate(deps, account, 'refund-issued', { subject });
    }
    const publish = async (version?: number) =>
      (
        await publishTemplate(
          { database: test.database, catalog },
          account,
          'refund-issued',
          version,
        )
      ).publishedVersion;
    const rollBack = async () =>
      (await rollBackTemplate(test.database, account, 'refund-issued')).publishedVersion;
    expect(await publish(2)).toBe(2);
    expect(await publish()).toBe(4);
    // Version 3 was never in use, so nobody wants to go back to it.
    expect(await rollBack()).toBe(2);
    expect(await rollBack()).toBe(1);
    await expect(rollBack()).rejects.toMatchObject({
      code: 'invalid',
      detail: expect.stringContaining('is the first that was published'),
    });
    expect(await publish(4)).toBe(4);
    await expect(publish(5)).rejects.toMatchObject({ code: 'not-found' });
    const versions = await listTemplateVersions(test.database, account, 'refund-issued');
    expect(versions.map(({ version, publishedAt }) => [version, publishedAt !== null])).toEqual([
      [4, true],
      [3, false],
      [2, true],
      [1, true],
    ]);
  });

  it('has nothing to roll back before the first publication', async () => {
    await putTemplate(deps, account, 'unused', { subject: 'x', html: '<p>x</p>' });
    await expect(rollBackTemplate(test.database, account, 'unused')).rejects.toMatchObject({
      code: 'invalid',
      detail: expect.stringContaining('never published'),
    });
  });

  it('publishing brings an archived template back', async () => {
    await cloneTemplate(deps, account, 'file-shared');
    expect((await archiveTemplate(test.database, account, 'file-shared')).archived).toBe(true);
    expect(
      (await publishTemplate({ database: test.database, catalog }, account, 'file-shared'))
        .archived,
    ).toBe(false);
  });
});

describe('another account', () => {
  it('cannot read, change, publish, roll back or archive it', async () => {
    await cloneTemplate(deps, account, 'invoice', 'secret-invoice');
    const refused = { code: 'not-found' };
    expect(await findAccountTemplate(test.database, other, 'secret-invoice')).toBeUndefined();
    for (const attempt of [
      () => readTemplateVersion(test.database, other, 'secret-invoice', 1),
      () => publishTemplate({ database: test.database, catalog }, other, 'secret-invoice'),
      () => rollBackTemplate(test.database, other, 'secret-invoice'),
      () => archiveTemplate(test.database, other, 'secret-invoice'),
      () => cloneTemplate(deps, other, 'secret-invoice'),
    ]) {
      await expect(attempt()).rejects.toMatchObject(refused);
    }
    expect(await findAccountTemplate(test.database, account, 'secret-invoice')).toMatchObject({
      archived: false,
      publishedVersion: 1,
    });
  });

  it('may use the same slug for its own', async () => {
    await cloneTemplate(deps, other, 'invoice', 'secret-invoice');
    const { version } = await putTemplate(deps, other, 'secret-invoice', { subject: 'theirs' });
    expect(version).toBe(2);
    expect(
      (await findAccountTemplate(test.database, account, 'secret-invoice'))!.newestVersion,
    ).toBe(1);
  });
});

it('every change of what sends use raises the account’s version', async () => {
  const seen = [await versionOf(other)];
  await cloneTemplate(deps, other, 'card-expiring');
  seen.push(await versionOf(other));
  await putTemplate(deps, other, 'card-expiring', { subject: 'x' });
  await publishTemplate({ database: test.database, catalog }, other, 'card-expiring');
  seen.push(await versionOf(other));
  await rollBackTemplate(test.database, other, 'card-expiring');
  seen.push(await versionOf(other));
  await archiveTemplate(test.database, other, 'card-expiring');
  seen.push(await versionOf(other));
  expect(seen).toEqual([...new Set(seen)].sort((a, b) => a - b));
});
