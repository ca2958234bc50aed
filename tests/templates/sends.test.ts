// Sends from templates through the running service: what an account's next send uses, what it
// records, what it is refused with.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { setBranding } from '../../src/templates/account-branding.ts';
import {
  archiveTemplate,
  cloneTemplate,
  publishTemplate,
  putTemplate,
  rollBackTemplate,
} from '../../src/templates/account-templates.ts';
import { catalog } from '../support/catalog.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { startTestService, type TestAccount, type TestService } from '../support/service.ts';
import { fromTemplate, page, type StoredEmail, storedEmail } from './support.ts';

let test: TestDatabase;
let service: TestService;
/** A second one on the same database, which learns of changes as any other process does. */
let elsewhere: TestService;
let deps: { database: TestDatabase['database']; catalog: typeof catalog };

beforeAll(async () => {
  test = await createTestDatabase();
  service = await startTestService({}, { on: test });
  elsewhere = await startTestService({}, { on: test });
  deps = { database: test.database, catalog };
});
afterAll(async () => {
  await elsewhere.stop();
  await service.stop();
  await test.drop();
});

async function send(
  account: TestAccount,
  request: Record<string, unknown>,
  through = service,
): Promise<StoredEmail> {
  const answer = await through.send(account.key, request);
  expect(answer.body).toMatchObject({ status: 'queued' });
  return await storedEmail(test.database, answer.body.id);
}

async function refused(account: TestAccount, request: Record<string, unknown>, status: number) {
  const answer = await service.send(account.key, request);
  expect(answer.status).toBe(status);
  return answer.body.detail as string;
}

/**
 * Sends until the email is as wanted. No send that began more than a second after the change may
 * still be otherwise.
 */
