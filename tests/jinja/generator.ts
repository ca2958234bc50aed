// Random templates from a grammar, for the differential test: the same seed gives the same templates.

/** A small deterministic generator of random numbers (mulberry32). */
export function random(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}

export interface Job {
  templates: Record<string, string>;
  main: string;
  context: Record<string, unknown>;
  options: Record<string, unknown>;
}

/** Written as text, so that 2.0 stays a float for both sides. */
export const CONTEXT = `{
  "i": 7, "j": -3, "k": 0, "big": 9007199254740993, "huge": 123456789012345678901234567890,
  "f": 2.75, "g": 0.1, "h": 2.0, "m": -1.5, "tiny": 1e-7, "large": 1e20,
  "s": "Hello <World> & \\"you\\"", "t": "foo bar-baz", "u": "a\\tb\\nc d", "num": "42", "flt": " 3.5 ", "es": "",
  "uni": "Grüße, Straße ǆ 😀 x", "url": "see http://example.com/a?b=c&d and me@example.org, (www.x.org).",
  "html": "<p class='a'>Hi &amp; <!-- c -->bye</p> &copy; x",
  "n": null, "b": true, "c": false,
  "l": [3, 1, 2], "w": ["b", "A", "c", "a"], "e": [], "mixed": [1, "a", null, 2.5, true], "ll": [[1, 2], [3], []],
  "fl": [1.5, 2.0, 0.25], "pairs": [["x", 1], ["y", 2]],
  "d": {"x": 1, "y": "<2>", "z": [1, 2]}, "nested": {"a": {"b": {"c": "deep"}}, "items": [1], "10": "ten", "2": "two"}, "ed": {},
  "us": [{"n": "Zoe", "a": 30, "c": "Oslo", "t": ["x"]}, {"n": "adam", "a": 25, "c": "paris", "t": []}, {"n": "Bob", "a": 30, "c": "oslo", "t": ["y", "z"]}]
}`;

const pick = <T>(r: () => number, list: readonly T[]): T => list[Math.floor(r() * list.length)]!;

/** Kinds of expression; "any" may be of the wrong kind for where it stands. */
type Kind = 'num' | 'str' | 'list' | 'dict' | 'bool' | 'any';

export class Generator {
  private readonly r: () => number;
  /** Names a template set itself. */
  private locals: string[] = [];

  constructor(seed: number) {
    this.r = random(seed);
  }

  private chance(p: number): boolean {
    return this.r() < p;
  }
  private one<T>(list: readonly T[]): T {
    return pick(this.r, list);
  }

  job(): Job {
    this.locals = [];
    const templates: Record<string, string> = {};
    const roll = this.r();
    if (this.chance(0.25)) this.scopes(templates);
    else if (roll < 0.5)
      templates['main.html'] = this.chance(0.6) ? `{{ ${this.expr('any', 3)} }}` : this.body(2);
    else if (roll < 0.75) templates['main.html'] = this.body(3);
    else if (roll < 0.85) this.inheritance(templates);
    else this.includes(templates);
    const options = this.options();
    // Where names are the point, a missing one must not end the render.
    if ('imp.html' in templates) options.undefined = 'chainable';
    return { templates, main: 'main.html', context: {}, options };
  }

  /** Templates about nothing but which variable a name means: few names, many statements. */
  private scopes(templates: Record<string, string>): void {
    for (const name of ['main.html', 'inc.html', 'imp.html', 'base.html']) {
      this.blocks = 0;
      const body = this.scopeBody(name === 'main.html' ? 3 : 2, name, true);
      templates[name] = `{% set ns = namespace(v=1) %}${body}`;
    }
    if (this.chance(0.3))
      templates['main.html'] = `{% extends "base.html" %}${templates['main.html']}`;
  }

  private blocks = 0;
  /** There Jinja2 prints an include without context as a generator object with its address. */
  private inMacro = false;

