// HTML as a small tree: elements and text, nothing else. plain-text.ts reads it.
// A reader of our own because it stands on the send path: it jumps from mark to mark with indexOf and looks into attributes
// only when asked. An order mail takes a fifth of the time of htmlparser2, and its whole text a third of html-to-text's.
// It never fails: what is not well-formed is read as browsers would, near enough for text.
import { htmlEntity, unescapeHtml } from '../jinja/index.ts';

export interface Element {
  /** In lower case; '' for the root. */
  name: string;
  /** Everything between the name and `>`, as written. */
  attributes: string;
  /** What `data-text` says about it; `skip` also for what is not displayed. */
  meaning: string | undefined;
  /** Text is as written: see decode(). */
  children: (Element | string)[];
}

/** What reading has to know about a tag. */
interface Tag {
  name: string;
  /** It has no content and no end tag. */
  empty: boolean;
  /** Its content is not text for people. */
  dropped: boolean;
  /** Elements without an end tag of their own that it ends when they are the innermost open ones. */
  ends: readonly string[];
}

const tags = new Map<string, Tag>();
for (const name of 'a b strong em i u span font center section article body html td th tr li'.split(
  ' ',
)) {
  tags.set(name, { name, empty: false, dropped: false, ends: [] });
}
for (const name of 'p div table ul ol h1 h2 h3 h4 h5 h6 blockquote pre'.split(' ')) {
  tags.set(name, { name, empty: false, dropped: false, ends: ['p'] });
}
for (const name of 'area base br col embed hr img input link meta source track wbr'.split(' ')) {
  tags.set(name, { name, empty: true, dropped: false, ends: name === 'hr' ? ['p'] : [] });
}
for (const name of 'script style title template svg'.split(' ')) {
  tags.set(name, { name, empty: false, dropped: true, ends: [] });
}
tags.get('li')!.ends = ['li', 'p'];
tags.get('tr')!.ends = ['tr', 'td', 'th', 'p'];
tags.get('td')!.ends = ['td', 'th', 'p'];
tags.get('th')!.ends = ['td', 'th', 'p'];

/** Deeper than this, elements are read as children of the last level: no page can exhaust the stack. */
const depthMax = 200;

export function parseHtml(html: string): Element {
  const root: Element = { name: '', attributes: '', meaning: undefined, children: [] };
  const open: Element[] = [root];
  const tagEnd = tagEndFinder(html);
  let at = 0;
  while (at < html.length) {
    const mark = html.indexOf('<', at);
    if (mark !== at) {
      open[open.length - 1]!.children.push(html.slice(at, mark < 0 ? html.length : mark));
      if (mark < 0) break;
    }
    const next = html.charCodeAt(mark + 1);
    if (next === 33 || next === 63) {
      // <!-- comment -->, <!doctype>, <?xml?>
      const comment = html.startsWith('<!--', mark);
      const end = html.indexOf(comment ? '-->' : '>', mark + 2);
      at = end < 0 ? html.length : end + (comment ? 3 : 1);
    } else if (next === 47) {
      const end = orEnd(html, html.indexOf('>', mark));
      close(open, tagOf(html.slice(mark + 2, endOfName(html, mark + 2, end))).name);
      at = end + 1;
    } else if (isLetter(next)) {
      const end = tagEnd(mark + 1);
      const nameEnd = endOfName(html, mark + 1, end);
      const { name, empty, dropped, ends } = tagOf(html.slice(mark + 1, nameEnd));
      at = end + 1;
      if (dropped) {
        at = afterContent(html, at, name);
        continue;
      }
      while (ends.includes(open[open.length - 1]!.name)) open.pop();
      const attributes = html.slice(nameEnd, end);
      const element = { name, attributes, meaning: meaningOf(attributes), children: [] };
      open[open.length - 1]!.children.push(element);
      if (!empty && open.length < depthMax) open.push(element);
    } else {
      open[open.length - 1]!.children.push('<');
      at = mark + 1;
    }
  }
  return root;
}

