// The catalogue as files: complete, consistent, and refused at start with a clear message if
// something is wrong with it.
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Problem } from '../../src/errors.ts';
import { brandingContext } from '../../src/templates/branding.ts';
import { loadCatalog, textsFor } from '../../src/templates/catalog.ts';
import { categories } from '../../src/templates/categories.ts';
import { compileEmail, emailContext, renderEmail } from '../../src/templates/email-template.ts';
import { valueAt } from '../../src/templates/variables.ts';
import { catalog, catalogFolder, fullBranding, templates } from '../support/catalog.ts';

const promised =
  `welcome verify-email magic-link one-time-code password-reset password-changed new-device-login
  two-factor-enabled email-changed account-locked api-key-created data-export-ready account-deletion-scheduled terms-updated
  team-invitation invitation-accepted role-changed access-request receipt invoice payment-failed card-expiring refund-issued
  subscription-started renewal-reminder subscription-cancelled plan-changed trial-ending usage-limit-warning
  order-confirmation order-shipped out-for-delivery order-delivered order-cancelled return-received booking-confirmation
  booking-reminder booking-cancelled event-ticket ticket-received ticket-reply ticket-resolved feedback-request
  comment-notification mention weekly-digest report-ready incident-notice maintenance-scheduled file-shared approval-request
  form-submission`.split(/\s+/);