  private scopeBody(depth: number, file: string, top = false): string {
    let out = '';
    for (let i = 2 + Math.floor(this.r() * 3); i > 0; i--)
      out += this.scopeStatement(depth, file, top);
    return out;
  }

  private scopeValue(): string {
    const name = this.one(['x', 'y', 'i', 'q']);
    return this.one([
      '1',
      '"a"',
      name,
      name,
      name,
      `${name} ~ "b"`,
      '[1, 2]',
      'loop.index',
      'ns.v',
      'varargs',
      `${name} is defined`,
    ]);
  }

  private scopeStatement(depth: number, file: string, top: boolean): string {
    const name = this.one(['x', 'y', 'i']);
    if (depth <= 0 || this.chance(0.3))
      return `{{ ${this.scopeValue()} }}${this.one(['', '.', '\n'])}`;
    const body = () => this.scopeBody(depth - 1, file);
    const macro = `m${depth}`;
    const before = this.inMacro;
    const otherwise = () => this.one(['', `{% else %}${body()}`]);
    const context = this.one(['', ' with context', ' without context']);
    switch (Math.floor(this.r() * 16)) {
      case 0:
      case 1:
        return `{% set ${name} = ${this.scopeValue()} %}`;
      case 2:
        return `{% set ${name} %}${body()}{% endset %}`;
      case 3:
      case 4:
        return `{% for ${name} in ${this.one(['l', '[1, 2]', '"ab"', '[]', '[x, y]'])}${this.one(['', ' if i', ` if ${name} != 1`])} %}${body()}${otherwise()}{% endfor %}`;
      case 5:
      case 6:
        return `{% if ${this.one(['b', 'c', 'x', 'y is defined', 'i == 1'])} %}${body()}${this.one(['', `{% elif y %}${body()}`])}${otherwise()}{% endif %}`;
      case 7:
        return `{% with ${name} = ${this.scopeValue()}, y = x %}${body()}{% endwith %}`;
      case 8:
      case 9: {
        this.inMacro = true;
        const params = this.one(['x=1', 'x, y=1', 'y=x', 'i=i, x=y']);
        const call = this.one([
          `{{ ${macro}() }}`,
          `{{ ${macro}(1) }}`,
          `{{ ${macro}(x=5) if x }}`,
          `{% set y = ${macro} %}{% set x = 3 %}{{ y() }}`,
        ]);
        const inside = body();
        this.inMacro = before;
        return `{% macro ${macro}(${params}) %}${inside}{% endmacro %}${call}`;
      }
      case 10: {
        this.inMacro = true;
        const inside = body();
        this.inMacro = before;
        return `{% macro ${macro}(p) %}{{ x }}{{ caller(p) }}{% endmacro %}{% call(${this.one(['x', 'i, y=2', 'q=x'])}) ${macro}(1) %}${inside}{% endcall %}`;
      }
      case 11:
        return `{% filter upper %}${body()}{% endfilter %}`;
      case 12:
        return `{% autoescape ${this.one(['true', 'false', 'b'])} %}${body()}{% endautoescape %}`;
      case 13:
        return `{% block ${file[0]}${this.blocks++}${this.one(['', ' scoped'])} %}${body()}{% endblock %}`;
      case 14:
        if (file !== 'main.html') return '';
        return this.one([
          `{% include "inc.html"${this.inMacro ? '' : context} %}`,
          `{% import "imp.html" as q${context} %}{{ q.x }}{{ q.y }}`,
          `{% from "imp.html" import x, i as y${context} %}`,
        ]);
      default:
        return top ? '' : '{% set ns.v = x %}';
    }
  }

  private options(): Record<string, unknown> {
    const options: Record<string, unknown> = { ext: true };
    if (this.chance(0.1)) options.autoescape = false;
    if (this.chance(0.15)) options.trim_blocks = true;
    if (this.chance(0.15)) options.lstrip_blocks = true;
    if (this.chance(0.05)) options.keep_trailing_newline = true;
    if (this.chance(0.1)) options.undefined = this.one(['chainable', 'strict', 'debug']);
    return options;
  }

