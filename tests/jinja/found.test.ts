// Small cases that random templates and explorations of Python's corners found, with the answers of
// real Jinja2 3.1 unless noted.
import { describe, expect, it } from 'vitest';
import { Environment, TemplateError } from '../../src/jinja/index.ts';

/** The text, or the error as Python names it. */
function rendered(source: string): string {
  try {
    return new Environment({ autoescape: false })
      .fromString(source)
      .render({ d: { a: 1, b: [1, 2] }, x: 5 });
  } catch (error) {
    if (error instanceof TemplateError) return `${error.typeName}: ${error.message}`;
    throw error;
  }
}

const GROUPS: Record<string, [source: string, answer: string][]> = {
  'comparisons that end early are constant': [
    ['{{ {[]: (2 < 1 < nope)} if nope else 1 }}', "TypeError: unhashable type: 'list'"],
    ['{{ {[]: (1 < 2 < nope)} if nope else 1 }}', '1'],
    ['{{ [{[]: 1}, nope] if nope else 1 }}', "TypeError: unhashable type: 'list'"],
    ['{% if nope %}{{ {[]: 1} }}{% endif %}', ''],
    ['{{ 2 < 1 < [].x.y }} {{ 1 < 2 < 3 }}', 'False True'],
  ],
  'pairs among the items of a dictionary': [
    [
      '{{ ("a", 1) in d.items() }} {{ ("a", 2) in d.items() }} {{ "a" in d.items() }}',
      'True False False',
    ],
    ['{{ ("b", [1, 2]) in d.items() }} {{ ["a", 1] in d.items() }}', 'True False'],
    ['{{ (d.keys(), 1) in {}.items() }}', "TypeError: unhashable type: 'dict_keys'"],
  ],
  'strings that would be too long to count': [
    ['{{ "ab" * 2 ** 62 }}', 'OverflowError: repeated string is too long'],
    ['{{ ("ab"|safe) * 2 ** 62 }}', 'OverflowError: repeated string is too long'],
    ['{{ "" * 2 ** 62 }}', ''],
    ['{{ "ab" * 2 ** 64 }}', "OverflowError: cannot fit 'int' into an index-sized integer"],
  ],
  'where a long word is broken at its hyphens': [
    ['{{ "W-o-r-l-d-&-g-t-;-"|wordwrap(5, true, "|") }}', 'W-o-|r-l-|d-&-|g-t-|;-'],
    ['{{ "l-d-e-g-t"|wordwrap(5, true, "|") }}', 'l-d-|e-g-t'],
  ],
  'rows and columns of odd sizes': [
    ['{{ [1, 2, 3]|batch(1.5, "?")|list }}', '[[1, 2, 3]]'],
    [
      '{{ [1, 2, 3]|batch(2.0, "?")|list }}',
      "TypeError: can't multiply sequence by non-int of type 'float'",
    ],
    [
      '{{ [1]|batch("z", "?")|list }}',
      "TypeError: '<' not supported between instances of 'int' and 'str'",
    ],
    ['{{ [1]|batch(nope, "?")|list }}', "UndefinedError: 'nope' is undefined"],
    ['{{ [1]|slice(0.0)|list }}', 'ZeroDivisionError: float floor division by zero'],
    ['{{ [1]|slice(1.5)|list }}', "TypeError: 'float' object cannot be interpreted as an integer"],
    ['{{ [1]|slice(nope)|list }}', "UndefinedError: 'nope' is undefined"],
  ],
  'words wrapped': [
    ['{{ "foo bar-baz"|wordwrap(5, false, break_on_hyphens=1) }}', 'foo\nbar-baz'],
    ['{{ "foo bar-baz"|wordwrap(5, true, break_on_hyphens=1) }}', 'foo b\nar-\nbaz'],
    ['{{ "foo bar-baz"|wordwrap(5.5, false) }}', 'foo\nbar-\nbaz'],
    ['{{ "foo"|wordwrap(-1.5) }}', 'ValueError: invalid width -1.5 (must be > 0)'],
    ['{{ "foo"|wordwrap(nope) }}', "UndefinedError: 'nope' is undefined"],
    [
      '{{ "foo"|wordwrap(3, wrapstring=5) }}',
      "AttributeError: 'int' object has no attribute 'join'",
    ],
    ['{{ "foo"|wordwrap(3, wrapstring=nope) }}', "UndefinedError: 'nope' is undefined"],
  ],
  'arguments of another type': [
    ['{{ (1, 2)|indent(nope) }}', "UndefinedError: 'nope' is undefined"],
    ['{{ [1]|map([])|list }}', "TypeError: unhashable type: 'list'"],
    ['{{ 1|round(method=[]) }}', "TypeError: unhashable type: 'list'"],
    ['{{ "a"|urlize(rel=1) }}', "AttributeError: 'int' object has no attribute 'split'"],
    ['{{ "a"|urlize(trim_url_limit="x") }}', 'a'],
    ['{{ "z"|int(7, base=none) }}', '7'],
    ['{{ "a"|tojson(indent=[]) }}', '"a"'],
    ['{{ 1|tojson(indent=nope) }}', "UndefinedError: 'nope' is undefined"],
    ['{{ "a".splitlines([]) }}', "TypeError: 'list' object cannot be interpreted as an integer"],
    ['{{ "ab".translate([1]) }}', 'ab'],
    ['{{ "ab".count(2.0, 5) }}', 'TypeError: must be str, not float'],
    ['{{ [1].sort(nope) }}', 'TypeError: sort() takes no positional arguments'],
  ],
  'slices with odd bounds, of constants and of variables': [
    ['{{ [1, 2]["a":] }}', ''],
    ['{{ x2["a":] }}', "UndefinedError: 'x2' is undefined"],
    [
      '{{ d.b["a":] }}',
      'TypeError: slice indices must be integers or None or have an __index__ method',
    ],
    ['{{ [1, 2]["a"::0] }}', 'ValueError: slice step cannot be zero'],
  ],
  // The middle of two floats is just below: the nearest is the upper one.
  'powers between two floats': [['{{ (9007199254740993 ** 2) ** 1.5 }}', '7.307508186654518e+47']],
  'views of a dict as sets': [
    ['{{ d.keys() - ["a"] }}', "{'b'}"],
    ['{{ d.keys() - d }}', 'set()'],
    ['{{ [1] - d.keys() }}', '{1}'],
    ['{{ (d.keys() - nope)|sort }}', "['a', 'b']"],
    ['{{ d.keys() - 5 }}', "TypeError: 'int' object is not iterable"],
    ['{{ d.items() - d }}', "TypeError: unhashable type: 'list'"],
    [
      '{{ d.values() - d }}',
      "TypeError: unsupported operand type(s) for -: 'dict_values' and 'dict'",
    ],
    [
      '{{ (d.keys() - ["a"]) - ["b"] }}',
      "TypeError: unsupported operand type(s) for -: 'set' and 'list'",
    ],
    ['{{ d.keys() - ["a"] < d.keys() }}', 'True'],
    ['{{ d.items() <= d.items() }}', 'True'],
    [
      '{{ d.values().isdisjoint([]) }}',
      "UndefinedError: 'dict_values object' has no attribute 'isdisjoint'",
    ],
  ],
  'wrong arguments for what Python writes in C': [
    ['{{ 1|abs(zork=1) }}', 'TypeError: abs() takes no keyword arguments'],
    ['{{ "a"|length(1) }}', 'TypeError: len() takes exactly one argument (2 given)'],
    ['{{ "a"|e(1) }}', 'TypeError: escape() takes 1 positional argument but 2 were given'],
    ['{{ x is eq }}', 'TypeError: eq expected 2 arguments, got 1'],
    ['{{ x is eq(a=1) }}', 'TypeError: _operator.eq() takes no keyword arguments'],
    ['{{ [1]|select("lt", 1, 2)|list }}', 'TypeError: lt expected 2 arguments, got 3'],
    ['{{ x is callable(2) }}', 'TypeError: callable() takes exactly one argument (2 given)'],
  ],
};

