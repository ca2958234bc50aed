// The catalogue in its languages: each has every message and no other, with the same placeholders
// and the plural forms that the language has; every template renders in each with nothing left in
// English or unfilled.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { LANGUAGES } from '../../src/templates/languages.ts';
import { keysIn } from '../../src/templates/message-keys.ts';
import { formsOf, type Messages, placeholdersOf } from '../../src/templates/messages.ts';
import { sampleIn } from '../../src/templates/samples.ts';
import { requireFit } from '../../src/templates/variable-fit.ts';
import {
  catalog,
  catalogFolder,
  fullBranding,
  render,
  requiredOnly,
  templates,
} from '../support/catalog.ts';

const english: [string, Messages][] = [
  ['common', catalog.common.en!],
  ...templates.map(({ slug, messages }): [string, Messages] => [slug, messages.en ?? {}]),
];
const inLanguage = (section: string, locale: string): Messages =>
  (section === 'common' ? catalog.common : catalog.templates.get(section)!.messages)[locale] ?? {};

it('there are ten', () => {
  const files = readdirSync(join(catalogFolder, 'messages')).sort();
  expect(files).toEqual(LANGUAGES.map((locale) => `${locale}.json`));
});

describe('English', () => {
  const shared = ['layout.html', 'macros.html'].map((file) =>
    readFileSync(join(catalogFolder, file), 'utf8'),
  );
  const sources = (slug: string) => {
    const { subject, preheader, html } = catalog.templates.get(slug)!;
    return [subject, preheader, html];
  };

  it('has every key that a template asks for, and none that no template does', () => {
    for (const { slug, messages } of templates) {
      const asked = keysIn(sources(slug));
      const own = Object.keys(messages.en ?? {});
      const known = new Set([...own, ...Object.keys(catalog.common.en!)]);
      expect(
        [...asked].filter((key) => !known.has(key)),
        `${slug}: missing`,
      ).toEqual([]);
      expect(
        own.filter((key) => !asked.has(key)),
        `${slug}: unused`,
      ).toEqual([]);
    }
  });

  it('has no common message that nothing asks for', () => {
    const asked = keysIn([...shared, ...templates.flatMap(({ slug }) => sources(slug))]);
    expect(Object.keys(catalog.common.en!).filter((key) => !asked.has(key))).toEqual([]);
    expect([...keysIn(shared)].filter((key) => !(key in catalog.common.en!))).toEqual([]);
  });
});

