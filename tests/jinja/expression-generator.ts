// Random expressions of a wanted kind, and the data they are about. Used by generator.ts, which
// puts them into templates.
import { filterWithArguments } from './filter-arguments.ts';

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
export type Kind = 'num' | 'str' | 'list' | 'dict' | 'bool' | 'any';

export class ExpressionGenerator {
  protected readonly r: () => number;
  /** Names a template set itself. */
  protected locals: string[] = [];

  constructor(seed: number) {
    this.r = random(seed);
  }

  protected chance(p: number): boolean {
    return this.r() < p;
  }
  protected one<T>(list: readonly T[]): T {
    return pick(this.r, list);
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
    if (this.chance(0.15)) {
      const subject = this.one<Kind>(['str', 'num', 'list', 'dict']);
      const lazy = wanted === 'list' || wanted === 'any' ? '|list' : '';
      return `(${e(subject)})|${filterWithArguments(this.r, subject)}${lazy}`;
    }
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

  protected local(): string {
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