  private inheritance(templates: Record<string, string>): void {
    templates['base.html'] =
      `<${this.block('a', 2, true)}|${this.block('b', 1, true)}${this.chance(0.3) ? this.statement(1) : ''}>`;
    const mid = this.chance(0.4);
    if (mid) templates['mid.html'] = `{% extends "base.html" %}${this.block('a', 1)}`;
    const top = this.chance(0.3) ? '{% set tv = "T" %}' : '';
    const parent = mid ? 'mid.html' : 'base.html';
    const how = this.chance(0.15)
      ? `{% if ${this.expr('bool', 1)} %}{% extends "${parent}" %}{% endif %}`
      : `{% extends "${parent}" %}`;
    templates['main.html'] =
      `${this.chance(0.2) ? 'lead ' : ''}${how}${top}text${this.block('a', 2)}${this.chance(0.5) ? this.block('b', 1) : ''}`;
  }

  private block(name: string, depth: number, base = false): string {
    const scoped = this.chance(0.2) ? ' scoped' : '';
    const parent =
      base || this.chance(0.5) ? '' : this.chance(0.9) ? '{{ super() }}' : '{{ super.super() }}';
    const self = this.chance(0.1) && name === 'b' ? '{{ self.a() }}' : '';
    return `{% block ${name}${scoped} %}${parent}${self}${this.body(depth)}{{ tv }}{% endblock %}`;
  }

  private includes(templates: Record<string, string>): void {
    templates['i.html'] = `[${this.body(1)}{{ x }}{{ loc }}]`;
    templates['m.html'] =
      `{% macro mac(a, b=${this.expr('any', 1)}) %}(${this.body(1)}{{ a }}{{ b }}{{ i }})${this.chance(0.3) ? '{{ caller() }}' : ''}{% endmacro %}{% set v = ${this.expr('any', 1)} %}{% set _p = 1 %}noise`;
    const context = this.one(['', ' with context', ' without context']);
    this.locals = ['loc'];
    templates['main.html'] = `{% set loc = ${this.expr('any', 1)} %}${this.one([
      `{% include "i.html"${context} %}`,
      `{% include ["no.html", "i.html"] ignore missing${context} %}`,
      '{% for x in l %}{% include "i.html" %}{% endfor %}',
      `{% import "m.html" as m${context} %}{{ m.mac(${this.expr('any', 1)}) }}{{ m.v }}{{ m._p }}`,
      `{% from "m.html" import mac, v as vv${context} %}{{ mac(${this.expr('any', 1)}, b=${this.expr('any', 1)}) }}{{ vv }}`,
      `{% from "m.html" import mac %}{% call mac(1) %}${this.body(1)}{% endcall %}`,
    ])}${this.body(1)}`;
  }

  private body(depth: number): string {
    let out = '';
    for (let i = 1 + Math.floor(this.r() * 3); i > 0; i--) out += this.statement(depth);
    return out;
  }

  private tag(inner: string): string {
    const open = this.chance(0.1) ? this.one(['{%-', '{%+']) : '{%';
    const close = this.chance(0.1) ? this.one(['-%}', '+%}']) : '%}';
    return `${open} ${inner} ${close}`;
  }

