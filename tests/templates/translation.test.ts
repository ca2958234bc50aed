// t('key', name=…) and the filters date, number and money, through the email maker: languages and
// their order, plural forms, what is escaped and what is not, and what a hostile template or
// variable gets.
import { describe, expect, it } from 'vitest';
import { brandingContext } from '../../src/templates/branding.ts';
import { defaultBranding } from '../../src/templates/branding-fields.ts';
import { createEmailMaker } from '../../src/templates/email-maker.ts';
import { LANGUAGES } from '../../src/templates/languages.ts';
import { canonicalLocale } from '../../src/templates/locales.ts';
import type { MessagesByLocale } from '../../src/templates/messages.ts';
import { catalog } from '../support/catalog.ts';

const maker = createEmailMaker(catalog);
const branding = brandingContext(defaultBranding);

interface Wish {
  html?: string;
  subject?: string;
  text?: string | null;
  messages?: MessagesByLocale;
  variables?: Record<string, unknown>;
  locale?: string;
  standard?: string;
}

function make({ html = '', subject = 's', text = null, messages, variables = {}, ...in_ }: Wish) {
  const template = { subject, preheader: '', html, text, messages };
  const { locale, standard: standardLocale } = in_;
  const order = { slug: 'mine', template, branding, variables, subject: undefined };
  const email = maker.make({ ...order, locale, standardLocale, text: undefined }, () => undefined);
  return { ...email, html: email.html.toString(), text: email.text.toString() };
}

const said = (wish: Wish): string => Buffer.from(make(wish).html).toString();

const greetings: MessagesByLocale = {
  en: { hi: 'Hello {name}', bye: 'Goodbye' },
  de: { hi: 'Guten Tag, {name}', bye: 'Auf Wiedersehen' },
  'pt-BR': { hi: 'Olá, {name}' },
};

describe('the language of an email', () => {
  const bye = (locale?: string, standard?: string) =>
    said({
      html: "{{ t('bye') }} {{ lang }} {{ dir }} {{ locale }}",
      messages: greetings,
      ...(locale && { locale }),
      ...(standard && { standard }),
    });

  it('is the one asked for, from its region to the language, then the account’s, then English', () => {
    expect(bye('de')).toBe('Auf Wiedersehen de ltr de');
    expect(bye('de-AT')).toBe('Auf Wiedersehen de ltr de-AT');
    expect(bye('fr', 'de')).toBe('Auf Wiedersehen de ltr de');
    expect(bye('fr')).toBe('Goodbye en ltr en');
    expect(bye()).toBe('Goodbye en ltr en');
    expect(bye(undefined, 'de-CH')).toBe('Auf Wiedersehen de ltr de-CH');
  });

  it('falls back key by key where a language lacks one', () => {
    expect(bye('pt-BR')).toBe('Goodbye pt-BR ltr pt-BR');
    expect(bye('pt-BR', 'de')).toBe('Auf Wiedersehen pt-BR ltr pt-BR');
  });

  it('is right to left for Arabic, Hebrew, Persian and Urdu', () => {
    for (const locale of ['ar', 'he', 'fa', 'ur-PK']) {
      const messages = { [locale.split('-')[0]!]: { a: 'x' } };
      expect(said({ html: '{{ dir }}', messages, locale })).toBe('rtl');
    }
  });

  it('is the account’s own where the template has no messages: its words are in one language', () => {
    expect(said({ html: '{{ lang }}', locale: 'fr' })).toBe('en');
    expect(said({ html: '{{ lang }}', locale: 'fr', standard: 'de' })).toBe('de');
  });

  it('is written by a tag of BCP 47, and by nothing else', () => {
    expect(canonicalLocale('DE-at')).toBe('de-AT');
    expect(canonicalLocale('zh-hant-tw')).toBe('zh-Hant-TW');
    expect(canonicalLocale('en-u-nu-thai')).toBe('en');
    for (const tag of ['de_AT', '', 'x', 'deutsch-', '../en', 'de AT', '-', 'a'.repeat(99)]) {
      expect(canonicalLocale(tag), tag).toBeUndefined();
    }
  });
});

