// Templates and data made to break out, crash, hang or grow the process. Run by attack-runner.ts in
// a child process.
import { attacksByCopies } from './attacks-by-copies.ts';
import { attacksByNumber } from './attacks-by-number.ts';
import { attacksOnHtml } from './attacks-on-html.ts';

export interface Attack {
  name: string;
  template: string;
  data?: () => Record<string, unknown>;
  /** Other templates it may load. */
  templates?: Record<string, string>;
  /** For what is not a template: the work, and what it works on. */
  run?: (input: string) => string;
  input?: () => string;
  /**
   * What must come out: a text, or the start of an error; by default anything that ends in time.
   */
  expect?: { output?: string; error?: string | RegExp };
}

const nested = (depth: number): unknown => JSON.parse('['.repeat(depth) + ']'.repeat(depth));
const cyclic = () => {
  const list: unknown[] = [1];
  const dict: Record<string, unknown> = { list };
  list.push(list, dict);
  dict.self = dict;
  return { list, dict };
};
/** Each level holds the one below twice: small in memory, endless in print. */
const laughs = () => {
  let level: unknown = ['lol'];
  for (let i = 0; i < 60; i++) level = [level, level];
  return { level };
};
const LIMIT = /^LimitExceeded|^RecursionError/;
const limited = { error: LIMIT };

/** Ways to a constructor or a prototype; none may find anything. */
const reach: Attack[] = [
  ['constructor of a string', '{{ "".constructor }}', ''],
  ['constructor of a list', '{{ [].constructor }}', ''],
  ['constructor of data', '{{ d.constructor }}', ''],
  ['prototype of data', '{{ d.__proto__ }}', ''],
  ['prototype by item', '{{ d["__proto__"] }}', ''],
  ['prototype by filter', '{{ d|attr("__proto__") }}', ''],
  ['inherited method', '{{ d.toString }}{{ d.hasOwnProperty }}{{ d["valueOf"] }}', ''],
  ['property of an array', '{{ l.length }}{{ l.push }}{{ l["map"] }}', ''],
  ['property of a string', '{{ "abc".length }}{{ "abc"["charAt"] }}', ''],
  ['property of a number', '{{ (1).toFixed }}{{ (1.5)["toFixed"] }}', ''],
  [
    'property of a macro',
    '{% macro m() %}{% endmacro %}{{ m.call }}{{ m.constructor }}{{ m.apply }}',
    '',
  ],
  [
    'property of loop',
    '{% for x in l %}{{ loop.constructor }}{{ loop.advance }}{{ loop.ctx }}{% endfor %}',
    '',
  ],
  ['property of a namespace', '{% set n = namespace() %}{{ n.attributes }}{{ n.constructor }}', ''],
  ['property of undefined', '{{ nope is defined }}{{ (nope|default([])).constructor }}', 'False'],
  ['property of a global', '{{ range.constructor }}{{ dict.fn }}{{ cycler.name }}', ''],
  ['property of a method', '{{ "a".upper.call }}{{ "a".upper.constructor }}{{ "a".upper.fn }}', ''],
  ['property of self', '{{ self.constructor }}{{ self.ctx }}', ''],
  [
    'property of a module',
    '{% import "m" as m %}{{ m.exports }}{{ m.body }}{{ m.constructor }}',
    '',
  ],
  ['property of Markup', '{{ ("a"|safe).text }}{{ ("a"|safe).constructor }}', ''],
  ['property of a tuple', '{{ (1, 2).items }}{{ (1, 2).constructor }}', ''],
  [
    'map over constructor',
    '{{ [d]|map(attribute="constructor.constructor")|list }}',
    '[Undefined]',
    'UndefinedError',
  ],
  ['format field', '{{ "{0.constructor}".format(d) }}', '', 'AttributeError'],
  ['format field of class', '{{ "{0.__class__}".format(d) }}', ''],
  [
    'calls a constructor',
    '{{ "".constructor.constructor("return process")() }}',
    '',
    'UndefinedError',
  ],
  ['python class', '{{ "".__class__.__mro__ }}', '', 'SecurityError'],
  ['python globals', '{{ self.__init__.__globals__ }}', '', 'SecurityError'],
  ['python subclasses', '{{ [].__class__.__base__.__subclasses__() }}', '', 'SecurityError'],
  ['own key named constructor', '{{ k.constructor }}{{ k.hasOwnProperty }}', 'mine'],
  ['own key named __proto__', '{{ p["__proto__"] }}{{ p.x }}', '1'],
  [
    'global by name',
    '{{ process }}{{ globalThis }}{{ require }}{{ constructor }}{{ __proto__ }}',
    '',
  ],
].map(([name, template, output, error]) => ({
  name: name!,
  template: template!,
  data: () => ({
    d: { a: 1 },
    l: [1],
    k: { constructor: 'mine' },
    p: JSON.parse('{"__proto__": 1}'),
  }),
  templates: { m: '{% set v = 1 %}' },
  expect: error === undefined ? { output: output! } : { error: new RegExp(`^${error}: `) },
}));

