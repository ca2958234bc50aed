// What lint finds in an email, what it leaves alone, and that hostile emails cost it no more than
// their length.
import { describe, expect, it } from 'vitest';
import { LINT_RULES, type LintedEmail, lint } from '../../src/lint/lint.ts';
import { expectLinear } from '../support/growth.ts';

const words = '<p>Your order has been shipped and will reach you within two days.</p>';
const email = (changes: Partial<LintedEmail> = {}): LintedEmail => ({
  subject: 'Your order 4711 is on its way',
  html: `${words}<p><a href="https://shop.example/orders/4711">See your order</a></p>`,
  text: 'Your order has been shipped.',
  broadcast: false,
  unsubscribe: false,
  ...changes,
});
const rules = (changes: Partial<LintedEmail>) => lint(email(changes)).map(({ rule }) => rule);
const html = (more: string) => ({ html: `${words}${more}` });

const bad: [string, Partial<LintedEmail>][] = [
  ['missing-subject', { subject: '  ' }],
  ['spammy-subject', { subject: 'LAST CHANCE TO SAVE BIG' }],
  ['spammy-subject', { subject: 'Hello!!!' }],
  ['spammy-subject', { subject: 'You have won a prize' }],
  ['missing-text', { text: null }],
  ['missing-text', { text: ' \n' }],
  [
    'image-only',
    {
      html: '<title>A very long title that nobody sees in the email</title><style>a{color:red;background:blue;border:1px}</style><img src="https://x.example/a.png" alt="Sale">',
    },
  ],
  ['missing-alt', html('<img src="https://x.example/a.png">')],
  ['broken-link', html('<a href="">x</a>')],
  ['broken-link', html('<a href="#">x</a>')],
  ['broken-link', html('<a href="/orders">x</a>')],
  ['broken-link', html('<a href="example.com/orders">x</a>')],
  ['broken-link', html('<a href="https://">x</a>')],
  ['broken-link', html('<a href="https://shop/a">x</a>')],
  ['broken-link', html('<a href="https://a b.example/">x</a>')],
  ['broken-link', html('<a href="http://localhost:3000/">x</a>')],
  ['broken-link', html('<a href="javascript:alert(1)">x</a>')],
  ['broken-link', html('<a href="mailto:">x</a>')],
  ['broken-link', html('<a href="htps://example.com/">x</a>')],
  ['broken-link', html('<a href="htp:/bad">x</a>')],
  ['broken-link', html(`<a href="https://x.example/${'a'.repeat(3000)}">x</a>`)],
  ['http-link', html('<a href="http://shop.example/">x</a>')],
  ['http-link', html('<img alt="" src="http://shop.example/a.png">')],
  ['huge-html', html('<p>ü</p>'.repeat(13_000))],
  ['unresolved-variable', { subject: 'Hello {{ name }}' }],
  ['unresolved-variable', { text: 'Hello {% if name %}' }],
  ['unresolved-variable', html('<p>Hello *|FNAME|*</p>')],
  ['unresolved-variable', html('<p>Total: [object Object]</p>')],
  ['unresolved-variable', html('<a href="https://x.example/{{ id }}">x</a>')],
  ['unresolved-variable', html('<a href="https://x.example/%7B%7Bid%7D%7D">x</a>')],
  ['missing-unsubscribe', { broadcast: true }],
];

describe('lint', () => {
  it('has nothing to say about a good email', () => {
    expect(lint(email())).toEqual([]);
    expect(lint(email({ broadcast: true, unsubscribe: true }))).toEqual([]);
    expect(lint(email({ html: null }))).toEqual([]);
  });

  it.each(bad)('finds %s (%#)', (rule, changes) => {
    expect(rules(changes)).toEqual([rule]);
    for (const { message, hint } of lint(email(changes))) {
      expect(message.length).toBeLessThan(500);
      expect(hint).not.toBe('');
    }
  });

  it('has an example of every rule here', () => {
    expect(new Set(bad.map(([rule]) => rule))).toEqual(new Set(LINT_RULES));
  });

  it.each([
    html('<a href="mailto:help@shop.example?subject=x">x</a>'),
    html('<a href="tel:+4930123">x</a><a href="#top">x</a><a name="top">x</a>'),
    html('<a href="myapp://open/1">x</a>'),
    html('<a href="HTTPS://Shop.example">x</a>'),
    html('<img alt="" src="cid:logo">'),
    html('<style>@media print{a{color:red}}.x{{}}</style><!-- {{ no }} -->'),
    { subject: 'Re: your question? Yes!' },
    { subject: 'NASA: 3 new photos' },
  ])('leaves %j alone', (changes) => {
    expect(rules(changes)).toEqual([]);
  });

  it('tells a thing once, however often it is there', () => {
    const [finding, ...others] = lint(
      email(html('<img src="https://x.example/a.png">'.repeat(500))),
    );
    expect(others).toEqual([]);
    expect(finding!.message).toBe('500 images without alt text: “https://x.example/a.png” …');
  });

  it.each<[string, (size: number) => string]>([
    ['openings without an end', (size) => '{{ '.repeat(size)],
    ['openings of every kind', (size) => '<p>{{{%<%*|[object '.repeat(size)],
    ['links without end', (size) => '<a href="{{'.repeat(size)],
    ['tags without end', (size) => '<a href='.repeat(size)],
    ['comments', (size) => '<!--'.repeat(size)],
    ['blanks in an address', (size) => `<a href="https://x.example/${' '.repeat(size)}">`],
    ['images', (size) => `<img src="${'a'.repeat(20)}">`.repeat(size)],
  ])('takes time in line with the length: %s', (_, make) => {
    expectLinear(make, (text) => lint({ ...email(), subject: text, html: text, text }));
  });
});