/** The value of an attribute; '' when it has none, undefined when it is not there. */
export function attribute(element: Element, name: string): string | undefined {
  const { attributes } = element;
  for (let at = attributes.indexOf(name); at >= 0; at = attributes.indexOf(name, at + 1)) {
    if (at > 0 && !isSpace(attributes.charCodeAt(at - 1))) continue;
    const after = attributes.slice(at + name.length);
    const value = /^\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'>]+))|^(?=\s|$)/.exec(after);
    if (value) return decodeAttribute(value[1] ?? value[2] ?? value[3] ?? '');
  }
  return undefined;
}

/** Resolves character references. Those that nearly all are cost no table. */
export function decode(text: string): string {
  if (!text.includes('&')) return text;
  return text.replace(
    /&(?:#x?[\da-f]+|[a-z][a-z\d]*);?/gi,
    (reference) => common[reference] ?? unescapeHtml(reference),
  );
}

/** In attributes `&copy=2` and `&copy2` are parameters of an address, not a © (HTML, 13.2.5.73). */
function decodeAttribute(text: string): string {
  if (!text.includes('&')) return text;
  return text.replace(/&(?:#x?[\da-f]+;?|([a-z][a-z\d]*;?)(=?))/gi, (written, name, equals) => {
    if (name === undefined) return common[written] ?? unescapeHtml(written);
    if (equals !== '' && !name.endsWith(';')) return written;
    const meant = htmlEntity(name);
    return meant === undefined ? written : meant + equals;
  });
}

const common: Record<string, string> = {
  '&amp;': '&',
  '&lt;': '<',
  '&gt;': '>',
  '&quot;': '"',
  '&#34;': '"',
  '&#39;': "'",
  '&nbsp;': '\u00a0',
};

/** Known tags are found as they are written, so that nearly no name has to be copied or changed. */
function tagOf(written: string): Tag {
  const known = tags.get(written);
  if (known) return known;
  const name = written.toLowerCase();
  return tags.get(name) ?? { name, empty: false, dropped: false, ends: [] };
}

function meaningOf(attributes: string): string | undefined {
  const mark = 'data-text="';
  const at = attributes.indexOf(mark);
  if (at >= 0) return attributes.slice(at + mark.length, attributes.indexOf('"', at + mark.length));
  return /display\s*:\s*none/i.test(attributes) ? 'skip' : undefined;
}

/** Closes the innermost open element of that name and all inside it; an end tag without a start is nothing. */
function close(open: Element[], name: string): void {
  let level = open.length - 1;
  while (level > 0 && open[level]!.name !== name) level--;
  if (level > 0) while (open.length > level) open.pop();
}

function afterContent(html: string, from: number, name: string): number {
  for (let at = html.indexOf('</', from); at >= 0; at = html.indexOf('</', at + 2)) {
    if (html.slice(at + 2, at + 2 + name.length).toLowerCase() !== name) continue;
    const end = html.indexOf('>', at);
    return end < 0 ? html.length : end + 1;
  }
  return html.length;
}

/** The place of the `>` that ends a tag, past quoted attribute values that may contain one. */
function tagEndFinder(html: string): (from: number) => number {
  // Where a quote stayed open to the end of the page, quotes mean nothing any more: no part is read again for every tag.
  let trusted = true;
  return (from) => {
    for (let at = from; trusted && at < html.length; at++) {
      const code = html.charCodeAt(at);
      if (code === 62) return at;
      if (code !== 34 && code !== 39) continue;
      const closing = html.indexOf(code === 34 ? '"' : "'", at + 1);
      if (closing < 0) break;
      at = closing;
    }
    trusted = false;
    return orEnd(html, html.indexOf('>', from));
  };
}

function orEnd(html: string, place: number): number {
  return place < 0 ? html.length : place;
}

function isLetter(code: number): boolean {
  return (code >= 97 && code <= 122) || (code >= 65 && code <= 90);
}

/** A name goes up to white space or `/`. */
function endOfName(html: string, start: number, end: number): number {
  let at = start;
  while (at < end && html.charCodeAt(at) !== 47 && !isSpace(html.charCodeAt(at))) at++;
  return at;
}

function isSpace(code: number): boolean {
  return code === 32 || (code >= 9 && code <= 13);
}
