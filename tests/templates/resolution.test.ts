// Resolution from memory, and the offering that list_templates and get_template show, over real
// PostgreSQL.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type Directory, openDirectory } from '../../src/accounts/directory.ts';
import { systemClock } from '../../src/process/clock.ts';
import { createLog } from '../../src/process/log.ts';

import type { Queryable } from '../../src/store/pool.ts';
import { setBranding } from '../../src/templates/account-branding.ts';
import {
  archiveTemplate,
  cloneTemplate,
  publishTemplate,
  putTemplate,
} from '../../src/templates/account-templates.ts';
import { makeHere } from '../../src/templates/making.ts';
import { createOffering, type Offering } from '../../src/templates/offering.ts';
import { createRenderer, type RenderTemplate } from '../../src/templates/rendering.ts';
import { openResolution, type Resolve } from '../../src/templates/resolution.ts';
import { catalog } from '../support/catalog.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { makeAccount } from '../support/service.ts';

let test: TestDatabase;
let directory: Directory;
let resolve: Resolve;
let render: RenderTemplate;
let queries = 0;
let account: number;

beforeAll(async () => {
  test = await createTestDatabase();
  directory = openDirectory({
    database: test.database,
    clock: systemClock,
    log: createLog('silent'),
    bounceDomain: 'bounces.localhost',
  });
  const counted: Queryable = {
    query: (text, values) => {
      queries++;
      return test.database.query(text, values);
    },
    prepared: (name, text, values) => {
      queries++;
      return test.database.prepared(name, text, values);
    },
    call: test.database.call,
    readValue: test.database.readValue,
    home: test.database.home,
  };
  resolve = openResolution({ database: counted, catalog, perAccount: directory.perAccount });
  render = createRenderer(resolve, makeHere(catalog));
});
afterAll(async () => {
  await directory.close();
  await test.drop();
});
beforeEach(async () => {
  account = (await makeAccount(test.database)).id;
});

const deps = () => ({ database: test.database, catalog });

describe('memory', () => {
  it('asks the database nothing for the second send, of a system template or an own', async () => {
    await putTemplate(deps(), account, 'own', { subject: 'Own', html: '<p>{{ x }}</p>' });
    await publishTemplate({ database: test.database, catalog }, account, 'own');
    const send = async () => {
      await render(account, { slug: 'own', variables: { x: 1 } });
      await render(account, {
        slug: 'welcome',
        variables: catalog.templates.get('welcome')!.sample,
      });
      await render(account, { slug: 'unknown', variables: {} }).catch(() => undefined);
    };
    await send();
    queries = 0;
    for (let i = 0; i < 20; i++) await send();
    expect(queries).toBe(0);
  });

  it('loads an account once for callers that come together', async () => {
    queries = 0;
    await Promise.all(Array.from({ length: 20 }, () => resolve(account, 'welcome')));
    expect(queries).toBe(3);
  });

  it('loads a version once, also when something else of the account changes', async () => {
    await cloneTemplate(deps(), account, 'invoice');
    const before = (await resolve(account, 'invoice')).template;
    await setBranding(test.database, account, { brand_name: 'Acme' });
    directory.forget(account);
    const after = await resolve(account, 'invoice');
    expect(after.branding.version).toBe(1);
    expect(after.template).toBe(before);
  });

  it('forgets a load that failed', async () => {
    await putTemplate(deps(), account, 'own', { subject: 'Own', html: '<p>x</p>' });
    await expect(resolve(account, 'own', 2)).rejects.toMatchObject({ code: 'not-found' });
    await putTemplate(deps(), account, 'own', { subject: 'Two' });
    expect((await resolve(account, 'own', 2)).template.subject).toBe('Two');
  });

  it('keeps accounts apart: the same slug and version is another template', async () => {
    const other = (await makeAccount(test.database)).id;
    for (const [id, subject] of [
      [account, 'Mine'],
      [other, 'Theirs'],
    ] as const) {
      await putTemplate(deps(), id, 'same', { subject, html: '<p>x</p>' });
      await publishTemplate({ database: test.database, catalog }, id, 'same');
    }
    expect((await render(account, { slug: 'same', variables: {} })).subject).toBe('Mine');
    expect((await render(other, { slug: 'same', variables: {} })).subject).toBe('Theirs');
  });
});

describe('the offering', () => {
  let offering: Offering;
  beforeAll(() => {
    offering = createOffering({ database: test.database, catalog, resolve, render });
  });

  it('lists the system templates by category and slug, or those of one category', async () => {
    const all = await offering.list(account);
    expect(all.map((it) => it.slug)).toEqual([...catalog.templates.keys()]);
    const orders = await offering.list(account, 'orders');
    expect(orders.length).toBeGreaterThan(3);
    expect(new Set(orders.map((it) => it.category))).toEqual(new Set(['orders']));
  });

  it('lists own published templates, in place of system ones of the same slug', async () => {
    await cloneTemplate(deps(), account, 'welcome');
    await putTemplate(deps(), account, 'welcome', { name: 'Our welcome' });
    await publishTemplate(deps(), account, 'welcome');
    await putTemplate(deps(), account, 'draft-only', { subject: 'x', html: 'x' });
    await cloneTemplate(deps(), account, 'invoice', 'old-invoice');
    await archiveTemplate(test.database, account, 'old-invoice');
    const all = await offering.list(account);
    expect(all).toHaveLength(catalog.templates.size);
    expect(all.find((it) => it.slug === 'welcome')!.name).toBe('Our welcome');
    const slugs = all.map((it) => it.slug);
    expect(slugs).not.toContain('draft-only');
    expect(slugs).not.toContain('old-invoice');
    const other = (await makeAccount(test.database)).id;
    expect((await offering.list(other)).find((it) => it.slug === 'welcome')!.name).toBe(
      catalog.templates.get('welcome')!.name,
    );
  });

  it('gets one with its schema, sample and how it reads in the account’s branding', async () => {
    await setBranding(test.database, account, { brand_name: 'Smith & Sons' });
    const system = catalog.templates.get('welcome')!;
    const found = await offering.get(account, 'welcome');
    expect(found).toMatchObject({
      slug: 'welcome',
      // As people read it, with the messages put in.
      subject:
        '{% if branding.brand_name %}Welcome to {{ branding.brand_name }}{% else %}Welcome aboard{% endif %}',
      sample: system.sample,
      variables: system.variables,
    });
    expect(found!.preview).toContain('Smith & Sons');
    expect(await offering.get(account, 'nope')).toBeUndefined();
  });

  it('says so when the sample does not fit', async () => {
    await putTemplate(deps(), account, 'bare', {
      subject: 'x',
      html: 'x',
      variables: [{ name: 'who', required: true }],
    });
    await publishTemplate({ database: test.database, catalog }, account, 'bare');
    const found = await offering.get(account, 'bare');
    expect(found!.preview).toContain('variables.who');
  });
});