  private statement(depth: number): string {
    if (depth <= 0 || this.chance(0.35))
      return this.chance(0.4)
        ? this.text()
        : `{{${this.chance(0.1) ? '-' : ''} ${this.expr('any', 2)} ${this.chance(0.1) ? '-' : ''}}}`;
    const name = this.one(['x', 'y', 'v', 'q']);
    const saved = this.locals;
    const within = (names: string[], make: () => string): string => {
      this.locals = [...saved, ...names];
      const made = make();
      this.locals = saved;
      return made;
    };
    const e = (kind: Kind) => this.expr(kind, 2);
    switch (Math.floor(this.r() * 15)) {
      case 0:
      case 1:
        return `${this.tag(`if ${e('bool')}`)}${this.body(depth - 1)}${this.chance(0.3) ? `${this.tag(`elif ${e('bool')}`)}${this.body(depth - 1)}` : ''}${this.chance(0.5) ? `${this.tag('else')}${this.body(depth - 1)}` : ''}${this.tag('endif')}`;
      case 2:
      case 3:
      case 4: {
        const filter = this.chance(0.2) ? ` if ${within([name], () => this.expr('bool', 1))}` : '';
        const control = this.chance(0.1)
          ? `{% if loop.index > 2 %}{% ${this.one(['break', 'continue'])} %}{% endif %}`
          : '';
        return `${this.tag(`for ${name} in ${e('list')}${filter}`)}${control}${within([name, 'loop'], () => this.body(depth - 1))}${this.chance(0.3) ? `${this.tag('else')}${this.body(depth - 1)}` : ''}${this.tag('endfor')}`;
      }
      case 5:
        return `{% for k, ${name} in ${this.one(['d.items()', 'd|items', 'd|dictsort', 'nested.items()', 'pairs', 'us|groupby("a")', 'pairs|reverse'])} %}${within(['k', name, 'loop'], () => this.body(depth - 1))}{% endfor %}`;
      case 6: {
        const made = `{% set ${name} = ${e('any')} %}`;
        this.locals = [...saved, name];
        return made;
      }
      case 7: {
        const made = `{% set ${name}${this.chance(0.3) ? ` | ${this.one(['upper', 'trim', 'length', 'replace("a", "<")'])}` : ''} %}${this.body(depth - 1)}{% endset %}`;
        this.locals = [...saved, name];
        return made;
      }
      case 8:
        return `{% with ${name} = ${e('any')}, z = ${e('any')} %}${within([name, 'z'], () => this.body(depth - 1))}{% endwith %}`;
      case 9: {
        const special = this.one(['', '{{ varargs }}', '{{ kwargs }}', '{{ caller is defined }}']);
        const call = this.one([
          `mm(${e('any')})`,
          `mm(${e('any')}, ${e('any')})`,
          `mm(b=${e('any')})`,
          `mm(*${e('list')})`,
          'mm()',
          this.chance(0.1) ? `mm(1, 2, 3)` : 'mm(1)',
          this.chance(0.1) ? `mm(1, zz=${e('num')})` : 'mm(b=2)',
        ]);
        return `{% macro mm(a, b=${e('any')}) %}${within(['a', 'b'], () => this.body(depth - 1))}${special}{% endmacro %}{{ ${call} }}`;
      }
      case 10:
        return `{% macro cc(a) %}<{{ caller(a) }}>{% endmacro %}{% call(p) cc(${e('any')}) %}${within(['p'], () => this.body(depth - 1))}{% endcall %}`;
      case 11:
        return `{% filter ${this.one(['upper', 'title', 'trim', 'indent(2)', 'replace("a", "&")', 'escape', 'truncate(12)', 'wordwrap(5)', 'striptags', 'urlize', 'center(20)'])} %}${this.body(depth - 1)}{% endfilter %}`;
      case 12:
        return `{% autoescape ${this.one(['true', 'false', 'b', 'c'])} %}${this.body(depth - 1)}{% endautoescape %}`;
      case 13: {
        const made = `{% set ns = namespace(n=${e('num')}) %}{% for ${name} in ${e('list')} %}{% set ns.n = ${within([name, 'ns'], () => this.one([`ns.n + ${name}`, `(ns.n, ${name})`, `ns.n ~ ${name}`]))} %}{% endfor %}{{ ns.n }}`;
        return made;
      }
      default:
        return this.one([
          `{% do ${this.one(['l.append(1)', 'd.update(q=1)', 'e.extend([1, 2])', 'w.sort()', 'l.pop()', 'd.pop("x")', 'd.setdefault("w", 2)', 'w.reverse()'])} %}{{ l }}{{ d }}{{ e }}{{ w }}`,
          `{% raw %}{{ x }}{% if %}{% endraw %}`,
          `{# comment ${this.text()} #}`,
          `{% for x in us recursive %}{{ x.n }}{{ loop.depth }}{% if x.t %}({{ loop(x.t) }}){% endif %}{% endfor %}`,
          `{% print ${e('any')}, ${e('any')} %}`,
        ]);
    }
  }

