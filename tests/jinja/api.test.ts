// What a program does with the engine: everything src/jinja/index.ts exports, as its README
// describes it.
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import {
  Dict,
  defaultLimits,
  Environment,
  Float,
  LimitExceeded,
  Markup,
  parseJson,
  SecurityError,
  TemplateAssertionError,
  TemplateError,
  TemplateNotFound,
  TemplateRuntimeError,
  TemplateSyntaxError,
  Tuple,
  UndefinedError,
  unescapeHtml,
} from '../../src/jinja/index.ts';

/** The error a function throws. */
function thrown(run: () => unknown): TemplateError {
  try {
    run();
  } catch (error) {
    if (error instanceof TemplateError) return error;
    throw error;
  }
  throw new Error('nothing was thrown');
}

describe('environment', () => {
  it('renders text, again and again with other data', () => {
    const template = new Environment().fromString('Hello {{ name|title }}!');
    expect(template.render({ name: 'ada' })).toBe('Hello Ada!');
    expect(template.render({ name: '<b>' })).toBe('Hello &lt;B&gt;!');
    expect(template.render()).toBe('Hello !');
  });

  it('takes escaping, whitespace, newline and delimiter options', () => {
    const env = new Environment({
      autoescape: (name) => name?.endsWith('.html') ?? false,
      trimBlocks: true,
      lstripBlocks: true,
      keepTrailingNewline: true,
      newlineSequence: '\r\n',
      variableStart: '[[',
      variableEnd: ']]',
      lineStatementPrefix: '%',
    });
    const source = '  {% if true %}\n[[ "<" ]]\n  {% endif %}\n% set x = 1\n[[ x ]]\n';
    expect(env.fromString(source, 'a.html').render()).toBe('&lt;\r\n1\r\n');
    expect(env.fromString(source, 'a.txt').render()).toBe('<\r\n1\r\n');
    expect(() => new Environment({ blockStart: '{{' })).toThrow('must be different');
  });

  it('treats missing names as it is told to', () => {
    const render = (undefined_: 'default' | 'chainable' | 'strict' | 'debug', source: string) =>
      new Environment({ undefined: undefined_ }).fromString(source).render();
    expect(render('default', '[{{ nope }}]')).toBe('[]');
    expect(thrown(() => render('default', '{{ nope.x }}'))).toBeInstanceOf(UndefinedError);
    expect(render('chainable', '[{{ nope.x.y }}]')).toBe('[]');
    expect(thrown(() => render('strict', '{{ nope }}')).message).toBe("'nope' is undefined");
    expect(render('debug', '{{ nope }}')).toBe('{{ nope }}');
  });

  it('knows further tags only when asked', () => {
    const source =
      '{% for x in [1, 2, 3] %}{% if x == 2 %}{% break %}{% endif %}{{ x }}{% endfor %}';
    expect(new Environment({ extensions: ['loopcontrols'] }).fromString(source).render()).toBe('1');
    expect(thrown(() => new Environment().fromString(source))).toBeInstanceOf(TemplateSyntaxError);
  });

  it('adds filters, tests and globals of the host, which see plain values', () => {
    const env = new Environment({
      filters: {
        money: (cents: number, options?: { unit: string }) =>
          `${cents / 100} ${options?.unit ?? '€'}`,
      },
      tests: { long: (text: string, than: number) => text.length > than },
      globals: {
        shop: { name: 'A & B' },
        link: (path: string) => new Markup(`<a href="${path}">`),
      },
    });
    const render = (source: string) => env.fromString(source).render({ list: [1, 2.5] });
    expect(render('{{ 1250|money }} {{ 100|money(unit="$") }}')).toBe('12.5 € 1 $');
    expect(render('{{ "abc" is long(2) }} {{ ["a", "abc"]|select("long", 2)|list }}')).toBe(
      'True [&#39;abc&#39;]',
    );
    expect(render('{{ shop.name }} {{ link("/x") }}')).toBe('A &amp; B <a href="/x">');
  });
});

