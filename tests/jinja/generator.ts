// Random templates from a grammar, for the differential test: the same seed gives the same
// templates.
import { ExpressionGenerator, type Kind } from './expression-generator.ts';
import { filterWithArguments } from './filter-arguments.ts';
import { otherSyntax, SYNTAXES } from './other-syntax.ts';

export interface Job {
  templates: Record<string, string>;
  main: string;
  context: Record<string, unknown>;
  options: Record<string, unknown>;
}

export class Generator extends ExpressionGenerator {
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
    const syntax = this.r();
    if (syntax < 0.06) otherSyntax(templates, options, this.one(SYNTAXES));
    else if (syntax < 0.12) this.lineStatements(templates, options);
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

  /** Statements and comments that take a line each. */
  private lineStatements(
    templates: Record<string, string>,
    options: Record<string, unknown>,
  ): void {
    options.line_statement_prefix = this.one(['%%', '#', '%']);
    options.line_comment_prefix = this.one(['##', '//']);
    const [statement, comment] = [options.line_statement_prefix, options.line_comment_prefix];
    const pad = () => this.one(['', '', '  ', '\t']);
    const end = () => this.one(['\n', '\n', ':\n', ` ${comment} c\n`, '  \n\n']);
    templates['main.html'] =
      `${pad()}${statement} for x in ${this.expr('list', 1)}${end()}${pad()}{{ x }}${this.one(['', ` ${comment} c`])}
${this.text()}
${pad()}${statement} if ${this.expr('bool', 1)}${end()}${this.text()}\n${pad()}${statement} endif${end()}${pad()}${statement}- endfor${end()}${pad()}${comment} c\n${templates['main.html']}`;
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
    if (base && this.chance(0.08)) return `{% block ${name}${scoped} required %} {% endblock %}`;
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
      `{% include ${this.one(['["no.html"]', '"no.html"', '[]', 'nope', '["no.html", nope]', '"no" ~ i', 'n', '("i.html", "no.html")', '"i.html" if b else "no.html"'])}${this.one(['', ' ignore missing'])}${context} %}`,
      `{% import ${this.one(['"m.html"', '"m" ~ ".html"', '"no.html"', 'nope'])} as m${context} %}{{ m.mac(1, 2) }}{{ m }}{{ m.nope }}`,
      `{% from "m.html" import nope, v${context} %}{{ v }}{{ nope }}{{ nope is defined }}`,
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
    switch (Math.floor(this.r() * 19)) {
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
      case 14: {
        const params = this.one([
          'a',
          'a, b=2',
          'a, b=a',
          'a, b=[], c=b',
          '',
          'a=nope, b=a|default(3)',
        ]);
        const rest = this.one(['', '{{ varargs }}', '{{ kwargs }}', '{{ varargs }}{{ kwargs }}']);
        const inside = this.one([
          '',
          '{{ caller() }}',
          '{{ caller(a, b=1) }}',
          '{{ caller(*varargs) if caller else "-" }}',
        ]);
        const given = this.one([
          '',
          e('any'),
          `${e('any')}, ${e('any')}`,
          `b=${e('any')}`,
          `*${e('list')}`,
          '**d',
          `1, 2, z=${e('num')}`,
          '*l, **{"b": 1}',
        ]);
        const use = this.one([
          `{{ vm(${given}) }}`,
          `{% call vm(${given}) %}${this.body(depth - 1)}{% endcall %}`,
          `{% call(p, b=0) vm(${given}) %}{{ p }}{{ b }}{{ varargs }}${this.body(depth - 1)}{% endcall %}`,
          `{{ vm.name }}{{ vm.arguments }}{{ vm.catch_kwargs }}{{ vm.catch_varargs }}{{ vm.caller }}`,
        ]);
        return `{% macro vm(${params}) %}[{{ a }}{{ b }}${rest}${inside}]{% endmacro %}${use}`;
      }
      case 15: {
        const items = this.one([
          'll',
          '[1, [2, [3, []]], 4]',
          'us',
          '[[], [1]]',
          '"ab"',
          e('list'),
        ]);
        const more = this.one([
          'loop.index',
          'loop.depth0',
          'loop.length',
          'loop.last',
          'loop.revindex',
          'loop.previtem',
          'loop.nextitem',
          'loop.cycle("a", "b")',
          'loop.changed(x)',
          'loop',
        ]);
        return `{% for x in ${items}${this.one(['', ' if x', ' if x is not none'])} recursive %}{{ ${more} }}{% if x is iterable and x is not string and x is not mapping %}<{{ loop(x)${this.one(['', '|upper', '|length'])} }}>{% else %}{{ x }}{% endif %}${this.one(['', '{% else %}none'])}{% endfor %}`;
      }
      case 16: {
        const keys = this.one([
          'loop.changed(x)',
          'loop.changed(x, 1)',
          'loop.previtem == x',
          'loop.nextitem is defined',
          'loop.cycle(*l)',
          'loop.first or loop.last',
          'loop.previtem|default("-")',
        ]);
        return `{% for x in ${this.one(['[1, 1, 2]', 'w', 'us|map(attribute="a")', 'l|select("odd")', 'd', e('list')])} %}{{ ${keys} }}{% set outer = loop %}{% for y in ${this.one(['l', 'w', '[]'])} %}{{ outer.index }}.{{ loop.index }}{% else %}!{% endfor %}{% endfor %}`;
      }
      case 17:
        return this.one([
          `{% set ns = namespace(d, q=${e('any')}) %}{% set ns.${name} %}${this.body(depth - 1)}{% endset %}{{ ns.${name} }}{{ ns.q }}{{ ns.y }}`,
          `{% set ${name}, q = ${this.one(['1, 2', 'l', '"ab"', 'pairs', '(1, (2, 3))', e('list')])} %}{{ ${name} }}{{ q }}`,
          `{% set c = cycler(${this.one(['1, 2', '*l', '"<"'])}) %}{{ c.next() }}{{ c.current }}{{ c.next() }}{% do c.reset() %}{{ c.current }}`,
          `{% set j = joiner(${this.one(['', '"|"', '"<"'])}) %}{% for x in l %}{{ j() }}{{ x }}{% endfor %}`,
          `{% filter ${filterWithArguments(this.r, 'str')}|string %}${this.body(depth - 1)}{% endfilter %}`,
          `{% set ${name} | ${filterWithArguments(this.r, 'str')} %}${this.body(depth - 1)}{% endset %}{{ ${name} }}`,
          `{% for x in [0, 1, 2, 3] %}{% if x == 2 %}{% ${this.one(['break', 'continue'])} %}{% endif %}{% filter upper %}${this.one(['a', '{% if x %}{% continue %}{% endif %}b'])}{% endfilter %}{{ x }}{% else %}e{% endfor %}`,
        ]);
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
      '\r\n',
      '\t',
      '\u00a0 ',
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
}
