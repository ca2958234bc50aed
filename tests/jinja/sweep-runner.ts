// Child process of sweep.test.ts: calls every filter, test, method, operator and global of the
// engine on large values, again and again, and keeps what they answer. Prints what took too long;
// dies when memory runs out, with the culprit's name last.
import { writeSync } from 'node:fs';
import { Environment, TemplateError } from '../../src/jinja/index.ts';
import { bytesMethods } from '../../src/jinja/methods/bytes.ts';
import { dictMethods, viewMethods } from '../../src/jinja/methods/dict.ts';
import { listMethods, rangeMethods, tupleMethods } from '../../src/jinja/methods/list.ts';
import { floatMethods, intMethods } from '../../src/jinja/methods/number.ts';
import { markupMethods, strMethods } from '../../src/jinja/methods/str.ts';
import { Markup } from '../../src/jinja/values/types.ts';
import type { ThreadClock } from '../../src/process/thread-clock.ts';
import { openTestClock } from '../support/blocked.ts';

const env = new Environment({ extensions: ['do'] });
const text = 'ab <c&d> http://e.example/?f=1\n'.repeat(28_000);
const data = () => ({
  text,
  /** Beyond 16 bits, and nothing that can be printed as it is. */
  strange: '😀\u0001\u00a0語'.repeat(60_000),
  runs: '-'.repeat(300_000) + ' '.repeat(300_000),
  html: new Markup(text),
  texts: Array.from({ length: 100_000 }, () => text),
  mixed: [1, 'a', null, 2.5, [text], { a: text }],
  pairs: Array.from({ length: 20_000 }, (_, i) => [`k${i}`, text]),
  dict: Object.fromEntries(Array.from({ length: 20_000 }, (_, i) => [`k${i}`, text])),
  longKeys: Object.fromEntries(
    Array.from({ length: 20 }, (_, i) => ['k'.repeat(50_000) + i, text]),
  ),
  big: 2n ** 65_000n - 1n,
});

const subjects: [expression: string, methods: Iterable<string>][] = [
  ['text', strMethods.keys()],
  ['strange', strMethods.keys()],
  ['runs', strMethods.keys()],
  ['html', markupMethods.keys()],
  ['texts', listMethods.keys()],
  ['mixed', listMethods.keys()],
  ['pairs', listMethods.keys()],
  ['dict', dictMethods.keys()],
  ['longKeys', dictMethods.keys()],
  ['big', intMethods.keys()],
  ['1.5', floatMethods.keys()],
  ['range(200000)', rangeMethods.keys()],
  ['dict.items()', viewMethods.keys()],
  ['text[:200000].encode()', bytesMethods.keys()],
  ['(text, text, 1)', tupleMethods.keys()],
];
const argumentLists = [
  '',
  'text',
  '7',
  'text, text',
  '"a", text',
  '"%s", "k0"',
  'runs, 3',
  'attribute=text',
];
const OPERATORS = ['+', '-', '*', '/', '//', '%', '**', '~', '==', '<', 'in', 'and'];
const GLOBALS = ['range', 'dict', 'lipsum', 'cycler', 'joiner', 'namespace'];

function* expressions(): Generator<string> {
  for (const [subject, methods] of subjects) {
    for (const args of argumentLists) {
      for (const name of env.filters.keys()) yield `(${subject})|${name}(${args})`;
      for (const name of methods) yield `(${subject}).${name}(${args})`;
    }
    for (const name of env.tests.keys()) {
      yield `(${subject}) is ${name}`;
      yield `(${subject}) is ${name}(texts)`;
      yield `text is ${name}(${subject})`;
    }
    for (const op of OPERATORS)
      for (const [other] of subjects.slice(0, 11)) yield `(${subject}) ${op} (${other})`;
    for (const name of GLOBALS) yield `${name}(*(${subject}))`;
    yield* [`(${subject})[1:]`, `(${subject})[::-2]`, `(${subject})[-1]`, `(${subject})[text]`];
    yield* [`{(${subject}): 1}`, `[${subject}, ${subject}]`, `not (${subject})`, `-(${subject})`];
  }
}

/** Everything that is answered stays reachable, in a chain of pairs; iterators are walked. */
const again = (expression: string) =>
  `{% set ns = namespace(kept=()) %}{% for i in range(2000) %}{% set x = ${expression} %}` +
  `{% set ns.kept = (ns.kept, x) %}{% if x is iterable %}{% for y in x %}{% endfor %}{% endif %}{% endfor %}`;

/** Of this thread alone: neither a busy machine nor the threads that compile and collect count. */
function attempt(source: string, { workedMs }: ThreadClock): { ms: number; fault?: string } {
  const values = shared;
  const started = workedMs();
  let fault: string | undefined;
  try {
    env.fromString(source).render(values);
  } catch (error) {
    if (!(error instanceof TemplateError)) fault = String(error);
  }
  return { ms: workedMs() - started, ...(fault ? { fault } : {}) };
}

const shared = data();
const [from = 0, step = 1] = process.argv.slice(2).map(Number);
const clock = openTestClock();
let count = 0;
let slow: string[] = [];
for (const expression of expressions()) {
  if (count++ % step !== from) continue;
  const source = again(expression);
  writeSync(3, `${expression}\n`);
  const { ms, fault } = attempt(source, clock);
  if (fault) process.stdout.write(`${JSON.stringify({ expression, fault })}\n`);
  if (ms > 100) slow.push(expression);
}
clock.close();

/** By a new clock, which knows how fast the machine is at the moment. */
function againMs(expression: string): number {
  const now = openTestClock();
  const { ms } = attempt(again(expression), now);
  now.close();
  return ms;
}

// What is slow is slow every time; what a busy machine caused is not.
for (let round = 0; round < 4; round++) slow = slow.filter((one) => againMs(one) > 100);
for (const expression of slow) {
  process.stdout.write(`${JSON.stringify({ expression, ms: againMs(expression) })}\n`);
}
process.stdout.write(`${JSON.stringify({ done: count })}\n`);