describe('the catalogue', () => {
  it('has every template, in nine categories of which none is empty', () => {
    expect([...catalog.templates.keys()].sort()).toEqual([...promised].sort());
    for (const category of categories) {
      expect(templates.filter((template) => template.category === category).length).toBeGreaterThan(
        3,
      );
    }
  });

  it('gives each variable an example, which is what the sample uses', () => {
    for (const { slug, variables, sample } of templates) {
      for (const { name, example, description, type } of variables) {
        expect(valueAt(sample, name), `${slug}: ${name}`).toEqual(example);
        expect(description, `${slug}: ${name}`).toMatch(/^[A-Z`].*\.$/s);
        const kind = Array.isArray(example) ? 'array' : typeof example;
        expect(kind, `${slug}: ${name}`).toBe(type === 'url' ? 'string' : type);
        expect(name.endsWith('_url'), `${slug}: ${name}`).toBe(type === 'url');
      }
      const declared = variables.map(({ name }) => name.split('.')[0]);
      expect(
        Object.keys(sample).every((name) => declared.includes(name)),
        slug,
      ).toBe(true);
      expect(new Set(variables.map(({ name }) => name)).size, slug).toBe(variables.length);
    }
  });

  it('has outlines: nothing but macros and words in a template', () => {
    for (const { slug, html } of templates) {
      expect(html, slug).toMatch(
        /^\{% extends "layout.html" %\}\n\{% import "macros.html" as ui with context %\}\n/,
      );
      expect(html.match(/<\w+/g)?.filter((tag) => tag !== '<br') ?? [], slug).toEqual([]);
      expect(html.split('\n').length, slug).toBeLessThan(45);
    }
  });
});

describe('a faulty catalogue', () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'catalog-'));
    cpSync(catalogFolder, folder, { recursive: true });
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  const write = (file: string, text: string) => writeFileSync(join(folder, file), text);
  const changeMeta = (file: string, change: (meta: Record<string, unknown>) => void) => {
    const meta = JSON.parse(readFileSync(join(folder, file), 'utf8'));
    change(meta);
    write(file, JSON.stringify(meta));
  };

  it('is told about all at once, each fault with its file', () => {
    rmSync(join(folder, 'account/welcome/sample.json'));
    rmSync(join(folder, 'macros.html'));
    write('billing/receipt/meta.json', '{"name": "Receipt",');
    changeMeta('support/ticket-reply/meta.json', (meta) =>
      Object.assign(meta, { variables: [{ name: 'a b', required: 'yes' }] }),
    );
    changeMeta('team/file-shared/meta.json', (meta) => Object.assign(meta, { titel: 'File' }));
    write('security/email-changed/sample.json', '{"name": "Zeynep", "new_email": ""}');
    mkdirSync(join(folder, 'account/Not a slug'));
    mkdirSync(join(folder, 'marketing'));
    renameSync(join(folder, 'bookings'), join(folder, 'booking'));
    let message = '';
    try {
      loadCatalog(folder);
    } catch (fault) {
      message = (fault as Error).message;
    }
    for (const part of [
      'account/welcome/sample.json: ENOENT',
      'macros.html: ENOENT',
      'billing/receipt/meta.json: ',
      'support/ticket-reply/meta.json: ✖',
      'team/file-shared/meta.json: ✖ Unrecognized key: "titel"',
      'security/email-changed/sample.json: Template "email-changed" needs variables that are missing or empty: variables.new_email, variables.changed_at, variables.revert_url',
      'account/Not a slug: a slug is',
      'marketing: not a category',
      'bookings: ENOENT',
    ]) {
      expect(message).toContain(part);
    }
  });

  it('says where a template is no Jinja2, to whoever uses it', () => {
    write(
      'billing/invoice/template.html',
      '{% extends "layout.html" %}\n{% block content %}{{ amount_due }',
    );
    changeMeta('orders/order-shipped/meta.json', (meta) =>
      Object.assign(meta, { subject: '{{ order_number ' }),
    );
    const { templates } = loadCatalog(folder);
    const compiled = (slug: string) => () => templates.get(slug)!.compiled;
    expect(compiled('invoice')).toThrow('Template "invoice", line 2, column');
    expect(compiled('order-shipped')).toThrow('Template "order-shipped", subject, line 1, column');
    expect(compiled('welcome')()).toBe(templates.get('welcome')!.compiled);
  });

  it('may not hold two templates of one slug', () => {
    cpSync(join(folder, 'account/welcome'), join(folder, 'team/welcome'), { recursive: true });
    expect(() => loadCatalog(folder)).toThrow('team/welcome: another template has this slug too');
  });
});

describe('a template of an account', () => {
  const compile = (html: string, subject = 'Hello') =>
    compileEmail(catalog.environment, { slug: 'mine', subject, preheader: 'Soon', html });
  const context = emailContext(
    { name: 'Ngozi <3' },
    brandingContext(fullBranding),
    textsFor(catalog, undefined, ['"welcome"']).language({
      wanted: undefined,
      standard: undefined,
    }),
  );

  it('may extend the layout, import the macros and replace blocks', () => {
    const email = renderEmail(
      compile(
        '{% extends "layout.html" %}{% import "macros.html" as ui with context %}' +
          '{% block content %}{{ ui.heading("Hi " ~ name) }}{{ ui.button("Go", "https://x.example") }}{% endblock %}' +
          '{% block help %}<p>Hilfe</p>{% endblock %}',
        'For {{ name }}\nnow',
      ),
      context,
    );
    expect(email.subject).toBe('For Ngozi <3 now');
    expect(email.html).toContain('Hi Ngozi &lt;3</h1>');
    expect(email.html).toContain('<title>For Ngozi &lt;3 now</title>');
    expect(email.html).toContain('<p>Hilfe</p>');
    expect(email.html).not.toContain('Need help?');
    expect(email.html).toContain('Terms &amp; Conditions');
  });

  it('may start from a system template by its slug', () => {
    const html = '{% extends "welcome" %}{% block help %}{% endblock %}';
    expect(renderEmail(compile(html), context).html).toContain(
      'Welcome to Alder\u00a0&amp;\u00a0Finch</h1>',
    );
  });

  it('is refused with part, line and column', () => {
    expect(() => compile('a\n{% if %}')).toThrow(Problem);
    expect(() => compile('a\n{% if %}')).toThrow(/^Template "mine", line 2, column \d+: /);
    expect(() => compile('a', '{{ b')).toThrow(/^Template "mine", subject, line 1, column \d+: /);
  });

  it('tells where rendering failed', () => {
    const faulty = compile('a\nb {{ name.first.last }}');
    expect(() => renderEmail(faulty, context)).toThrow(/^Template "mine", line 2, column \d+: /);
    const lost = compile('{% extends "no-such" %}');
    expect(() => renderEmail(lost, context)).toThrow(/no-such/);
  });

  it('may import the macros with or without context', () => {
    const [seeing, blind] = [' with context', ''].map((how) =>
      renderEmail(
        compile(`{% import "macros.html" as ui${how} %}{{ ui.button('Go', '/') }}`),
        context,
      ),
    );
    expect(seeing!.html).toContain('Go');
    expect(blind).toEqual(seeing);
  });
});
