// Every parameter of every filter with values worth trying, by the kind of value the filter takes.
// Used by expression-generator.ts.

const BOOL = ['true', 'false', 'none', '1'];
const TEXT = ['"a"', '"<"', '""', '"o "', '("&"|safe)', 's', '"x-y"'];
const COUNT = ['0', '1', '2', '5', '12', '-1', 'i', '1.5'];
const ANY = ['none', '0', '"?"', 'nope', '[]', '"<"'];
const PATH = ['"n"', '"a"', '"t"', '"t.0"', '"zz"', '"c"', '0', '"0"', 'none', '"n.upper"'];

type Parameters = Record<string, readonly string[]>;

const FOR_TEXT: Record<string, Parameters> = {
  replace: { old: TEXT, new: TEXT, count: ['none', '1', '0', '-1'] },
  truncate: { length: COUNT, killwords: BOOL, end: TEXT, leeway: ['0', '3', 'none'] },
  wordwrap: {
    width: ['1', '5', '8', '40'],
    break_long_words: BOOL,
    wrapstring: ['none', '"|"', '"<br>"'],
    break_on_hyphens: BOOL,
  },
  indent: { width: ['0', '2', '"> "', '("<"|safe)'], first: BOOL, blank: BOOL },
  center: { width: COUNT },
  trim: { chars: ['none', '" "', '"aH<"', '""'] },
  int: { default: ANY, base: ['10', '2', '16', '8', '0', '36'] },
  float: { default: ANY },
  urlize: {
    trim_url_limit: ['none', '5', '15'],
    nofollow: BOOL,
    target: ['none', '"_blank"', '"<"'],
    rel: ['none', '"me you"'],
    extra_schemes: ['none', '["tel:", "ftp:"]', '["x"]'],
  },
  title: {},
  capitalize: {},
  striptags: {},
  wordcount: {},
  urlencode: {},
  format: {},
  forceescape: {},
};

const FOR_NUMBERS: Record<string, Parameters> = {
  round: {
    precision: ['0', '1', '2', '-1', '3'],
    method: ['"common"', '"ceil"', '"floor"', '"x"'],
  },
  filesizeformat: { binary: BOOL },
  int: { default: ANY, base: ['10', '16'] },
  float: { default: ANY },
  abs: {},
};

const FOR_LISTS: Record<string, Parameters> = {
  join: { d: TEXT, attribute: PATH },
  sum: { attribute: PATH, start: ['0', '1.5', '[]', '""'] },
  sort: { reverse: BOOL, case_sensitive: BOOL, attribute: [...PATH, '"c,a"', '"a,n"'] },
  unique: { case_sensitive: BOOL, attribute: PATH },
  groupby: { attribute: PATH, default: ANY, case_sensitive: BOOL },
  min: { case_sensitive: BOOL, attribute: PATH },
  max: { case_sensitive: BOOL, attribute: PATH },
  batch: { linecount: COUNT, fill_with: ANY },
  slice: { slices: COUNT, fill_with: ANY },
  map: { attribute: PATH, default: ANY },
  reverse: {},
  list: {},
  first: {},
  last: {},
  length: {},
};

const FOR_DICTS: Record<string, Parameters> = {
  dictsort: { case_sensitive: BOOL, by: ['"key"', '"value"', '"x"'], reverse: BOOL },
  xmlattr: { autospace: BOOL },
  tojson: { indent: ['none', '0', '1', '2'] },
  items: {},
  urlencode: {},
  pprint: {},
};

const FOR_ALL: Record<string, Parameters> = {
  default: { default_value: ANY, boolean: BOOL },
  d: { default_value: ANY, boolean: BOOL },
  tojson: { indent: ['none', '2'] },
  string: {},
  attr: { name: ['"upper"', '"n"', '"items"', '"x y"'] },
};

const BY_KIND: Record<string, Record<string, Parameters>[]> = {
  str: [FOR_TEXT, FOR_TEXT, FOR_ALL],
  num: [FOR_NUMBERS, FOR_NUMBERS, FOR_ALL],
  list: [FOR_LISTS, FOR_LISTS, FOR_ALL],
  dict: [FOR_DICTS, FOR_ALL],
};

/**
 * A filter for a value of `kind`: some arguments in their order, others by name in any order, now
 * and then a wrong one.
 */
export function filterWithArguments(r: () => number, kind: string): string {
  const one = <T>(list: readonly T[]): T => list[Math.floor(r() * list.length)]!;
  const filters = one(BY_KIND[kind] ?? [FOR_ALL]);
  const name = one(Object.keys(filters));
  const parameters = Object.entries(filters[name]!);
  const byPosition = Math.floor(r() * (parameters.length + 1));
  const args = parameters.slice(0, byPosition).map(([, values]) => one(values));
  const named = parameters
    .slice(byPosition)
    .filter(() => r() < 0.5)
    .map(([key, values]) => `${key}=${one(values)}`);
  if (named.length > 1 && r() < 0.5) named.reverse();
  if (r() < 0.02) named.push('zork=1');
  const all = [...args, ...named];
  return all.length === 0 && r() < 0.8 ? name : `${name}(${all.join(', ')})`;
}