  private text(): string {
    return this.one([
      'text ',
      '\n',
      '  ',
      'a\n  b',
      '<b>&amp;</b>',
      'é😀',
      ' \n',
      '%}',
      '}}',
      '{ ',
      '#',
      "'",
    ]);
  }

  /** An expression, most often of the kind asked for. */
  expr(kind: Kind, depth: number): string {
    const wanted =
      kind === 'any'
        ? this.one<Kind>(['num', 'str', 'str', 'list', 'dict', 'bool', 'num'])
        : this.chance(0.015)
          ? this.one<Kind>(['num', 'str', 'list', 'dict', 'bool'])
          : kind;
    if (this.chance(0.012))
      return this.one(['nope', 'nope.x', 'd.nope', 'l[9]', 'us[0].zz', 'n', 'nested.a.q']);
    if (this.locals.length > 0 && this.chance(kind === 'any' ? 0.4 : 0.04)) return this.local();
    if (depth <= 0) return this.leaf(wanted);
    const e = (k: Kind) => this.expr(k, depth - 1);
    if (this.chance(0.06))
      return `(${e(wanted)} if ${e('bool')}${this.chance(0.8) ? ` else ${e(wanted)}` : ''})`;
    if (this.chance(0.05)) return `(${e(wanted)} ${this.one(['and', 'or'])} ${e(wanted)})`;
    if (this.chance(0.04))
      return `${e(wanted)}|default(${e(wanted)}${this.chance(0.5) ? ', true' : ''})`;
    switch (wanted) {
      case 'num':
        return this.number(e);
      case 'str':
        return this.string(e);
      case 'list':
        return this.list(e);
      case 'dict':
        return this.dict(e);
      default:
        return this.bool(e);
    }
  }

  private local(): string {
    const name = this.one(this.locals);
    if (name !== 'loop') return name;
    return `loop.${this.one(['index', 'index0', 'first', 'last', 'length', 'revindex', 'revindex0', 'previtem', 'nextitem', 'cycle("a", "<b>")', 'changed(1)', 'depth', 'nope'])}`;
  }

  private leaf(kind: Kind): string {
    switch (kind) {
      case 'num':
        return this.one([
          'i',
          'j',
          'k',
          'f',
          'g',
          'h',
          'm',
          'big',
          'huge',
          'tiny',
          'large',
          '0',
          '1',
          '2',
          '3.5',
          '10',
          '1e3',
          '0x1f',
          '1_000',
          '-4',
          '2.5',
          '100',
          'true',
        ]);
      case 'str':
        return this.one([
          's',
          't',
          'u',
          'num',
          'flt',
          'es',
          'uni',
          'url',
          'html',
          '"abc"',
          "'a b'",
          '"<i>"',
          '"x,y,z"',
          '"%s|%5.2f"',
          '"%d"',
          '"{}:{:>6}"',
          '"é"',
          '"\\n"',
          '"a\\\\b"',
          '"A"',
          '("<u>"|safe)',
          '(s|e)',
          '"{0}-{x}"',
        ]);
      case 'list':
        return this.one([
          'l',
          'w',
          'e',
          'mixed',
          'll',
          'fl',
          'pairs',
          'us',
          '[1, 2]',
          '(1, "a")',
          '[]',
          'range(4)',
          '["<", "b"|safe]',
          'd',
          '"xyz"',
          'd.keys()',
        ]);
      case 'dict':
        return this.one([
          'd',
          'nested',
          'ed',
          '{"a": 1}',
          '{"k": [1], 2: none}',
          'dict(p=1, q="z")',
          'us[0]',
          '{true: 1, 1.5: 2}',
        ]);
      default:
        return this.one(['b', 'c', 'true', 'false', 'i', 'e', 's', 'n', 'not b']);
    }
  }