async function soon(
  account: TestAccount,
  request: Record<string, unknown>,
  wanted: (email: StoredEmail) => boolean,
  through = service,
): Promise<StoredEmail> {
  const changedAt = performance.now();
  for (;;) {
    const age = performance.now() - changedAt;
    const email = await send(account, request, through);
    if (wanted(email)) return email;
    expect(age).toBeLessThan(1000);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

const sample = (slug: string) => catalog.templates.get(slug)!.sample;

describe('a system template', () => {
  it('is rendered at accept time: subject, HTML and a text derived from it', async () => {
    const account = await service.account();
    const email = await send(account, fromTemplate('order-shipped', sample('order-shipped')));
    expect(email).toMatchObject({
      template: 'order-shipped',
      templateVersion: null,
      brandingVersion: 0,
    });
    expect(email.html).toContain('<!DOCTYPE html>');
    expect(email.html).toContain('#00a071');
    expect(email.subject).not.toMatch(/[{}]/);
    expect(email.text).not.toMatch(/<[a-z]/i);
    expect(email.text.length).toBeGreaterThan(50);
  });

  it('keeps what was rendered, whatever changes afterwards', async () => {
    const account = await service.account();
    const answer = await service.send(account.key, fromTemplate('welcome', sample('welcome')));
    const before = await storedEmail(test.database, answer.body.id);
    await setBranding(test.database, account.id, { primary_color: '#123456' });
    await cloneTemplate(deps, account.id, 'welcome');
    expect(await storedEmail(test.database, answer.body.id)).toEqual(before);
  });
});

describe('an own template', () => {
  it('cloned, edited and published is what the next send uses, with its version', async () => {
    const account = await service.account();
    const request = fromTemplate('welcome', { ...sample('welcome'), name: 'Ada' });
    expect(await send(account, request)).toMatchObject({ templateVersion: null });
    await cloneTemplate(deps, account.id, 'welcome');
    const cloned = await soon(account, request, (email) => email.templateVersion === 1);
    const { version } = await putTemplate(deps, account.id, 'welcome', {
      subject: 'Ours, {{ name }}',
      html: page('Edited'),
    });
    // A draft is used by nobody.
    expect(await send(account, request)).toMatchObject({ ...cloned, templateVersion: 1 });
    await publishTemplate({ database: test.database, catalog }, account.id, 'welcome', version);
    const email = await soon(account, request, (it) => it.templateVersion === version);
    expect(email).toMatchObject({ template: 'welcome', templateVersion: 2, subject: 'Ours, Ada' });
    expect(email.html).toContain('Edited');
    expect(email.text).toContain('Hello Ada');
  });

  it('rolled back is the earlier one again, archived the system’s', async () => {
    const account = await service.account();
    const request = fromTemplate('welcome', { ...sample('welcome'), name: 'Ada' });
    await cloneTemplate(deps, account.id, 'welcome');
    await putTemplate(deps, account.id, 'welcome', { html: page('Second') });
    await publishTemplate({ database: test.database, catalog }, account.id, 'welcome');
    expect((await soon(account, request, (it) => it.templateVersion === 2)).html).toContain(
      'Second',
    );
    await rollBackTemplate(test.database, account.id, 'welcome');
    const back = await soon(account, request, (it) => it.templateVersion === 1);
    expect(back.html).not.toContain('Second');
    await archiveTemplate(test.database, account.id, 'welcome');
    await soon(account, request, (it) => it.templateVersion === null);
  });

  it('wins over the system one only for its account', async () => {
    const [mine, theirs] = [await service.account(), await service.account()];
    await cloneTemplate(deps, mine.id, 'welcome');
    await putTemplate(deps, mine.id, 'welcome', { subject: 'Mine' });
    await publishTemplate({ database: test.database, catalog }, mine.id, 'welcome');
    const request = fromTemplate('welcome', sample('welcome'));
    expect(await send(mine, request)).toMatchObject({ subject: 'Mine', templateVersion: 2 });
    expect(await send(theirs, request)).toMatchObject({ templateVersion: null });
  });

  it('may extend a system template of the same slug, and reads branding', async () => {
    const account = await service.account();
    await setBranding(test.database, account.id, { brand_name: 'Acme', primary_color: '#aa0011' });
    await putTemplate(deps, account.id, 'welcome', {
      subject: '{{ branding.brand_name }}',
      html: '{% extends "welcome" %}{% block help %}Ask {{ branding.brand_name }}!{% endblock %}',
    });
    await publishTemplate({ database: test.database, catalog }, account.id, 'welcome');
    const email = await send(account, fromTemplate('welcome', sample('welcome')));
    expect(email).toMatchObject({ subject: 'Acme', templateVersion: 1, brandingVersion: 1 });
    expect(email.html).toContain('Ask Acme!');
    expect(email.html).toContain('#aa0011');
  });

  it('brings a text of its own, or a blank one that is derived', async () => {
    const account = await service.account();
    await putTemplate(deps, account.id, 'note', {
      subject: 'Note',
      html: '<h1>Note</h1><p>For {{ name }}</p>',
      text: '{% if name %}Dear {{ name }} & co{% endif %}\n',
    });
    await publishTemplate({ database: test.database, catalog }, account.id, 'note');
    expect((await send(account, fromTemplate('note', { name: 'Ada' }))).text).toBe('Dear Ada & co');
    expect((await send(account, fromTemplate('note'))).text).toContain('For');
  });
});

describe('another account', () => {
  it('can neither see, extend, include nor import it', async () => {
    const [owner, stranger] = [await service.account(), await service.account()];
    await putTemplate(deps, owner.id, 'private-layout', {
      subject: 'x',
      html: '{% macro secret() %}SECRET{% endmacro %}SECRET{% block content %}{% endblock %}',
    });
    await publishTemplate({ database: test.database, catalog }, owner.id, 'private-layout');
    expect((await send(owner, fromTemplate('private-layout'))).html).toContain('SECRET');
    expect(await refused(stranger, fromTemplate('private-layout'), 404)).not.toContain('SECRET');
    for (const [slug, html] of [
      ['by-extending', '{% extends "private-layout" %}'],
      ['by-including', '{% include "private-layout" %}'],
      ['by-importing', '{% import "private-layout" as x %}{{ x.secret() }}'],
      ['by-naming', '{% extends base %}'],
    ] as const) {
      await putTemplate(deps, stranger.id, slug, { subject: 'x', html });
      await publishTemplate({ database: test.database, catalog }, stranger.id, slug);
      await soonKnown(stranger, slug);
      const variables: Record<string, unknown> =
        slug === 'by-naming' ? { base: 'private-layout' } : {};
      const detail = await refused(stranger, fromTemplate(slug, variables), 400);
      expect(detail).toContain('there is no template "private-layout"');
      expect(detail).toMatch(/line 1, column \d+/);
      expect(detail).not.toContain('SECRET');
    }
  });

  it('is offered no slug of it in a suggestion', async () => {
    const [owner, stranger] = [await service.account(), await service.account()];
    await putTemplate(deps, owner.id, 'zebra-crossing', { subject: 'x', html: 'x' });
    await publishTemplate({ database: test.database, catalog }, owner.id, 'zebra-crossing');
    expect(await refused(owner, fromTemplate('zebra-crosing'), 404)).toContain('zebra-crossing');
    expect(await refused(stranger, fromTemplate('zebra-crosing'), 404)).toBe(
      'There is no template "zebra-crosing".',
    );
  });
});

/** Until this process has learned of the slug. */
async function soonKnown(account: TestAccount, slug: string): Promise<void> {
  const changedAt = performance.now();
  for (;;) {
    const age = performance.now() - changedAt;
    if ((await service.send(account.key, fromTemplate(slug))).status !== 404) return;
    expect(age).toBeLessThan(1000);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

describe('refusals', () => {
  let account: TestAccount;
  beforeAll(async () => {
    account = await service.account();
  });

  it('every missing required variable is named, by its path', async () => {
    const { variables } = catalog.templates.get('order-confirmation')!;
    const required = variables.filter((it) => it.required).map((it) => it.name);
    expect(required.length).toBeGreaterThan(2);
    const detail = await refused(account, fromTemplate('order-confirmation', {}), 400);
    for (const name of required) expect(detail).toContain(`variables.${name}`);
    const [first, ...rest] = required;
    const given = { [first!]: sample('order-confirmation')[first!] };
    const shorter = await refused(account, fromTemplate('order-confirmation', given), 400);
    expect(shorter).not.toContain(`variables.${first},`);
    for (const name of rest) expect(shorter).toContain(`variables.${name}`);
  });

  it('a path into an object, null and an empty text count as missing', async () => {
    await putTemplate(deps, account.id, 'paths', {
      subject: 'x',
      html: '<p>{{ buyer.name }}</p>',
      variables: [
        { name: 'buyer.name', required: true },
        { name: 'buyer.address.city', required: true },
        { name: 'note', required: false },
      ],
    });
    await publishTemplate({ database: test.database, catalog }, account.id, 'paths');
    await soonKnown(account, 'paths');
    const detail = await refused(
      account,
      fromTemplate('paths', { buyer: { name: '', address: { city: null } } }),
      400,
    );
    expect(detail).toContain('variables.buyer.name, variables.buyer.address.city.');
    const whole = { buyer: { name: 'Ada', address: { city: 'London' } } };
    expect((await send(account, fromTemplate('paths', whole))).html).toContain('Ada');
  });

  it('an unknown slug is 404 with the nearest', async () => {
    expect(await refused(account, fromTemplate('wellcome'), 404)).toBe(
      'There is no template "wellcome". Did you mean welcome?',
    );
    expect(await refused(account, fromTemplate('reset-password'), 404)).toContain('password-reset');
    for (const slug of ['layout.html', 'macros.html', '__proto__', '../welcome']) {
      expect(await refused(account, fromTemplate(slug), 404)).toContain('There is no template');
    }
  });

  it('a render error is 400 with template, line and message, also for one without end', async () => {
    const faults = {
      dividing: ['<p>\n{{ 1 / nothing }}</p>', /^Template "dividing", line 2, column \d+: /],
      endless: [
        '{% for a in range(99999) %}{% for b in range(99999) %}{{ nothing }}{% endfor %}{% endfor %}',
        /^Template "endless", line 1, column \d+: /,
      ],
    } as const;
    for (const [slug, [html, detail]] of Object.entries(faults)) {
      await putTemplate(deps, account.id, slug, { subject: 'x', html });
      await publishTemplate({ database: test.database, catalog }, account.id, slug);
      await soonKnown(account, slug);
      expect(await refused(account, fromTemplate(slug, { nothing: 0 }), 400)).toMatch(detail);
    }
  });

  it('bad syntax in a subject or text of the request is 400 with line and column', async () => {
    const request = fromTemplate('welcome', sample('welcome'));
    expect(await refused(account, { ...request, subject: 'Hi {{ name' }, 400)).toMatch(
      /^Template "welcome", subject, line 1, column \d+: /,
    );
    expect(await refused(account, { ...request, text: 'a\n{% if %}' }, 400)).toMatch(
      /^Template "welcome", text, line 2, column \d+: /,
    );
  });
});

describe('subject and text of the request', () => {
  it('replace the template’s and are rendered with its context, unescaped', async () => {
    const account = await service.account();
    await setBranding(test.database, account.id, { brand_name: 'Smith & Sons' });
    const email = await send(
      account,
      fromTemplate(
        'welcome',
        { ...sample('welcome'), name: 'Ada <3', more: { n: [1, 2] } },
        {
          subject: 'Hi {{ name }} from {{ branding.brand_name }}',
          text: 'Line 1: {{ name }}\nLine 2: {{ more.n | sum }}\n{% include "welcome" ignore missing %}',
        },
      ),
    );
    expect(email.subject).toBe('Hi Ada <3 from Smith & Sons');
    expect(email.text).toBe('Line 1: Ada <3\nLine 2: 3\n');
    expect(email.html).toContain('<title>Hi Ada &lt;3 from Smith &amp; Sons</title>');
  });

  it('a text that comes out blank is derived after all', async () => {
    const account = await service.account();
    const request = fromTemplate('welcome', sample('welcome'));
    const derived = await send(account, request);
    expect(await send(account, { ...request, text: ' {{ nothing }}\n' })).toEqual(derived);
    expect(await send(account, { ...request, text: '' })).toEqual(derived);
  });

  it('a subject that comes out empty or with a line break is no header of its own', async () => {
    const account = await service.account();
    const request = fromTemplate('welcome', sample('welcome'));
    expect(await refused(account, { ...request, subject: '{{ nothing }}' }, 400)).toContain(
      'empty',
    );
    const broken = { ...request, subject: 'A\r\nBcc: {{ "x@example.com" }}' };
    expect((await send(account, broken)).subject).toBe('A Bcc: x@example.com');
  });
});

describe('branding', () => {
  it('that was set is in the next sends of every process within a second, with its version', async () => {
    const account = await service.account();
    const request = fromTemplate('password-reset', sample('password-reset'));
    expect(await send(account, request)).toMatchObject({ brandingVersion: 0 });
    expect(await send(account, request, elsewhere)).toMatchObject({ brandingVersion: 0 });
    await setBranding(test.database, account.id, {
      brand_name: 'Acme',
      primary_color: '#5b21b6',
      privacy_policy_url: 'https://acme.example/privacy',
      footer_html: '<p>Acme, 1 Road</p>',
    });
    const both = await Promise.all(
      [service, elsewhere].map((through) =>
        soon(account, request, (email) => email.brandingVersion === 1, through),
      ),
    );
    for (const email of both) {
      expect(email.html).toContain('#5b21b6');
      expect(email.html).not.toContain('#00a071');
      expect(email.html).toContain('<p>Acme, 1 Road</p>');
      expect(email.html).toContain('https://acme.example/privacy');
      expect(email.html).not.toContain('Terms');
    }
    await setBranding(test.database, account.id, { primary_color: '' });
    const email = await soon(account, request, (it) => it.brandingVersion === 2, elsewhere);
    expect(email.html).toContain('#00a071');
  });

  it('is the account’s own: the request cannot overwrite it', async () => {
    const account = await service.account();
    await setBranding(test.database, account.id, { brand_name: 'Acme' });
    const email = await send(
      account,
      fromTemplate('welcome', {
        ...sample('welcome'),
        branding: { brand_name: 'Evil', primary_color: 'red', footer_html: '<b>Evil</b>' },
      }),
    );
    expect(email.html).toContain('Acme');
    expect(email.html).not.toContain('Evil');
  });

  it('set by many at once numbers every version once', async () => {
    const account = await service.account();
    const set = await Promise.all(
      Array.from({ length: 12 }, (_, index) =>
        setBranding(test.database, account.id, { button_radius: index }),
      ),
    );
    expect(set.map(({ version }) => version).sort((a, b) => a - b)).toEqual(
      Array.from({ length: 12 }, (_, index) => index + 1),
    );
    const [row] = await test.database.query<{ fields: { button_radius: number } }>(
      'SELECT fields FROM branding WHERE account_id = $1 AND version = 5',
      [account.id],
    );
    expect(row!.fields).toMatchObject({ primary_color: '#00a071' });
    expect(row!.fields.button_radius).toBe(
      set.find(({ version }) => version === 5)!.fields.button_radius,
    );
  });

  it.each([
    ['primary_color', 'red'],
    ['accent_color', '#12'],
    ['button_radius', 25],
    ['button_radius', 1.5],
    ['logo_url', 'javascript:alert(1)'],
    ['footer_html', 'a\u0000b'],
    ['support_email', 'nobody'],
    ['nonsense', 'x'],
  ])('names the field at fault: %s', async (field, value) => {
    const account = await service.account();
    await expect(setBranding(test.database, account.id, { [field]: value })).rejects.toMatchObject({
      code: 'invalid',
      detail: expect.stringContaining(field),
    });
  });
});
