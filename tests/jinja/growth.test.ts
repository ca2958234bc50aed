// No source and no text makes the engine's time grow faster than its size: generated families, each
// measured at sizes four times apart. Limits are lifted, because this measures the algorithms.
import { describe, it } from 'vitest';
import { Environment, TemplateError } from '../../src/jinja/index.ts';
import { expectLinearFor } from '../support/growth.ts';
import { draw } from '../support/longer.ts';

const huge = Number.MAX_SAFE_INTEGER;
const limits = { steps: huge, stringLength: huge, items: huge, outputBytes: huge, timeMs: huge };

function ignoringFaults(work: () => unknown): void {
  try {
    work();
  } catch (error) {
    if (!(error instanceof TemplateError)) throw error;
  }
}

describe('linear growth', () => {
  it('of compiling', () => {
    const pieces =
      '{% {%- %} -%} {{ }} {# #} {%raw%} {%endraw%} {%if|a%} {%endif%} {%for|a|in|b%} {%endfor%} {%set|a=1%} " \' \\ ( ) [ ] { } a 1 1.5 ~ | . - + _ |e is|b'
        .split(' ')
        .map((piece) => piece.replaceAll('|', ' '));
    const read = (source: string) =>
      ignoringFaults(() =>
        new Environment({ limits: { ...limits, sourceLength: huge } }).fromString(source),
      );
    expectLinearFor([...pieces, ' ', '\n'], read, { searchMs: 4_000 });
  });

  const environment = new Environment({ limits });
  const texts = [
    'a',
    'A',
    ' ',
    '\n',
    '\t',
    '\u00a0',
    '-',
    '--',
    '.',
    '<',
    '>',
    '<!--',
    '-->',
    '&',
    '&#',
    '&amp;',
    ';',
    '0',
    '1',
    '_',
    'http://',
    'www.',
    '@',
    '(',
    ')',
    '😀',
    'é',
    '"',
    "'",
    '\\',
    '%',
    '%s',
    '{',
    '}',
    '{}',
  ];
  const calls = [
    's|wordwrap(9)',
    's|wordwrap(2, false)',
    's|urlize',
    's|urlize(5)',
    's|striptags',
    's|title',
    's|wordcount',
    's|trim',
    's|trim("a ")',
    's|truncate(50)',
    's|indent',
    's|pprint',
    's|tojson',
    's|urlencode',
    's|e',
    's|int',
    's|float',
    's|replace("a", "b")',
    's|center(9)',
    's|list|length',
    's|reverse',
    's|format(1)',
    '[s]|string',
    's.split()',
    's.rsplit(None, 99)',
    's.splitlines()|length',
    's.title()',
    's.swapcase()',
    's.casefold()',
    's.expandtabs()',
    's.istitle()',
    's.isidentifier()',
    's.find(s[:-1] ~ "b")',
    's.rfind("b" ~ s[1:])',
    's.count(s[:99])',
    's.split(s[:50])|length',
    's.rsplit(s[:50])|length',
    's.replace(s[:50], "x")|length',
    '(s[1:] ~ "c") in s',
    's.format(1)',
    's % 1',
    '(s|safe).striptags()',
    's.zfill(9)',
    's.encode()',
    's.translate({97: "b"})',
    's == s[1:]',
    's < s[1:]',
    's|list|sort|length',
    's|list|unique|list|length',
  ];
  const templates = calls.map((call) => environment.fromString(`{{ ${call} }}`));
  it('of filters and methods on text', () => {
    // Another family is tried with the next call, so that in many runs each call sees many.
    let turn = draw(templates.length);
    let now = templates[0]!;
    let before = '';
    const read = (s: string) => {
      // One call for all sizes of one family: a shorter text than before is a new one.
      if (s.length < before.length || before === '') now = templates[turn++ % templates.length]!;
      before = s;
      ignoringFaults(() => now.render({ s }));
    };
    expectLinearFor(texts, read, { searchMs: 6_000 });
  });
});