  private number(e: (k: Kind) => string): string {
    switch (Math.floor(this.r() * 12)) {
      case 0:
      case 1:
      case 2:
        return `(${e('num')} ${this.one(['+', '-', '*', '/', '//', '%'])} ${e('num')})`;
      case 3:
        return `((${e('num')})|abs ** ${this.one(['2', '3', '0', '0.5', '1.5'])})`;
      case 4:
        return `${this.one(['-', '+', ''])}${e('num')}`;
      case 5:
        return `${e('list')}|${this.one(['length', 'sum', 'max', 'min', 'first', 'last', 'count', 'sum(start=10)'])}`;
      case 6:
        return `${e('num')}|${this.one(['abs', 'int', 'float', 'round', 'round(1)', 'round(2, "floor")', 'round(1, "ceil")', 'round(-1)'])}`;
      case 7:
        return `${e('str')}|${this.one(['length', 'int', 'float', 'wordcount', 'int(9)', 'float(1.5)', 'int(0, 16)'])}`;
      case 8:
        return `(${e('str')}).${this.one(['count("a")', 'find("b")', 'rfind("o")', 'find("l", 2)'])}`;
      case 9:
        return this.one([
          `us|sum(attribute="a")`,
          `d.get("x", 5)`,
          `us[1].a`,
          `ll[0][1]`,
          `l[${this.one(['0', '-1', '2', 'i'])}]`,
          `d.x`,
          `nested["items"][0]`,
          `l.index(1)`,
          `l.count(3)`,
          `(${e('num')}|int).bit_length()`,
          `d["x"]`,
        ]);
      case 10:
        return `(${e('list')})[${this.one(['0', '-1', '1', 'i'])}]`;
      default:
        return `(${e('num')})`;
    }
  }

