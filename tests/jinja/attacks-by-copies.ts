// Attacks through what is copied, searched or built implicitly: each of these once took seconds or
// all memory. Part of attacks.ts.
import type { Attack } from './attacks.ts';

const limited = { error: /^LimitExceeded/ };
const limitedOrDeep = { error: /^LimitExceeded|^RecursionError/ };
const often = (body: string): string =>
  `{% set ns = namespace(x=()) %}{% for i in range(100000) %}${body}{% endfor %}`;
const literal = Array.from({ length: 7_000 }, () => 'i').join(',');
const parameters = Array.from({ length: 5_000 }, (_, i) => `a${i}`).join(',');
const sum = Array.from({ length: 7_000 }, () => 'i').join('+');
/** One text, however often it is named. */
const longText = 'A'.repeat(900_000);
const text = () => longText;
const sameLength = () => Array.from({ length: 900 }, (_, i) => `${'a'.repeat(20_000)}${1000 + i}`);

/** A long needle in a long text, for every way to look for one. */
const searches: Attack[] = [
  "('a'*1000000).find(n)",
  "('a'*1000000).rfind(n)",
  "n in 'a'*1000000",
  "('a'*1000000).count(n)",
  "('a'*1000000).replace(n, 'x')|length",
  "('a'*1000000)|replace(n, 'x')|length",
  "('a'*1000000).split(n)|length",
  "('a'*1000000).rsplit(n, 3)|length",
  "('a'*1000000).partition(n)|length",
  "('a'*1000000).rpartition(n)|length",
  "('a'*1000000).startswith(n)",
  "('a'*1000000).find(n2)",
  "('a'*1000000).rfind(n2)",
  "('a'*1000000).find(n3)",
  "('a'*1000000).rfind(n3)",
].map((expression) => ({
  name: `search: ${expression}`,
  template: `{% set n = 'aab' ~ 'a'*10000 %}{% set n2 = 'a'*10000 ~ 'b' %}{% set n3 = 'a'*5000 ~ 'b' ~ 'a'*5000 %}{{ ${expression} }}`,
  ...(expression.includes('.find(n') || expression.includes('.rfind(n')
    ? { expect: { output: '-1' } }
    : {}),
}));