describe('loader', () => {
  const sources: Record<string, string> = {
    'base.html': '<{% block body %}{% endblock %}>',
    'page.html': '{% extends "base.html" %}{% block body %}{% include "part.html" %}{% endblock %}',
    'part.html': '{{ n }}',
  };
  const env = new Environment({ loader: (name) => sources[name] });

  it('finds templates and what they extend, include and import', () => {
    expect(env.getTemplate('page.html').render({ n: 1 })).toBe('<1>');
    const missing = thrown(() => env.getTemplate('nope.html'));
    expect(missing).toBeInstanceOf(TemplateNotFound);
    expect((missing as TemplateNotFound).templates).toEqual(['nope.html']);
    expect(thrown(() => env.fromString('a\n{% include "nope.html" %}').render())).toMatchObject({
      typeName: 'TemplateNotFound',
      line: 2,
    });
  });

  it('compiles a source once, and again when it has changed', () => {
    const first = env.getTemplate('part.html');
    expect(env.getTemplate('part.html')).toBe(first);
    sources['part.html'] = '{{ n + 1 }}';
    expect(env.getTemplate('part.html')).not.toBe(first);
    expect(env.getTemplate('page.html').render({ n: 1 })).toBe('<2>');
    sources['part.html'] = '{{ n }}';
    expect(env.getTemplate('part.html')).toBe(first);
  });
});

describe('errors', () => {
  it('say where while parsing', () => {
    const error = thrown(() => new Environment().fromString('a\n  {{ 1 + }}', 'mail.html'));
    expect(error).toBeInstanceOf(TemplateSyntaxError);
    expect(error).toMatchObject({ templateName: 'mail.html', line: 2, column: 10 });
    expect(error.excerpt).toBe('2 |   {{ 1 + }}\n  |          ^');
    expect(thrown(() => new Environment().fromString('{{ 1|nope }}'))).toBeInstanceOf(
      TemplateAssertionError,
    );
  });

  it('say where while rendering, in the template that failed', () => {
    const env = new Environment({
      loader: (name) => (name === 'part.html' ? 'x\n\n{{ user.name.first }}' : undefined),
    });
    const error = thrown(() => env.fromString('{% include "part.html" %}').render({ user: {} }));
    expect(error).toBeInstanceOf(UndefinedError);
    expect(error).toMatchObject({ templateName: 'part.html', line: 3, column: 14 });
    expect(error.describe()).toBe(
      "part.html:3:14: UndefinedError: 'dict object' has no attribute 'name'\n3 | {{ user.name.first }}\n  |              ^",
    );
  });

  it("carry Python's names, and what a host function threw", () => {
    const failure = new Error('no connection');
    const render = (source: string) => () =>
      new Environment({
        globals: {
          fetch: () => {
            throw failure;
          },
        },
      })
        .fromString(source)
        .render();
    expect(thrown(render('{{ 1 / 0 }}'))).toMatchObject({
      typeName: 'ZeroDivisionError',
      message: 'division by zero',
    });
    expect(thrown(render('{{ 1 + "a" }}'))).toBeInstanceOf(TemplateRuntimeError);
    expect(thrown(render('{{ fetch() }}'))).toMatchObject({
      message: 'no connection',
      cause: failure,
    });
    expect(thrown(render('{{ "".__class__.x }}'))).toBeInstanceOf(SecurityError);
  });
});