const big = 'x'.repeat(1_000_000);
const astral = '😀'.repeat(400_000);

const bombs: Attack[] = [
  { name: 'range', template: '{% for i in range(1000000000) %}x{% endfor %}', expect: limited },
  {
    name: 'nested loops',
    template: '{% for a in range(9999) %}{% for b in range(9999) %}{% endfor %}{% endfor %}',
    expect: limited,
  },
  { name: 'string times', template: '{{ "a" * 1000000000 }}', expect: limited },
  { name: 'list times', template: '{{ [0] * 1000000000 }}', expect: limited },
  {
    name: 'list of lists',
    template: '{% set x = [[0] * 100000] * 100000 %}{{ x }}',
    expect: limited,
  },
  {
    name: 'doubling text',
    template:
      '{% set n = namespace(s="a") %}{% for i in range(99) %}{% set n.s = n.s ~ n.s %}{% endfor %}',
    expect: limited,
  },
  {
    name: 'doubling list',
    template:
      '{% set n = namespace(s=[1]) %}{% for i in range(99) %}{% set n.s = n.s + n.s %}{% endfor %}',
    expect: limited,
  },
  { name: 'power', template: '{{ 10 ** 10000000 }}', expect: limited },
  { name: 'tower', template: '{{ 9 ** (9 ** 9) }}', expect: limited },
  {
    name: 'squaring',
    template:
      '{% set n = namespace(n=3) %}{% for i in range(99) %}{% set n.n = n.n * n.n %}{% endfor %}',
    expect: limited,
  },
  {
    name: 'float powers',
    template: '{% for i in range(1000000) %}{% set x = 1.000001 ** 1.5 %}{% endfor %}',
    expect: limited,
  },
  {
    name: 'recursive macro',
    template: '{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}',
    expect: limited,
  },
  {
    name: 'two macros',
    template:
      '{% macro a() %}{{ b() }}{% endmacro %}{% macro b() %}{{ a() }}{% endmacro %}{{ a() }}',
    expect: limited,
  },
  {
    name: 'branching macro',
    template:
      '{% macro m(n) %}{% if n %}{{ m(n - 1) }}{{ m(n - 1) }}{% endif %}{% endmacro %}{{ m(60) }}',
    expect: limited,
  },
  {
    name: 'recursive call block',
    template:
      '{% macro m() %}{{ caller() }}{% endmacro %}{% macro r() %}{% call m() %}{{ r() }}{% endcall %}{% endmacro %}{{ r() }}',
    expect: limited,
  },
  {
    name: 'includes itself',
    template: '{% include "self" %}',
    templates: { self: '{% include "self" %}' },
    expect: limited,
  },
  {
    name: 'extends in a circle',
    template: '{% extends "a" %}',
    templates: { a: '{% extends "b" %}', b: '{% extends "a" %}' },
    expect: limited,
  },
  {
    name: 'imports itself',
    template: '{% import "r" as r %}',
    templates: { r: '{% import "r" as r %}' },
    expect: limited,
  },
  {
    name: 'block in itself',
    template: '{% block a %}{{ self.a() }}{% endblock %}',
    expect: limited,
  },
  {
    name: 'include tree',
    template: '{% include "a" %}',
    templates: {
      a: '{% include "b" %}'.repeat(50),
      b: '{% include "c" %}'.repeat(50),
      c: '{% include "d" %}'.repeat(50),
      d: 'x'.repeat(100),
    },
    expect: limited,
  },
  {
    name: 'recursive loop',
    template: '{% for x in c recursive %}{{ loop(c) }}{% endfor %}',
    data: () => ({ c: [1] }),
    expect: limited,
  },
  { name: 'center', template: '{{ "a"|center(100000000) }}', expect: limited },
  { name: 'indent', template: '{{ "a\nb"|indent(100000000) }}', expect: limited },
  {
    name: 'percent width',
    template: '{{ "%1000000000d" % 1 }}',
    expect: { error: /Error|LimitExceeded/ },
  },
  { name: 'percent precision', template: '{{ "%.100000000f" % 1.5 }}', expect: limited },
  { name: 'format width', template: '{{ "{:>1000000000}".format(1) }}', expect: limited },
  {
    name: 'format width from argument',
    template: '{{ "{:{}}".format(1, 1000000000) }}',
    expect: limited,
  },
  { name: 'ljust', template: '{{ "a".ljust(1000000000) }}', expect: limited },
  { name: 'zfill', template: '{{ "a".zfill(1000000000) }}', expect: limited },
  { name: 'expandtabs', template: '{{ ("\t" * 1000).expandtabs(1000000000) }}', expect: limited },
  { name: 'batch fill', template: '{{ range(10)|batch(1000000000, 1)|list }}', expect: limited },
  { name: 'slice columns', template: '{{ [1]|slice(1000000000)|list|length }}', expect: limited },
  {
    name: 'huge slice',
    template: '{{ (l * 100000)[::-1][::-1]|length }}',
    data: () => ({ l: [1, 2] }),
  },
  { name: 'join of a range', template: '{{ range(100000000)|join(",") }}', expect: limited },
  { name: 'sum of a range', template: '{{ range(1000000000)|sum }}', expect: limited },
  { name: 'last of a range', template: '{{ range(1000000000)|last }}', expect: limited },
  { name: 'text in a range', template: '{{ "x" in range(1000000000) }}', expect: limited },
  {
    name: 'replace by itself',
    template: '{% set s = "a" * 100000 %}{{ s|replace("a", s) }}',
    expect: limited,
  },
  { name: 'join by itself', template: '{% set s = "a" * 2000 %}{{ s.join(s) }}', expect: limited },
  {
    name: 'translate',
    template: '{{ ("a" * 100000).translate({97: "b" * 100000}) }}',
    expect: limited,
  },
  { name: 'json indent', template: '{{ [[[[1]]]]|tojson(100000000) }}', expect: limited },
  { name: 'lipsum', template: '{{ lipsum(100000000) }}', expect: limited },
  {
    name: 'lipsum words',
    template: '{{ lipsum(1, true, 100000000, 100000001) }}',
    expect: limited,
  },
  {
    name: 'grows what it walks',
    template: '{% set l = [1] %}{% for x in l %}{% do l.append(x) %}{% endfor %}',
    expect: limited,
  },
  {
    name: 'many dicts',
    template:
      '{% set l = [] %}{% for i in range(9999999) %}{% do l.append({"a": 1, "b": [1, 2]}) %}{% endfor %}',
    expect: limited,
  },
  {
    name: 'many texts',
    template:
      '{% set l = [] %}{% for i in range(9999999) %}{% do l.append("abcdefghijklmnopqrst" ~ i) %}{% endfor %}',
    expect: limited,
  },
  {
    name: 'many macros',
    template:
      '{% set l = [] %}{% for i in range(9999999) %}{% macro m() %}{% endmacro %}{% do l.append(m) %}{% endfor %}',
    expect: limited,
  },
  {
    name: 'many namespaces',
    template:
      '{% set l = [] %}{% for i in range(9999999) %}{% do l.append(namespace(a=i)) %}{% endfor %}',
    expect: limited,
  },
  {
    name: 'many tuple keys',
    template:
      '{% set d = {} %}{% for i in range(999999) %}{% do d.update({(i, i): i}) %}{% endfor %}',
    expect: limited,
  },
  {
    name: 'much output',
    template: `{% for i in range(1000000) %}${'x'.repeat(200)}{% endfor %}`,
    expect: limited,
  },
  {
    name: 'big output',
    template: '{% for i in range(1000) %}{{ s }}{% endfor %}',
    data: () => ({ s: big }),
    expect: limited,
  },
  {
    name: 'escaping a huge text',
    template: '{{ s }}',
    data: () => ({ s: '"'.repeat(20_000_000) }),
    expect: limited,
  },
  {
    name: 'upper of a huge text',
    template: '{{ s|upper }}{{ s.upper() }}',
    data: () => ({ s: 'x'.repeat(20_000_000) }),
    expect: limited,
  },
];

