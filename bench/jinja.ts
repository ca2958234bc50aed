// npm run bench jinja: an order email (layout, imported macros, 1 to 1,000 lines) rendered by our
// engine, nunjucks, minijinja-js and CPython's Jinja2 where python3 has it. All must print the same
// text first. Goal: 5 × CPython, ahead of every npm engine.
// SIZES (1,10,100,1000), ROUNDS (7) and MS (150, of a round) are read from the environment.
import { spawn, spawnSync } from 'node:child_process';
import { createRequire } from 'node:module';
import { createInterface } from 'node:readline';
import { Environment } from '../src/jinja/index.ts';
import { judge, skip } from './support/results.ts';
import { show, summarise } from './support/rounds.ts';

const ROUNDS = Number(process.env.ROUNDS ?? 7);
const SIZES = (process.env.SIZES ?? '1,10,100,1000').split(',').map(Number);
const ROUND_MS = Number(process.env.MS ?? 150);

/** Written in the part of the language that all contenders print alike. */
const templates: Record<string, string> = {
  'macros.html': `{% macro button(url, label, color="#1a56db") -%}
<table role="presentation"><tr><td style="background:{{ color }}"><a href="{{ url }}">{{ label }}</a></td></tr></table>
{%- endmacro %}
{% macro row(item, odd) -%}
<tr class="{{ "odd" if odd else "even" }}"><td>{{ item.name }}</td><td>{{ item.qty }}</td><td>{{ item.price }}</td>{% if item.note %}<td>{{ item.note|upper }}</td>{% else %}<td></td>{% endif %}</tr>
{%- endmacro %}`,
  'layout.html': `<!doctype html>
<html lang="en"><head><title>{% block title %}{{ branding.name }}{% endblock %}</title></head>
<body style="background:{{ branding.background }}">
<h1>{{ branding.name }}</h1>
{% block body %}{% endblock %}
<p>{{ branding.address }} · <a href="{{ unsubscribe_url }}">Unsubscribe</a></p>
</body></html>`,
  'order.html': `{% extends "layout.html" %}{% import "macros.html" as ui %}
{% block title %}Order {{ order.number }}{% endblock %}
{% block body %}{% import "macros.html" as ui %}
<p>Hello {{ user.first_name|default("there") }}, thank you for your order {{ order.number }}.</p>
<table>
{% for item in order.lines %}{{ ui.row(item, loop.index % 2 == 1) }}
{% endfor %}</table>
<p>{{ order.lines|length }} line{% if order.lines|length != 1 %}s{% endif %}, total {{ order.total }} {{ order.currency }}</p>
{% if order.gift and order.message %}<blockquote>{{ order.message }}</blockquote>{% endif %}
{{ ui.button(order.url, "View order", color=branding.color) }}
{% endblock %}`,
};

const data = (lines: number) => ({
  branding: {
    name: 'Alder & Finch',
    background: '#f4f4f4',
    color: '#2f5d50',
    address: '1 Main Street, Oslo',
  },
  unsubscribe_url: 'https://mail.example/u?m=1&t=abc',
  user: { first_name: 'Ann <3' },
  order: {
    number: 'A-1042',
    total: '1,234.50',
    currency: 'EUR',
    gift: true,
    message: 'Happy birthday & enjoy!',
    url: 'https://shop.example/orders/1042?ref=mail&x=1',
    lines: Array.from({ length: lines }, (_, i) => ({
      name: `Item ${i} <large> & blue`,
      qty: (i % 5) + 1,
      price: `${10 + i}.50`,
      note: i % 3 === 0 ? 'fragile & heavy' : '',
    })),
  },
});

interface Contender {
  name: string;
  render: (context: unknown) => string;
}

const require = createRequire(import.meta.url);

function ours(): Contender {
  // The others have no limit; the first of a thousand lines is slow.
  const env = new Environment({
    loader: (name) => templates[name],
    limits: { timeMs: 60_000 },
  });
  const template = env.getTemplate('order.html');
  return {
    name: 'sandmartin',
    render: (context) => template.render(context as Record<string, unknown>),
  };
}