describe.each(LANGUAGES)('%s', (locale) => {
  const forms = new Intl.PluralRules(locale).resolvedOptions().pluralCategories.sort();

  it('has the messages of English, with the same placeholders', () => {
    for (const [section, messages] of english) {
      const here = inLanguage(section, locale);
      expect(Object.keys(here), section).toEqual(Object.keys(messages));
      for (const [key, message] of Object.entries(messages)) {
        const placeholders = [...placeholdersOf(message)].sort();
        expect([...placeholdersOf(here[key]!)].sort(), `${section}.${key}`).toEqual(placeholders);
      }
    }
  });

  it('has every plural form of the language, and no markup', () => {
    for (const [section, messages] of english) {
      const here = inLanguage(section, locale);
      for (const [key, message] of Object.entries(messages)) {
        const translated = here[key]!;
        expect(typeof translated, `${section}.${key}`).toBe(typeof message);
        if (typeof translated === 'object') expect(Object.keys(translated).sort()).toEqual(forms);
        for (const text of formsOf(translated)) {
          expect(text, `${section}.${key}`).toMatch(/\S/);
          expect(text, `${section}.${key}`).not.toMatch(/[<>]|&\w+;|^\s|\s$| {2}|\{\{/);
        }
      }
    }
  });

  it.each(templates.map((template) => [template.slug, template] as const))(
    'renders %s',
    (_slug, template) => {
      const sample = sampleIn(catalog.phrases, template.sample, [locale]);
      for (const variables of [sample, requiredOnly(template)]) {
        const { subject, html, text } = render(template, fullBranding, variables, locale);
        expect(html).toContain(`<html lang="${locale}" dir="${locale === 'ar' ? 'rtl' : 'ltr'}">`);
        expect(`${subject}\n${text}`).not.toMatch(/\{\w+\}|undefined|None|\[object/);
        // No sentence ends twice ("390 kr.."), and a subject is searched for by the hyphen that
        // people type.
        expect(html).not.toMatch(/\p{L}\.\.(?!\.)/u);
        expect(subject).not.toContain('\u2011');
        expect(subject.length).toBeGreaterThan(3);
        expect(subject.length).toBeLessThan(90);
        expect(Buffer.byteLength(html)).toBeLessThan(60_000);
      }
    },
  );
});

it('a region gets the words of its language', () => {
  const subject = (locale: string) => {
    const order = catalog.templates.get('order-shipped')!;
    return render(order, fullBranding, order.sample, locale).subject;
  };
  for (const locale of ['pt', 'pt-BR', 'pt-PT'])
    expect(subject(locale)).toBe('Seu pedido W-20417 foi enviado');
  expect(subject('de-AT')).toBe('Ihre Bestellung W-20417 wurde verschickt');
  expect(subject('ja-JP')).toBe('ご注文 W-20417 を発送しました');
  expect(subject('sv')).toBe('Your order W-20417 has shipped');
});

it('an incident says its state in the language of the email, and is over in every one', () => {
  const incident = catalog.templates.get('incident-notice')!;
  const notice = (status: string, locale: string) => {
    const email = render(incident, fullBranding, { ...incident.sample, status }, locale);
    return { ...email, subject: email.subject.replace(/[\u2068\u2069]/g, '') };
  };
  for (const [locale, monitoring, resolved] of [
    ['en', 'Monitoring', 'Resolved'],
    ['de', 'Wird beobachtet', 'Behoben'],
    ['ar', 'قيد المراقبة', 'تم الحل'],
  ] as const) {
    expect(notice('monitoring', locale).subject).toBe(`${monitoring}: ${incident.sample.title}`);
    for (const status of ['Resolved', resolved]) {
      const { subject, html, text } = notice(status, locale);
      expect(subject).toBe(`${resolved}: ${incident.sample.title}`);
      expect(html).toContain('class="success"');
      expect(text).toContain(incident.messages[locale]!.thanks);
    }
  }
  expect(notice('Rolling back', 'de').subject).toMatch(/^Rolling back: /);
  expect(notice('Rolling back', 'fr').subject).toMatch(/^Rolling back : /);
  expect(notice('Rolling back', 'ja').subject).toMatch(/^Rolling back：/);
});

it('the month on the leaf of a calendar is short enough for one line', () => {
  const ticket = catalog.templates.get('event-ticket')!;
  for (const locale of LANGUAGES) {
    for (let month = 1; month <= 12; month++) {
      const start = `2026-${String(month).padStart(2, '0')}-04`;
      const event = { ...(ticket.sample.event as object), start };
      const { html } = render(ticket, fullBranding, { ...ticket.sample, event }, locale);
      const [, name] = /color:[^"]*">([^<]+)<\/td><\/tr><tr><td class="ink" align="center"/.exec(
        html,
      )!;
      expect(name!.length, `${locale}: ${name}`).toBeLessThan(8);
    }
  }
});

it('Japanese sentences stand without spaces between them', () => {
  for (const template of templates) {
    const sample = sampleIn(catalog.phrases, template.sample, ['ja']);
    const { html, text } = render(template, fullBranding, sample, 'ja');
    expect(html + text, template.slug).not.toContain('。 ');
  }
});

it('what the sender wrote keeps its own direction in Arabic, and has no marks elsewhere', () => {
  const texts = (slug: string, locale: string) => {
    const template = catalog.templates.get(slug)!;
    return render(template, fullBranding, template.sample, locale).html;
  };
  for (const [slug, written] of [
    ['weekly-digest', ['4–10 May', '12% more', 'Say hello to Oluwaseun and Diego.']],
    ['comment-notification', ['And page 9 still has last year’s prices.']],
    [
      'usage-limit-warning',
      ['Once you reach the limit, new emails wait until your allowance resets.'],
    ],
    ['receipt', ['Studio plan', '3 June to 2 July 2026']],
    ['data-export-ready', ['148 MB', 'ZIP archive with JSON and CSV files']],
  ] as const) {
    for (const words of written) expect(texts(slug, 'ar')).toContain(`\u2068${words}\u2069`);
    expect(texts(slug, 'de')).not.toMatch(/[\u2068\u2069]/);
  }
});

it('in Arabic, a value with an Arabic word in it reads from the right, though it begins with a name', () => {
  const login = catalog.templates.get('new-device-login')!;
  const sample = sampleIn(catalog.phrases, login.sample, ['ar']);
  const { html } = render(login, fullBranding, sample, 'ar');
  expect(html).toContain('\u2067Chrome على Windows\u2069');
  expect(html).toContain(`\u2068${sample.ip_address ?? '203.0.113.24'}\u2069`);
});

describe('every message follows the conventions of its language (CONTRIBUTING.md)', () => {
  const unwanted: Record<string, { typography: RegExp; address?: RegExp }> = {
    ar: { typography: /[,;?](?!\d)/ },
    de: {
      typography: /“[^“]*“|„[^“]*$|”/,
      address: /(?<![\p{L}])(?:du|dich|dir|dein\p{L}*)(?!\p{L})/iu,
    },
    es: { typography: /^[^¿]*\?|^[^¡]*!/, address: /\busted(?:es)?\b/i },
    fr: {
      typography: / [?!:;»%]|« /,
      address: /(?<![\p{L}’])(?:tu|toi|ton|ta|tes)(?!\p{L})/iu,
    },
    it: { typography: /[“”]/, address: /\b(?:Lei|Suo|Sua|Suoi|Sue)\b/ },
    ja: { typography: /[\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Han}][?!,;:]/u },
    nl: { typography: /[„«»]/, address: /\b(?:u|uw)\b/i },
    pl: {
      typography: /[“«»]|(?<![\p{L}{])[aiouwz] /iu,
      address: /(?<!\p{L})(?:Pan|Pani|Państw\p{L}*)(?!\p{L})/u,
    },
    pt: { typography: /[«»]/, address: /\b(?:tu|teu|tua|teus|tuas)\b/i },
  };

  it.each(Object.entries(unwanted))('%s', (locale, { typography, address }) => {
    for (const [section] of english) {
      for (const [key, message] of Object.entries(inLanguage(section, locale))) {
        for (const text of formsOf(message)) {
          const where = `${section}.${key}: ${text}`;
          expect(text, where).not.toMatch(/['"]/);
          expect(text, where).not.toMatch(typography);
          if (address) expect(text, where).not.toMatch(address);
        }
      }
    }
    // How people in a sample address each other is up to them.
    for (const text of Object.values(catalog.phrases[locale]!)) {
      expect(text).not.toMatch(/['"]/);
      expect(text).not.toMatch(typography);
    }
  });
});

describe('samples', () => {
  const said = new Set(templates.flatMap(({ sample }) => textsIn(sample)));
  const others = LANGUAGES.filter((locale) => locale !== 'en');
  const phrases = Object.keys(catalog.phrases.de!);

  it('are in every language', () => {
    expect(Object.keys(catalog.phrases)).toEqual(others);
    for (const locale of others) expect(Object.keys(catalog.phrases[locale]!)).toEqual(phrases);
    expect(phrases.filter((phrase) => !said.has(phrase))).toEqual([]);
    // Two words in a row that are not names make a sentence.
    const sentence = /(?<!\S)\p{Ll}[\p{Ll}’]* \p{Ll}/u;
    expect([...said].filter((text) => sentence.test(text) && !phrases.includes(text))).toEqual([]);
    for (const phrase of phrases.filter((text) => sentence.test(text)))
      for (const locale of others) expect(catalog.phrases[locale]![phrase]).not.toBe(phrase);
  });

  it('fill a template in any of them, with the rest as it was', () => {
    for (const { slug, sample, variables } of templates) {
      for (const locale of others) {
        const here = sampleIn(catalog.phrases, sample, [locale]);
        requireFit({ slug, variables, reads: null }, here);
        expect(textsIn(here)).toHaveLength(textsIn(sample).length);
      }
    }
  });

  it('are in the first language that there is', () => {
    const { sample } = catalog.templates.get('magic-link')!;
    const expiry = (...wanted: (string | null | undefined)[]) =>
      sampleIn(catalog.phrases, sample, wanted).expires_in;
    expect(expiry('de-AT', 'fr')).toBe('15 Minuten');
    expect(expiry('DE-at')).toBe('15 Minuten');
    expect(expiry('sv', 'nl')).toBe('15 minuten');
    expect(expiry('en-GB', 'nl')).toBe('15 minutes');
    expect(expiry('constructor', null)).toBe('15 minutes');
    expect(expiry()).toBe('15 minutes');
  });
});

function textsIn(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsIn) : [];
}