describe('t()', () => {
  it('fills in HTML what is escaped, but for markup that the template made', () => {
    const messages = { en: { by: 'From <b>{who}</b> & {whom}' } };
    const html = "{% macro em(x) %}<em>{{ x }}</em>{% endmacro %}{{ t('by', who=em(a), whom=a) }}";
    expect(said({ html, messages, variables: { a: '<script>' } })).toBe(
      'From &lt;b&gt;<em>&lt;script&gt;</em>&lt;/b&gt; &amp; &lt;script&gt;',
    );
  });

  it('ends a sentence once, also behind a value with a full stop of its own', () => {
    const messages = {
      en: { back: 'We refund {sum}. Thanks.', all: '{sum}.', path: '{sum}.{sum}' },
    };
    const html = "{{ t('back', sum=sum) }}|{{ t('all', sum=strong) }}|{{ t('path', sum=sum) }}";
    const strong = '{% set strong %}<strong>{{ sum }}</strong>{% endset %}';
    const filled = (sum: string) => said({ html: strong + html, messages, variables: { sum } });
    expect(filled('390 kr.')).toBe(
      'We refund 390 kr. Thanks.|<strong>390 kr.</strong>|390 kr..390 kr.',
    );
    expect(filled('£3')).toBe('We refund £3. Thanks.|<strong>£3</strong>.|£3.£3');
    expect(make({ messages, subject: "{{ t('all', sum='Sand & Co.') }}" }).subject).toBe(
      'Sand & Co.',
    );
  });

  it('has a space in Japanese beside what is not Japanese, and nowhere else', () => {
    const messages = {
      ja: { valid: '有効期間は {for} です。', by: '{who} さんが {what} を共有しました' },
      de: { valid: 'は {for} です', by: '{who} {what}' },
    };
    const valid = (wish: string, locale = 'ja') =>
      said({ html: `{{ t('valid', for=${wish}) }}`, messages, locale });
    expect(valid("'15 分'")).toBe('有効期間は 15 分です。');
    expect(valid("'15分'")).toBe('有効期間は15分です。');
    expect(valid("'無期限'")).toBe('有効期間は無期限です。');
    expect(valid("'24 h'")).toBe('有効期間は 24 h です。');
    expect(valid("'Safari（iPhone）'", 'ja-JP')).toBe('有効期間は Safari（iPhone）です。');
    const strong = '<b style="color:#15181f">二日</b>';
    expect(valid(`'${strong}' | safe`)).toBe(`有効期間は${strong}です。`);
    expect(valid("''")).toBe('有効期間は  です。');
    expect(valid(`'${'<'.repeat(50_000)}' | safe`)).toContain('有効期間は <');
    expect(valid("'分'", 'de')).toBe('は 分 です');
    const subject = "{{ t('by', who='Ada', what='「春」') }}";
    expect(make({ messages, subject, locale: 'ja' }).subject).toBe(
      'Ada さんが「春」を共有しました',
    );
  });

  it('elides the articles of Italian before numbers that are spoken with a vowel', () => {
    const messages = {
      it: {
        until: 'Fino al {date}, dal {date} (del {date}). Il {date}. civil {date}',
        on: 'Il {date}',
      },
      de: { until: 'al {date}', on: 'Il {date}' },
    };
    const until = (date: string, locale = 'it') =>
      said({ html: "{{ t('until', date=date) }}", messages, locale, variables: { date } });
    expect(until('7 aprile')).toBe(
      'Fino al 7 aprile, dal 7 aprile (del 7 aprile). Il 7 aprile. civil 7 aprile',
    );
    expect(until('8 aprile')).toBe(
      'Fino all’8 aprile, dall’8 aprile (dell’8 aprile). L’8 aprile. civil 8 aprile',
    );
    expect(until('11 maggio')).toContain('Fino all’11 maggio');
    for (const date of ['1º maggio', '18 maggio', '110', 'oggi', ''])
      expect(until(date)).toContain(`Fino al ${date}, dal`);
    expect(until('8 aprile', 'de')).toBe('al 8 aprile');
    const html = "{{ t('on', date='<b style=\"color:red\">8</b>' | safe) }}";
    expect(said({ html, messages, locale: 'it' })).toBe('L’<b style="color:red">8</b>');
    expect(
      make({ messages, subject: "{{ t('on', date='11 maggio') }}", locale: 'it' }).subject,
    ).toBe('L’11 maggio');
  });

  it('is plain text in subject and text', () => {
    const messages = { en: { by: 'From "{who}" & co' } };
    const source = "{{ t('by', who=a) }}";
    const email = make({ subject: source, text: source, messages, variables: { a: '<Ada>' } });
    expect(email.subject).toBe('From "<Ada>" & co');
    expect(Buffer.from(email.text).toString()).toBe('From "<Ada>" & co');
  });

  it('chooses the plural form by count, as the language has them', () => {
    const messages = {
      en: { n: { one: '{count} file', other: '{count} files' } },
      pl: {
        n: {
          one: '{count} plik',
          few: '{count} pliki',
          many: '{count} plików',
          other: '{count} pliku',
        },
      },
    };
    const html = "{% for n in [0, 1, 2, 5, 22, 1234, 1.5] %}{{ t('n', count=n) }}; {% endfor %}";
    expect(said({ html, messages })).toBe(
      '0 files; 1 file; 2 files; 5 files; 22 files; 1,234 files; 1.5 files; ',
    );
    expect(said({ html, messages, locale: 'pl' })).toBe(
      '0 plików; 1 plik; 2 pliki; 5 plików; 22 pliki; 1234 pliki; 1,5 pliku; ',
    );
  });

  it('uses the plural rules of the language the text is in', () => {
    const messages = { en: { n: { one: 'one', other: 'many' } }, fr: { x: 'y' } };
    // 0 is singular in French, and the text is English.
    expect(said({ html: "{{ t('n', count=0) }}", messages, locale: 'fr' })).toBe('many');
  });

  it.each([
    ["{{ t('nope') }}", 'there is no message "nope"'],
    ["{{ t('constructor') }}", 'there is no message "constructor"'],
    ["{{ t('hi') }}", 'message "hi" needs a value for {name}'],
    ['{{ t() }}', 't() takes the key of a message'],
    ['{{ t(1) }}', 't() takes the key of a message'],
  ])('refuses %s with its place', (html, why) => {
    expect(() => said({ html, messages: greetings })).toThrow(why);
    expect(() => said({ html, messages: greetings })).toThrow(/line 1, column/);
  });

  it('says nothing of what is not there, and prints nothing for it', () => {
    expect(said({ html: "{{ t('hi', name=nobody) }}", messages: greetings })).toBe('Hello ');
  });

  it('keeps what fills it apart from words that run from right to left', () => {
    const messages = { ar: { hi: 'مرحبًا {name}' }, en: { hi: 'Hi {name}' } };
    const wish = { html: "{{ t('hi', name='Ada <3') }}", messages };
    expect(said({ ...wish, locale: 'ar' })).toBe('مرحبًا \u2068Ada &lt;3\u2069');
    expect(said(wish)).toBe('Hi Ada &lt;3');
  });

  it('leaves an account its own variable of that name', () => {
    expect(said({ html: '{{ t }} {{ locale }}', variables: { t: 'mine', locale: 'too' } })).toBe(
      'mine too',
    );
  });

  it('pays for what it builds', () => {
    const messages = { en: { twice: '{x}{x}{x}{x}{x}{x}{x}{x}' } };
    const html =
      "{% set ns = namespace(x='0123456789') %}{% for i in range(20) %}{% set ns.x = t('twice', x=ns.x) %}{% endfor %}";
    expect(() => said({ html, messages })).toThrow(/string too long|render stopped/);
  });
});