function nunjucks(): Contender {
  const library = require('nunjucks') as {
    Environment: new (
      loader: object,
      options: object,
    ) => { getTemplate(name: string, eager: boolean): { render(context: unknown): string } };
  };
  const loader = {
    getSource: (name: string) => ({ src: templates[name], path: name, noCache: false }),
  };
  const template = new library.Environment(loader, { autoescape: true }).getTemplate(
    'order.html',
    true,
  );
  return { name: 'nunjucks', render: (context) => template.render(context) };
}

function minijinja(): Contender {
  const library = require('minijinja-js') as {
    Environment: new () => {
      addTemplate(name: string, source: string): void;
      renderTemplate(name: string, context: unknown): string;
    };
  };
  const env = new library.Environment();
  for (const [name, source] of Object.entries(templates)) env.addTemplate(name, source);
  return { name: 'minijinja-js', render: (context) => env.renderTemplate('order.html', context) };
}

const PYTHON = `
import json, sys, time, jinja2
templates, contexts = json.loads(sys.stdin.readline())
env = jinja2.Environment(loader=jinja2.DictLoader(templates), autoescape=True)
template = env.get_template("order.html")
for line in sys.stdin:
    size, seconds = json.loads(line)
    context = contexts[size]
    if seconds == 0:
        print(json.dumps(template.render(context)), flush=True)
        continue
    count, start = 0, time.perf_counter()
    while (elapsed := time.perf_counter() - start) < seconds:
        template.render(context)
        count += 1
    print(json.dumps(count / elapsed), flush=True)
`;

/**
 * CPython in a process of its own that answers one line per question; null where it has no Jinja2.
 */
function python(contexts: Record<string, unknown>) {
  if (spawnSync('python3', ['-c', 'import jinja2']).status !== 0) return null;
  const child = spawn('python3', ['-c', PYTHON], { stdio: ['pipe', 'pipe', 'inherit'] });
  const answers = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  child.stdin.write(`${JSON.stringify([templates, contexts])}\n`);
  const ask = async (size: number, seconds: number): Promise<unknown> => {
    child.stdin.write(`${JSON.stringify([String(size), seconds])}\n`);
    return JSON.parse((await answers.next()).value as string);
  };
  return { ask, end: () => child.stdin.end() };
}

function perSecond(contender: Contender, context: unknown): number {
  let count = 0;
  const start = performance.now();
  while (performance.now() - start < ROUND_MS) {
    contender.render(context);
    count++;
  }
  return (count * 1000) / (performance.now() - start);
}

const contexts = Object.fromEntries(SIZES.map((size) => [String(size), data(size)]));
const contenders = [ours(), nunjucks(), minijinja()];
const cpython = python(contexts);
if (cpython === null) skip('python3 has no Jinja2 (Debian: python3-jinja2)', 'CPython Jinja2');

const perLine: number[] = [];
for (const size of SIZES) {
  const context = contexts[String(size)];
  const expected = contenders[0]!.render(context);
  // minijinja also escapes the slash; that apart, the texts must be the same.
  for (const contender of contenders.slice(1))
    if (contender.render(context).replaceAll('&#x2f;', '/') !== expected)
      throw new Error(`${contender.name} prints something else at ${size} lines`);
  if (cpython !== null && (await cpython.ask(size, 0)) !== expected)
    throw new Error(`CPython prints something else at ${size} lines`);
  const rates = new Map<string, number[]>();
  const note = (name: string, rate: number) => rates.set(name, [...(rates.get(name) ?? []), rate]);
  for (const contender of contenders) perSecond(contender, context);
  for (let round = 0; round < ROUNDS; round++) {
    for (const contender of contenders) note(contender.name, perSecond(contender, context));
    if (cpython !== null)
      note('CPython Jinja2', (await cpython.ask(size, ROUND_MS / 1000)) as number);
  }
  const own = rates.get('sandmartin')!;
  console.log(
    `\n${size} line${size === 1 ? '' : 's'} (${expected.length} characters): ${show(summarise(own), 0)} renders/s`,
  );
  for (const [name, other] of rates) {
    if (name === 'sandmartin') continue;
    const ratio = summarise(own.map((rate, i) => rate / other[i]!));
    const goal = name === 'CPython Jinja2' ? 5 : 1;
    judge(`${size} lines, ours : ${name}`, ratio, { goal });
  }
  perLine.push(1e6 / summarise(own).median / size);
}
cpython?.end();
console.log(
  `\nmicroseconds per line at ${SIZES.join(', ')}: ${perLine.map((us) => us.toFixed(2)).join(', ')}`,
);