  private string(e: (k: Kind) => string): string {
    switch (Math.floor(this.r() * 14)) {
      case 0:
        return `(${e('any')} ~ ${e('any')})`;
      case 1:
        return `(${e('str')} + ${e('str')})`;
      case 2:
        return `(${e('str')} * ${this.one(['0', '2', '3', 'true'])})`;
      case 3:
      case 4:
      case 5:
        return `${e('str')}|${this.one(['upper', 'lower', 'title', 'capitalize', 'trim', 'reverse', 'e', 'escape', 'forceescape', 'safe', 'string', 'striptags', 'urlencode', 'urlize', 'urlize(10, true)', 'indent', 'indent(2, true)', 'indent("> ", false, true)', 'center(12)', 'truncate(7)', 'truncate(5, true)', 'truncate(9, false, "…", 0)', 'wordwrap(6)', 'wordwrap(8, false)', 'wordwrap(5, true, "<br>")', 'replace("a", "<")', 'replace("o", "0", 1)', 'trim("h ")', 'pprint', 'tojson', 'first', 'last', 'list|join("-")', 'default("z")', 'attr("upper")|default("q")', 'batch(2)|list', 'wordwrap'])}`;
      case 6:
        return `(${e('str')}).${this.one(['upper()', 'lower()', 'title()', 'capitalize()', 'strip()', 'strip("Hf")', 'swapcase()', 'center(15, "*")', 'ljust(8)', 'rjust(8, "-")', 'zfill(8)', 'replace("o", "<")', 'replace("l", "L", 1)', 'join(w)', 'join(["<", "b"])', 'partition(" ")', 'rpartition("o")|join("|")', 'expandtabs(4)', 'casefold()', 'removeprefix("a")', 'removesuffix("c")', 'format(1, "<b>", x=3)', 'lstrip()', 'rstrip("x ")', 'splitlines()|join("/")'])}`;
      case 7:
        return `(${e('str')})[${this.one(['0', '-1', ':3', '1:', '::-1', '-4:', '1:-1', '::2', '0:100', 'i:'])}]`;
      case 8:
        return `(${this.one(['"%s"', '"%5s|"', '"%-5s|"', '"%r"', '"%.3s"', '("<b>%s</b>"|safe)', '"%d"', '"%5.1f"', '"%x"', '"%e"', '"%g"', '"%+d"', '"%05d"', '"%%"', '"%c"'])} % ${this.one([`(${e('any')},)`, e('num'), e('num'), e('str'), this.chance(0.2) ? `(${e('num')}, ${e('any')})` : e('num'), this.chance(0.2) ? e('dict') : e('num')])})`;
      case 9:
        return `${this.one(['"{}"', '"{:>10}"', '"{:^9}"', '"{:,}"', '"{:.2f}"', '"{:,.2f}"', '"{:05d}"', '"{!r}"', '"{:x}"', '"{:%}"', '"{:e}"', '"{:g}"', '"{:+}"', '"{:_}"', '("<{}>"|safe)', '"{:<5}|"', '"{:*^8}"', '"{:b}"', '"{:#x}"', '"{:10.3}"', '"{:s}"', '"{{}}"'])}.format(${this.one([e('any'), e('num'), e('num'), e('str'), `${e('num')}, ${e('any')}`, this.chance(0.1) ? `a=${e('list')}, b=${e('any')}` : e('num')])})`;
      case 10:
        return `${e('list')}|join${this.one(['', '(",")', '("<")', '(", ", attribute="n")', '("|"|safe)'])}`;
      case 11:
        return `${e('num')}|${this.one(['string', 'filesizeformat', 'filesizeformat(true)', 'tojson', 'pprint', 'urlencode', 'upper', 'center(9)'])}`;
      case 12:
        return `${e('any')}|${this.one(['tojson', 'tojson(2)', 'pprint', 'string', 'e', 'urlencode', 'safe'])}`;
      default:
        return this.one([
          'd.y',
          'us[0].n',
          'us|map(attribute="n")|join(",")',
          'nested.a.b.c',
          'd|xmlattr',
          '{"c": "<"}|xmlattr',
          'us|map("attr", "n")|list',
          'w|first',
          't.split("-")[0]',
          'nested["10"]',
          'joiner("<")()',
          'cycler("a", "b").next()',
        ]);
    }
  }