const copies: Attack[] = [
  { name: 'sort', template: "{{ (['A'*900000]*100000)|sort|length }}", expect: limited },
  ...['sort', 'unique|list', 'min', 'max', 'groupby(0)', 'map("lower")|list', 'join', 'tojson'].map(
    (filter) => ({
      name: `one long text many times: ${filter}`,
      template: `{{ l|${filter}|length }}`,
      data: () => ({ l: Array.from({ length: 20_000 }, () => text()) }),
    }),
  ),
  {
    name: 'dictsort of long values',
    template: '{{ d|dictsort(by="value")|length }}',
    data: () => ({ d: Object.fromEntries(Array.from({ length: 5_000 }, (_, i) => [i, text()])) }),
    expect: limited,
  },
  {
    name: 'keys of one length, too long to be hashed',
    template: '{{ l|unique|list|length }}{% for k in l %}{{ {k: 1}|length }}{% endfor %}',
    data: () => ({ l: sameLength() }),
  },
  {
    name: 'tuples of long texts as keys',
    template: often('{% set x = {(s, s): 1} %}'),
    data: () => ({ s: text() }),
    expect: limited,
  },
  {
    name: 'a long tuple, kept',
    template: often(`{% set ns.x = (ns.x, (${literal})) %}`),
    expect: limited,
  },
  {
    name: 'many arguments, kept',
    template: often(`{% set ns.x = (ns.x, cycler(${literal})) %}`),
    expect: limited,
  },
  {
    name: 'the parameters of a macro, kept',
    template: `{% macro m(${parameters}) %}{% endmacro %}${often('{% set ns.x = (ns.x, m.arguments) %}')}`,
    expect: limited,
  },
  { name: 'a long sum', template: often(`{% set x = ${sum} %}`), expect: limitedOrDeep },
  {
    name: 'a long condition',
    template: `{% for i in range(100000) if ${sum} < 0 %}{% endfor %}`,
    expect: limitedOrDeep,
  },
  {
    name: 'a long body',
    template: often('{% set a = i %}'.repeat(2_500)),
    expect: limited,
  },
  {
    name: 'many large constants',
    template: '{{ ("a"*9999)|upper|lower }}'.repeat(1_200),
  },
  { name: 'many inline ifs on many lines', template: '{{ a if b }}\n'.repeat(2_400) },
  {
    name: 'pprint under a long key',
    template: '{{ {"k"*100000: range(5000)|list}|pprint|length }}',
    expect: limited,
  },
  {
    name: 'pprint of keys of many types',
    template:
      '{% set d = dict.fromkeys(range(25000)) %}{% do d.update(dict.fromkeys(range(25000)|map("string"))) %}{{ d|pprint|length }}',
    expect: limited,
  },
  { name: 'many digits', template: '{{ "%.1000000f" % 0.1 }}{{ "{:.900000e}".format(0.1) }}' },
  { name: 'many groups of digits', template: '{{ "{:01000000,}".format(1)|length }}' },
  ...['x % y', 'x // y', 'x * x', 'x / y', 'x - y', 'x.bit_count()'].map((expression) => ({
    name: `large integers: ${expression}`,
    template: `{% set x = 2**65000 %}{% set y = 3**20000 %}${often(`{% set z = ${expression} %}`)}`,
  })),
  {
    name: 'a long path of subscripts',
    template: `{% do l.append(l) %}{% set f = '{0' ~ '[0]'*300000 ~ '}' %}${often('{% set x = f.format(l) %}')}`,
    data: () => ({ l: [] }),
    expect: limited,
  },
  {
    name: 'a long attribute',
    template: '{{ l|map(attribute="a."*400000)|list|length }}',
    data: () => ({ l: Array.from({ length: 1000 }, () => ({ a: 1 })) }),
    expect: limited,
  },
  {
    name: 'many attributes',
    template: '{{ range(2000)|sort(attribute=","*100000)|length }}',
    expect: limited,
  },
  {
    name: 'wordwrap of emoji',
    template: '{{ s|wordwrap(2) }}',
    data: () => ({ s: '😀'.repeat(200_000) }),
  },
  {
    name: 'wordwrap of blanks that are no blanks',
    template: '{{ s|wordwrap(3)|length }}',
    data: () => ({ s: `aaa ${'\u00a0'.repeat(400_000)}x` }),
  },
  {
    name: 'lines of a huge text',
    template: '{{ s|indent }}',
    data: () => ({ s: '\n'.repeat(20_000_000) }),
    expect: limited,
  },
  {
    name: 'forceescape of a huge text',
    template: '{{ s|forceescape }}',
    data: () => ({ s: '<'.repeat(20_000_000) }),
    expect: limited,
  },
  {
    name: 'a huge text beside Markup',
    template: '{{ ("<b>"|safe) ~ s }}',
    data: () => ({ s: '<'.repeat(20_000_000) }),
    expect: limited,
  },
  {
    name: 'replace of nothing in a huge text',
    template: '{{ s|replace("", "x") }}',
    data: () => ({ s: 'a'.repeat(20_000_000) }),
    expect: limited,
  },
  {
    name: 'many extra schemes',
    template: '{{ ("a "*100000)|urlize(extra_schemes=["ab:"]*1000)|length }}',
    expect: limited,
  },
  {
    name: 'reversing a list in place',
    template: `{% set l = range(200000)|list %}${often('{% do l.reverse() %}')}`,
    expect: limited,
  },
  {
    name: 'spreading many arguments',
    template: '{{ dict(*range(200000)) }}{{ cycler(*range(200000)) }}',
  },
  {
    name: 'spreading many keywords',
    template: `{% macro m() %}{{ kwargs|length }}{% endmacro %}${often('{{ m(**d) }}')}`,
    data: () => ({ d: Object.fromEntries(Array.from({ length: 50_000 }, (_, i) => [`k${i}`, i])) }),
    expect: limited,
  },
  {
    name: 'looking far ahead in a loop',
    template: '{% for x in range(200000)|map("string") %}{{ loop.length }}{% endfor %}',
    expect: limited,
  },
  {
    name: 'quoting what cannot be printed',
    template: '{{ [s] }}',
    data: () => ({ s: '\u0001'.repeat(900_000) }),
    expect: limited,
  },
];

export const attacksByCopies: Attack[] = [...searches, ...copies];