const patterns: Attack[] = [
  ...(
    [
      ['urlize', '('.repeat(500_000)],
      ['urlize', 'a@'.repeat(400_000)],
      ['urlize', `http://${'a.'.repeat(400_000)}`],
      ['urlize', 'www.a.b '.repeat(100_000)],
      ['urlize', '('.repeat(4_000) + ')'.repeat(4_000)],
      ['urlize', `http://${'a'.repeat(9_000)} `.repeat(100)],
      ['urlize', `${'a-'.repeat(4_000)}@${'b.'.repeat(900)} `.repeat(50)],
      ['striptags', '<!--'.repeat(250_000)],
      ['striptags', '<'.repeat(1_000_000)],
      ['striptags', '<!-- -->'.repeat(120_000)],
      ['striptags', '<!<!-- -->-- x -->'.repeat(50_000)],
      ['striptags', '&'.repeat(1_000_000)],
      ['striptags', '&aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa'.repeat(30_000)],
      ['wordwrap(1)', '-'.repeat(1_000_000)],
      ['wordwrap(10)', 'a-'.repeat(500_000)],
      ['wordwrap(79)', 'a'.repeat(1_000_000)],
      ['wordwrap(5, true, "x" * 1000)', 'ab '.repeat(100_000)],
      ['title', '- '.repeat(500_000)],
      ['wordcount', 'a '.repeat(500_000)],
      ['truncate(10)', ' '.repeat(1_000_000)],
      ['trim', `${' '.repeat(500_000)}x${' '.repeat(500_000)}`],
      ['int', '1_'.repeat(500_000)],
      ['float', '1'.repeat(1_000_000)],
      ['e', '<'.repeat(1_000_000)],
      ['urlencode', 'é'.repeat(1_000_000)],
      ['pprint', 'a b '.repeat(250_000)],
      ['tojson', '\u2028'.repeat(1_000_000)],
      ['indent(1)', '\n'.repeat(1_000_000)],
      ['list|length', astral],
      ['reverse|length', astral],
    ] as const
  ).map(([filter, text], i) => ({
    name: `${filter} ${i}`,
    template: `{{ s|${filter} }}`,
    data: () => ({ s: text }),
  })),
  {
    name: 'number of many digits',
    template: `{{ ${'9'.repeat(100_000)} }}`,
    expect: { error: /Error|LimitExceeded/ },
  },
  ...(
    [
      ['s|reverse', big],
      ['s|upper', big],
      ['s|length', astral],
      ['s[i]', astral],
      ['s[1:2]', astral],
      ['"xy" in s', big],
      ['s.startswith(s)', big],
      ['s == t', big],
      ['s|list', big],
      ['s.find("y")', big],
      ['s|e', '<'.repeat(1_000_000)],
      ['s.split("x")', big],
      ['s is upper', big],
      ['{s: 1}', big],
      ['s|safe ~ s', big],
    ] as const
  ).map(([expression, text]) => ({
    name: `again and again: ${expression}`,
    template: `{% for i in range(1000000) %}{% set x = ${expression} %}{% endfor %}`,
    data: () => ({ s: text, t: `${text.slice(0, -1)}y` }),
    expect: limited,
  })),
];