  private list(e: (k: Kind) => string): string {
    switch (Math.floor(this.r() * 10)) {
      case 0:
        return `[${e('any')}, ${e('any')}]`;
      case 1:
        return `(${e('list')} + ${e('list')})`;
      case 2:
      case 3:
        return `${e('list')}|${this.one(['sort', 'sort(reverse=true)', 'sort(case_sensitive=true)', 'reverse|list', 'list', 'unique|list', 'unique(true)|list', 'batch(2)|list', 'batch(3, "x")|list', 'slice(2)|list', 'slice(2, "z")|list', 'map("string")|list', 'map("upper")|list', 'select|list', 'reject|list', 'select("odd")|list', 'select("string")|list', 'reject("none")|list', 'select("gt", 1)|list', 'select("in", [1, "a"])|list', 'map("int")|list', 'map("default", "q")|list', 'map("length")|list', 'first', 'map("first")|list', 'map("e")|list'])}`;
      case 4:
        return `us|${this.one(['sort(attribute="n")|map(attribute="n")|list', 'sort(attribute="a,n")|map(attribute="n")|list', 'groupby("a")|list', 'groupby("c")|map("first")|list', 'groupby("c", case_sensitive=true)|map("last")|list', 'selectattr("a", "gt", 26)|map(attribute="n")|list', 'rejectattr("t")|list', 'map(attribute="zz", default=0)|list', 'unique(attribute="a")|list', 'map(attribute="t.0")|list', 'selectattr("c", "equalto", "Oslo")|list', 'groupby("zz", default="?")|list', 'map(attribute="t")|list', 'map(attribute="t")|map("length")|list'])}`;
      case 5:
        return `(${e('list')})[${this.one([':2', '1:', '::-1', '-2:', '::2', '5:1:-1'])}]`;
      case 6:
        return `(${e('dict')})${this.one(['.items()', '.keys()', '.values()', '|items', '|dictsort', '|dictsort(by="value")', '|list', '|dictsort(true, reverse=true)'])}`;
      case 7:
        return `(${e('str')}).${this.one(['split()', 'split(" ")', 'split(",", 1)', 'rsplit(None, 1)', 'splitlines()', 'split("a")', 'rsplit(" ", 1)', 'split(none, 1)'])}`;
      case 8:
        return `range(${this.one(['3', '2, 5', '5, 0, -2', 'i', 'l|length', '0', '1, 10, 4'])})${this.one(['', '|list', '|reverse|list', '|batch(2)|list', '[1:]'])}`;
      default:
        return `(${e('any')}, ${e('any')})`;
    }
  }

  private dict(e: (k: Kind) => string): string {
    switch (Math.floor(this.r() * 5)) {
      case 0:
        return `{"a": ${e('any')}, ${e('str')}: ${e('any')}}`;
      case 1:
        return `dict(${e('dict')}, z=${e('any')})`;
      case 2:
        return `{${e('num')}: ${e('any')}, ${this.one(['1', 'true', '1.0', '"1"', '(1, 2)'])}: ${e('any')}}`;
      case 3:
        return 'dict(pairs)';
      default:
        return this.leaf('dict');
    }
  }

  private bool(e: (k: Kind) => string): string {
    switch (Math.floor(this.r() * 9)) {
      case 0:
      case 1:
        return `(${e('num')} ${this.one(['==', '!=', '<', '<=', '>', '>='])} ${e('num')})`;
      case 2:
        return `(${e('str')} ${this.one(['==', '!=', '<', 'in', 'not in'])} ${e('str')})`;
      case 3:
        return `(${e('any')} ${this.one(['in', 'not in'])} ${e('list')})`;
      case 4:
        return `(${e('any')} ${this.one(['==', '!=', '<'])} ${e('any')})`;
      case 5:
        return `(not ${e('any')})`;
      case 6:
        return `(${e('num')} < ${e('num')} <= ${e('num')})`;
      case 7:
        return `(${e('any')} is ${this.chance(0.2) ? 'not ' : ''}${this.one(['defined', 'undefined', 'none', 'string', 'number', 'mapping', 'sequence', 'iterable', 'callable', 'boolean', 'true', 'false', 'integer', 'float', 'lower', 'upper', 'odd', 'even', 'divisibleby(3)', 'divisibleby 2', 'in [1, "a"]', 'eq 1', 'ne(2)', 'lt 3', 'gt(1)', 'ge 2', 'le 4', 'sameas true', 'escaped', 'sameas none', '>(1)'.replace('>(1)', 'greaterthan(1)'), 'lessthan 5', 'filter', 'test'])})`;
      default:
        return `(${e('str')}).${this.one(['startswith("a")', 'endswith("o")', 'isdigit()', 'isalpha()', 'islower()', 'isupper()', 'isspace()', 'istitle()', 'isalnum()', 'isidentifier()', 'startswith(("a", "H"))', 'isnumeric()', 'isascii()'])}`;
    }
  }
}
