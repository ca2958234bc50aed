// HTML as a small tree: elements and text, nothing else. plain-text.ts reads it.
// A reader of our own because it stands on the send path: it jumps from mark to mark with indexOf and looks into attributes
// only when asked. An order mail takes a fifth of the time of htmlparser2, and its whole text a third of html-to-text's.
// It never fails: what is not well-formed is read as browsers would, near enough for text.
import { Budget, defaultLimits } from '../jinja/budget.ts';
import { unescapeHtml } from '../jinja/filters/unescape.ts';

export interface Element {
  /** In lower case; '' for the root. */
  name: string;
  /** Everything between the name and `>`, as written. */
  attributes: string;
  /** Text is as written: see decode(). */
  children: (Element | string)[];
}

const noContent = new Set(
  'area base br col embed hr img input link meta source track wbr'.split(' '),
);
/** Elements whose content is not text for people. */
const dropped = new Set(['script', 'style', 'title', 'template', 'svg']);
/** Elements that may lack an end tag: an opening tag of the key ends the innermost open ones of these names. */
const ends = new Map<string, string[]>([
  ['li', ['li', 'p']],
  ['tr', ['tr', 'td', 'th', 'p']],
  ['td', ['td', 'th', 'p']],
  ['th', ['td', 'th', 'p']],
]);
for (const block of 'p div table ul ol h1 h2 h3 h4 h5 h6 hr blockquote pre section'.split(' ')) {
  ends.set(block, ['p']);
}
/** Deeper than this, elements are read as children of the last level: no page can exhaust the stack. */
const depthMax = 200;

export function parseHtml(html: string): Element {
  const root: Element = { name: '', attributes: '', children: [] };
  const open: Element[] = [root];
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
      const end = html.indexOf('>', mark);
      close(
        open,
        html
          .slice(mark + 2, end < 0 ? html.length : end)
          .trim()
          .toLowerCase(),
      );
      at = end < 0 ? html.length : end + 1;
    } else if (isLetter(next)) {
      const end = tagEnd(html, mark + 1);
      at = end + 1;
      const element = tag(html, mark + 1, end);
      if (dropped.has(element.name)) {
        at = afterContent(html, at, element.name);
        continue;
      }
      const ended = ends.get(element.name);
      if (ended) while (ended.includes(open[open.length - 1]!.name)) open.pop();
      open[open.length - 1]!.children.push(element);
      if (!noContent.has(element.name) && open.length < depthMax) open.push(element);
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
    if (value) return decode(value[1] ?? value[2] ?? value[3] ?? '');
  }
  return undefined;
}

/** Resolves character references. Those that nearly all are cost no table. */
export function decode(text: string): string {
  if (!text.includes('&')) return text;
  return text.replace(
    /&(?:#x?[\da-f]+|[a-z][a-z\d]*);?/gi,
    (reference) => common[reference] ?? unescapeHtml(new Budget(defaultLimits), reference),
  );
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

function tag(html: string, start: number, end: number): Element {
  const nameEnd = endOfName(html, start, end);
  const name = html.slice(start, nameEnd);
  return {
    name: /[A-Z]/.test(name) ? name.toLowerCase() : name,
    attributes: html.slice(nameEnd, end),
    children: [],
  };
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
function tagEnd(html: string, from: number): number {
  for (let at = from; at < html.length; at++) {
    const code = html.charCodeAt(at);
    if (code === 62) return at;
    if (code !== 34 && code !== 39) continue;
    const closing = html.indexOf(code === 34 ? '"' : "'", at + 1);
    if (closing < 0) break;
    at = closing;
  }
  const end = html.indexOf('>', from);
  return end < 0 ? html.length : end;
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