it('adds nothing to a chainable undefined on the left of markup', () => {
  const render = (source: string) =>
    new Environment({ undefined: 'chainable' }).fromString(source).render();
  expect(render('{{ "<"|e + nope.x }}')).toBe('&lt;');
  expect(() => render('{{ nope.x + "<"|e }}')).toThrow("'nope' is undefined");
});

describe.each(Object.entries(GROUPS))('%s', (_group, cases) => {
  it.each(cases)('%s', (source, answer) => {
    expect(rendered(source)).toBe(answer);
  });
});

// A division by zero stands before each of them: what is found while compiling comes first all the
// same.
describe('a strict undefined among constants', () => {
  const failure = (source: string): string => {
    try {
      return new Environment({ undefined: 'strict' }).fromString(source).render();
    } catch (error) {
      return `${(error as TemplateError).typeName}: ${(error as TemplateError).message}`;
    }
  };

  it.each([
    ['{{ 1 // 0 }}{{ "a" ~ "b"|attr("items") }}', 'UndefinedError'],
    ['{{ 1 // 0 }}{{ "b"|attr("items") ~ name }}', 'UndefinedError'],
    ['{{ 1 // 0 }}{% if false %}{{ "a" ~ "b"|attr("items") }}{% endif %}', 'UndefinedError'],
    ['{{ 1 // 0 }}{{ name ~ "b"|attr("items") }}', 'ZeroDivisionError'],
  ])('%s', (source, kind) => {
    expect(failure(source)).toMatch(new RegExp(`^${kind}: `));
  });
});
