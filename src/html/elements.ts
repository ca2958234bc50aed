// What reading HTML requires about each element: tokens.ts asks how its content is read, tree.ts
// where it ends.

export interface ElementKind {
  /** In lower case. */
  name: string;
  /** `text` has character references and no tags, `raw` has neither. */
  content: 'markup' | 'text' | 'raw';
  /** Where content that is text ends; null: at the end of the page. */
  contentEnd: RegExp | null;
  /** It has no content and no end tag. */
  empty: boolean;
  /** Its content is not text for people. */
  hidden: boolean;
  /**
   * What an end tag inside it can close: nothing outside a `scope`, and nothing inline outside a
   * `block`.
   */
  rank: 'inline' | 'formatting' | 'block' | 'scope';
  /** Its start tag ends an open paragraph. */
  endsParagraph: boolean;
  /** Elements without an end tag that its start tag ends, up to the nearest of `endsWithin`. */
  ends: readonly string[];
  endsWithin: 'block' | 'table';
}

const known = new Map<string, ElementKind>();

/** The element of a name, which is in lower case. */
export function elementKind(name: string): ElementKind {
  return known.get(name) ?? kindOf(name);
}

/**
 * The element whose name is at this position. Known ones are found by their shape, so hardly any
 * name is copied.
 */
export function elementKindAt(html: string, start: number, end: number): ElementKind {
  const length = end - start;
  const candidates =
    byShape[shapeOf(length, html.charCodeAt(start), html.charCodeAt(end - 1))] ?? NONE;
  for (const kind of candidates) {
    if (kind.name.length === length && isNamed(html, start, kind.name)) return kind;
  }
  const written = html.slice(start, end);
  return kindOf(written.replace(/[A-Z]+/g, (letters) => letters.toLowerCase()));
}

const byShape: (ElementKind[] | undefined)[] = new Array(4096);
const NONE: ElementKind[] = [];

/** Length, first and last letter, in either case, as a number below 4096. */
function shapeOf(length: number, first: number, last: number): number {
  return ((length & 3) << 10) | ((first & 31) << 5) | (last & 31);
}

/** Whether the name is at this position, in lower or upper case. */
export function isNamed(html: string, start: number, name: string): boolean {
  for (let i = 0; i < name.length; i++) {
    const code = html.charCodeAt(start + i);
    const wanted = name.charCodeAt(i);
    if (code !== wanted && !(code >= 65 && code <= 90 && code + 32 === wanted)) return false;
  }
  return true;
}

function kindOf(name: string, special: Partial<ElementKind> = {}): ElementKind {
  return {
    name,
    content: 'markup',
    contentEnd: null,
    empty: false,
    hidden: false,
    rank: 'inline',
    endsParagraph: false,
    ends: [],
    endsWithin: 'block',
    ...special,
  };
}

function define(names: string, special: Partial<ElementKind>): void {
  for (const name of names.split(' ')) {
    known.set(name, { ...(known.get(name) ?? kindOf(name)), ...special });
  }
}

define('span label abbr html body head', {});
define('a b big code em font i nobr s small strike strong tt u', { rank: 'formatting' });
define('a', { ends: ['a'] });
define(
  'address article aside blockquote center details dialog dir div dl dd dt fieldset figcaption figure footer form ' +
    'h1 h2 h3 h4 h5 h6 header hgroup hr li listing main menu nav ol p plaintext pre search section summary ul xmp table',
  { rank: 'block', endsParagraph: true },
);
define('li', { ends: ['li'] });
define('dd dt', { ends: ['dd', 'dt'] });
define('area base br col embed hr img input link meta source track wbr', { empty: true });
define('applet caption marquee object table td template th', { rank: 'scope' });
define('tbody thead tfoot caption', {
  ends: ['tbody', 'thead', 'tfoot', 'caption', 'tr', 'td', 'th'],
});
define('tr', { ends: ['tr', 'td', 'th', 'caption'] });
define('td th', { ends: ['td', 'th'] });
define('tbody thead tfoot caption tr td th', { endsWithin: 'table' });
define('template svg', { hidden: true });
define('iframe noembed noframes script style xmp plaintext', { content: 'raw' });
define('title textarea', { content: 'text' });
define('iframe noembed noframes script style title', { hidden: true });
for (const kind of known.values()) {
  if (kind.content === 'markup' || kind.name === 'plaintext') continue;
  kind.contentEnd = new RegExp(`</${kind.name}[\\t\\n\\f\\r />]`, 'gi');
}
for (const kind of known.values()) {
  const { length } = kind.name;
  const shape = shapeOf(length, kind.name.charCodeAt(0), kind.name.charCodeAt(length - 1));
  byShape[shape] = [...(byShape[shape] ?? []), kind];
}