const shapes: Attack[] = [
  {
    name: 'deep data printed',
    template: '{{ d }}',
    data: () => ({ d: nested(5000) }),
    expect: limited,
  },
  {
    name: 'deep data as JSON',
    template: '{{ d|tojson }}',
    data: () => ({ d: nested(5000) }),
    expect: limited,
  },
  {
    name: 'deep data compared',
    template: '{{ d == e }}',
    data: () => ({ d: nested(5000), e: nested(5000) }),
    expect: limited,
  },
  {
    name: 'deep data pretty',
    template: '{{ d|pprint }}',
    data: () => ({ d: nested(250) }),
    expect: limited,
  },
  {
    name: 'deep data changed',
    template: '{% do d.append(1) %}',
    data: () => ({ d: nested(5000) }),
    expect: limited,
  },
  {
    name: 'cyclic list printed',
    template: '{{ list }}',
    data: cyclic,
    expect: { output: '[1, [...], {&#39;list&#39;: [...], &#39;self&#39;: {...}}]' },
  },
  {
    name: 'cyclic data as JSON',
    template: '{{ dict|tojson }}',
    data: cyclic,
    expect: { error: 'ValueError: Circular reference detected' },
  },
  { name: 'cyclic data pretty', template: '{{ dict|pprint|length }}', data: cyclic },
  {
    name: 'cyclic data compared',
    template: '{{ list == [1, list, dict] }}{{ [list] == [list] }}',
    data: cyclic,
  },
  {
    name: 'cyclic data changed',
    template: '{% do list.append(2) %}{{ list|length }}',
    data: cyclic,
    expect: { output: '4' },
  },
  {
    name: 'cyclic data walked',
    template: '{% for x in [dict] recursive %}{{ loop([x.self]) }}{% endfor %}',
    data: cyclic,
    expect: limited,
  },
  { name: 'billion laughs printed', template: '{{ level }}', data: laughs, expect: limited },
  { name: 'billion laughs as JSON', template: '{{ level|tojson }}', data: laughs, expect: limited },
  {
    name: 'billion laughs compared',
    template: '{{ level == other }}',
    data: () => ({ ...laughs(), other: laughs().level }),
    expect: limited,
  },
  {
    name: 'deep parentheses',
    template: `{{ ${'('.repeat(5000)}1${')'.repeat(5000)} }}`,
    expect: limited,
  },
  { name: 'deep lists', template: `{{ ${'['.repeat(5000)}${']'.repeat(5000)} }}`, expect: limited },
  {
    name: 'deep dicts',
    template: `{{ ${'{1:'.repeat(5000)}1${'}'.repeat(5000)} }}`,
    expect: limited,
  },
  { name: 'deep not', template: `{{ ${'not '.repeat(5000)}1 }}`, expect: limited },
  { name: 'deep minus', template: `{{ ${'-'.repeat(5000)}1 }}`, expect: limited },
  { name: 'deep condition', template: `{{ ${'1 if x else '.repeat(5000)}2 }}`, expect: limited },
  {
    name: 'long sum',
    template: `{{ x${'+x'.repeat(5000)} }}`,
    data: () => ({ x: 1 }),
    expect: limited,
  },
  {
    name: 'long filter chain',
    template: `{{ x${'|e'.repeat(5000)} }}`,
    data: () => ({ x: 1 }),
    expect: limited,
  },
  { name: 'long attribute chain', template: `{{ x${'.a'.repeat(5000)} }}`, expect: limited },
  { name: 'long call chain', template: `{{ x${'()'.repeat(5000)} }}`, expect: limited },
  { name: 'long comparison', template: `{{ 1${'<1'.repeat(20000)} }}` },
  {
    name: 'deep ifs',
    template: '{% if 1 %}'.repeat(5000) + '{% endif %}'.repeat(5000),
    expect: limited,
  },
  {
    name: 'deep loops',
    template: '{% for x in [1, 2] %}'.repeat(150) + '{% endfor %}'.repeat(150),
    expect: limited,
  },
  {
    name: 'deep macros',
    template: `${'{% macro m() %}'.repeat(150) + '{{ m() }}{% endmacro %}'.repeat(150)}{{ m() }}`,
  },
  {
    name: 'deep everything',
    template: `{% macro m(n) %}${'{% if n %}'.repeat(90)}{{ ${'('.repeat(80)}m(n)${')'.repeat(80)} }}${'{% endif %}'.repeat(90)}{% endmacro %}{{ m(1) }}`,
    expect: limited,
  },
  { name: 'many outputs', template: '{{ x }}'.repeat(30_000), expect: limited },
  { name: 'many operands', template: `{{ x${'~x'.repeat(50_000)} }}`, expect: limited },
  {
    name: 'many open comments',
    template: '{#'.repeat(100_000),
    expect: { error: 'TemplateSyntaxError: Missing end of comment tag' },
  },
  {
    name: 'many open tags',
    template: '{{'.repeat(100_000),
    expect: { error: /Error|LimitExceeded/ },
  },
  {
    name: 'many open raws',
    template: '{% raw %}{% endraw'.repeat(10_000),
    expect: { error: /^TemplateSyntaxError/ },
  },
  {
    name: 'many blocks',
    template: Array.from({ length: 5000 }, (_, i) => `{% block b${i} %}{% endblock %}`).join(''),
  },
  { name: 'huge template', template: 'x'.repeat(10_000_000), expect: limited },
  {
    name: 'huge list sorted',
    template: '{{ l|sort|length }}',
    data: () => ({ l: Array.from({ length: 200_000 }, (_, i) => (i * 7919) % 200_003) }),
  },
  {
    name: 'huge list grouped',
    template: '{{ l|groupby("a")|length }}',
    data: () => ({ l: Array.from({ length: 100_000 }, (_, i) => ({ a: i % 1000 })) }),
  },
  {
    name: 'huge list printed',
    template: '{% for i in range(1000) %}{% set x = l|string %}{% endfor %}',
    data: () => ({ l: new Array(100_000).fill(1) }),
    expect: limited,
  },
  {
    name: 'huge lists compared',
    template: '{% for i in range(100000) %}{% set x = l == m %}{% endfor %}',
    data: () => ({ l: new Array(100_000).fill(1), m: new Array(100_000).fill(1) }),
    expect: limited,
  },
  {
    name: 'huge dict measured',
    template: '{% for i in range(100000) %}{% set x = d|length %}{% endfor %}',
    data: () => ({
      d: Object.fromEntries(Array.from({ length: 200_000 }, (_, i) => [`k${i}`, i])),
    }),
    expect: limited,
  },
  {
    name: 'getter in data',
    template: '{{ d.x }}',
    data: () => ({
      d: {
        get x() {
          throw new Error('boom');
        },
      },
    }),
    expect: { error: /boom/ },
  },
  {
    name: 'function in data',
    template: '{{ f(1) }}',
    data: () => ({
      f: () => {
        throw new Error('boom');
      },
    }),
    expect: { error: /boom/ },
  },
  {
    name: 'a set without a huge range',
    template: '{{ {}.keys() - range(1000000000) }}',
    expect: limited,
  },
  {
    name: 'a set of many members',
    template: '{% for i in range(9) %}{{ range(60000)|list - {}.keys() }}{% endfor %}',
    expect: limited,
  },
  {
    name: 'translate with a table that has nothing',
    template: '{% for i in range(9) %}{{ ("a" * 200000).translate([])|length }}{% endfor %}',
    expect: limited,
  },
  {
    name: 'strange values in data',
    template: '{{ a }}{{ b }}{{ c }}{{ d }}{{ e }}',
    data: () => ({
      a: Symbol('s'),
      b: new Date(0),
      c: new Map([[1, 2]]),
      d: Object.create(null),
      e: [undefined],
    }),
  },
];

export const attacks: Attack[] = [
  ...reach,
  ...bombs,
  ...patterns,
  ...shapes,
  ...attacksByNumber,
  ...attacksByCopies,
  ...attacksOnHtml,
];