describe('limits', () => {
  it('do not count the time a busy machine gave to others', () => {
    const never = new Int32Array(new SharedArrayBuffer(4));
    const stall = (): string => {
      Atomics.wait(never, 0, 0, 3 * defaultLimits.timeMs);
      return 'rested';
    };
    const template = new Environment({ globals: { stall } }).fromString(
      '{{ stall() }}{% for i in range(9000) %}{% endfor %}, done',
    );
    expect(template.render()).toBe('rested, done');
  });

  it('stop a render and name themselves', () => {
    const cases: Record<string, [string, number]> = {
      steps: ['{% for i in range(1000) %}{{ i }}{% endfor %}', 500],
      depth: ['{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}', 10],
      outputBytes: ['{{ "é" * (n // 2) }}', 15],
      stringLength: ['{{ ("a" * n)|length }}', 15],
      items: ['{{ range(n)|list|length }}', 15],
    };
    for (const [limit, [source, value]] of Object.entries(cases)) {
      const template = new Environment().fromString(source);
      const error = thrown(() => template.render({ n: 20 }, { limits: { [limit]: value } }));
      expect(error).toBeInstanceOf(LimitExceeded);
      expect((error as LimitExceeded).limit).toBe(limit);
    }
    expect(
      thrown(() => new Environment({ limits: { sourceLength: 3 } }).fromString('abcd')),
    ).toMatchObject({ limit: 'sourceLength' });
    const endless = new Environment({ limits: { timeMs: 5, steps: 1e9 } }).fromString(
      '{% for i in range(100000) %}{% for j in range(100000) %}{% endfor %}{% endfor %}',
    );
    expect(thrown(() => endless.render())).toMatchObject({ limit: 'timeMs' });
  });

  it('have the defaults the README lists', () => {
    const readme = readFileSync(new URL('../../src/jinja/README.md', import.meta.url), 'utf8');
    const units: Record<string, number> = { Ki: 1024, Mi: 1024 ** 2, MiB: 1024 ** 2 };
    const listed = Object.fromEntries(
      [...readme.matchAll(/^\| `(\w+)` \| ([\d,]+)(?: (\w+))? \|/gm)].map(
        ([, name, digits, unit]) => [
          name,
          Number(digits!.replaceAll(',', '')) * (unit === undefined ? 1 : units[unit]!),
        ],
      ),
    );
    expect(listed).toEqual(defaultLimits);
  });
});

describe('values', () => {
  it('are read from JSON as Python reads them', () => {
    const data = parseJson(
      '{"i": 1, "f": 1.0, "big": 12345678901234567890, "d": {"2": 0, "1": 0}}',
    );
    expect(data).toBeInstanceOf(Dict);
    const template = new Environment({ autoescape: false }).fromString(
      '{{ i }} {{ f }} {{ big + 1 }} {{ d }}',
    );
    expect(template.render(data as Dict)).toBe("1 1.0 12345678901234567891 {'2': 0, '1': 0}");
  });

  it('can be floats, tuples and HTML, and are never changed by a template', () => {
    const list = [1];
    const template = new Environment({ extensions: ['do'] }).fromString(
      '{{ f }} {{ t }} {{ m }}{% do list.append(2) %} {{ list }}',
    );
    const data = { f: new Float(2), t: new Tuple([1]), m: new Markup('<b>'), list };
    expect(template.render(data)).toBe('2.0 (1,) <b> [1, 2]');
    expect(template.render(data)).toBe('2.0 (1,) <b> [1, 2]');
    expect(list).toEqual([1]);
    expect(unescapeHtml('&lt;&eacute;&#x21;')).toBe('<é!');
  });
});

describe('the folder', () => {
  const source = fileURLToPath(new URL('../../src/', import.meta.url));
  const engine = join(source, 'jinja');
  const imports = (file: string) =>
    [...readFileSync(file, 'utf8').matchAll(/from '(\.[^']+)'/g)].map(([, path]) =>
      resolve(dirname(file), path!),
    );
  const files = readdirSync(source, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .map((name) => join(source, name));

  it('imports nothing from outside, and is entered by its front door only', () => {
    const inside = files.filter((file) => file.startsWith(engine));
    expect(inside.flatMap(imports).filter((path) => !path.startsWith(engine))).toEqual([]);
    const around = files
      .filter((file) => !file.startsWith(engine))
      .flatMap(imports)
      .filter((path) => path.startsWith(`${engine}/`) && path !== join(engine, 'index.ts'));
    expect(around).toEqual([]);
  });
});