describe('date, number and money', () => {
  const shown = (expression: string, locale?: string) =>
    said({
      html: `{{ ${expression} }}`,
      messages: Object.fromEntries(LANGUAGES.map((language) => [language, { a: '' }])),
      ...(locale && { locale }),
    }).replace(/[\u00a0\u202f]/g, ' ');

  it('write as the language does', () => {
    expect(shown("'2026-03-12' | date")).toBe('March 12, 2026');
    expect(shown("'2026-03-12' | date", 'de')).toBe('12. März 2026');
    expect(shown("'2026-03-12' | date('full')", 'ja')).toBe('2026年3月12日木曜日');
    expect(shown("'2026-09-04' | date('month')")).toBe('September');
    // The first of a month, and no other day with a one in it.
    expect(shown("'2026-10-01' | date", 'fr')).toBe('1er octobre 2026');
    expect(shown("'2026-10-01' | date('full')", 'it')).toBe('giovedì 1º ottobre 2026');
    expect(shown("'2026-10-01T01:01:00Z' | date('medium', 'short')", 'pt-BR')).toBe(
      '1º de out. de 2026, 01:01',
    );
    expect(shown("'2026-10-11' | date", 'fr-CA')).toBe('11 octobre 2026');
    expect(shown("'2026-10-01' | date('short')", 'fr')).toBe('01/10/2026');
    expect(shown("'2026-10-01' | date", 'es')).toBe('1 de octubre de 2026');
    expect(shown("'2026-09-04' | date('short-month')")).toBe('Sep');
    expect(
      shown("'2026-03-12T23:30:00Z' | date('short', time='short', zone='Europe/Berlin')", 'de'),
    ).toBe('13.03.26, 00:30');
    expect(shown('1234567.891 | number', 'de')).toBe('1.234.567,891');
    expect(shown('1234.5 | number(2)')).toBe('1,234.50');
    expect(shown("1234.5 | money('EUR')", 'de')).toBe('1.234,50 €');
    expect(shown("'1234.5' | money('eur')", 'de-AT')).toBe('€ 1.234,50');
    expect(shown("1200 | money('JPY')", 'ja')).toBe('￥1,200');
  });

  it('leave what they cannot read as it was written', () => {
    expect(shown("'£118.00' | money('GBP')")).toBe('£118.00');
    expect(shown("'Thursday' | date")).toBe('Thursday');
    expect(shown("'2026-99-99' | date")).toBe('2026-99-99');
    expect(shown("'<b>' | number")).toBe('&lt;b&gt;');
    expect(shown('nothing | date')).toBe('');
    expect(shown('none | number')).toBe('None');
  });

  it.each([
    ["1 | money('EURO')", 'the code of a currency'],
    ["'2026-03-12' | date('huge')", 'style must be one of'],
    ["'2026-03-12T10:00:00Z' | date(zone='Moon/Crater')", 'no time zone'],
    ['1 | number(99)', 'digits must be'],
  ])('refuse {{ %s }}', (expression, why) => {
    expect(() => shown(expression)).toThrow(why);
  });

  it('are paid for', () => {
    expect(() =>
      said({ html: "{% for i in range(200000) %}{{ i | money('EUR') }}{% endfor %}" }),
    ).toThrow(/render stopped|too large/);
  });
});
