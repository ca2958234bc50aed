// HTML as tokens with their positions in the source, read as the standard says (HTML, 13.2.5): the
// only reader of HTML here. Before it: a page as text. After it: tree.ts for plain text,
// tracking/insert.ts for links and the pixel, feedback/notice.ts. Written here because it is on the
// send path: it jumps with indexOf, reads every part once and copies almost nothing. It never
// fails: malformed HTML is read as browsers do. The exception: SVG and MathML are read like any
// other elements.
import { type ElementKind, elementKind, elementKindAt, isNamed } from './elements.ts';
import { decodeAttribute, decodeText } from './references.ts';

export class Tokens {
  readonly html: string;
  /** Comments and declarations are skipped. */
  kind: 'text' | 'open' | 'close' = 'text';
  /** From here to `end`, which is also where the next token is looked for. */
  start = 0;
  /** After the last token: the end of the page, or the start of what was never closed. */
  end = 0;
  /** Of a tag; of text that is the whole content of an element such as <style>. */
  element: ElementKind = BETWEEN;
  /** `<name/>`; it has a meaning only for elements that are not HTML. */
  selfClosing = false;

  /**
   * Start and end of the value of each wanted attribute; positions before the tag are left over
   * from earlier tags.
   */
  private readonly wanted: readonly string[];
  private readonly places: number[];
  /** A bit for each length of a wanted name: most attributes are skipped by it. */
  private readonly wantedLengths: number;

  constructor(html: string, attributes: readonly string[] = []) {
    this.html = html;
    this.wanted = attributes;
    this.places = attributes.flatMap(() => [-1, -1]);
    this.wantedLengths = attributes.reduce((bits, { length }) => bits | (1 << length), 0);
  }

  next(): boolean {
    const { html } = this;
    if (this.kind === 'open' && this.element.content !== 'markup') {
      const end = endOfContent(html, this.end, this.element);
      if (end > this.end) return this.text(this.end, end, this.element);
    }
    let at = this.end;
    while (at < html.length) {
      if (html.charCodeAt(at) !== LESS_THAN) return this.text(at, found(html, '<', at));
      const mark = html.charCodeAt(at + 1);
      if (isLetter(mark)) return this.tag('open', at, at + 1);
      const isEnd = mark === SLASH && at + 2 < html.length;
      if (isEnd && isLetter(html.charCodeAt(at + 2))) return this.tag('close', at, at + 2);
      if (!isEnd && mark !== EXCLAMATION && mark !== QUESTION)
        return this.text(at, found(html, '<', at + 1));
      const end = html.startsWith('<!--', at)
        ? afterComment(html, at)
        : html.indexOf('>', at + 2) + 1;
      if (end === 0) return this.finish(at);
      at = end;
    }
    return this.finish(at);
  }

  /**
   * If this token is the last of a page that goes on: up to here it is certain what is there. The
   * token may be longer, and what follows may be the content of its element.
   */
  get certainEnd(): number {
    const { html, kind, start, end } = this;
    if (kind !== 'close' && this.element.content !== 'markup') return this.openedAt;
    const isText = kind === 'text' && (html.charCodeAt(start) !== LESS_THAN || end - start > 2);
    return isText ? end : start;
  }

  /** The text as people read it. */
  words(): string {
    const written = this.html.slice(this.start, this.end);
    return this.element.content === 'raw' ? written : decodeText(written);
  }

  /**
   * The value of an attribute, '' if it has none, undefined if the attribute is missing. If it is
   * repeated, the first counts.
   */
  attribute(name: string): string | undefined {
    const written = this.written(name);
    return written && decodeAttribute(written);
  }

  /** The same, not decoded. */
  written(name: string): string | undefined {
    const { wanted, places } = this;
    for (let i = 0; i < wanted.length; i++) {
      if (wanted[i] !== name) continue;
      const start = places[2 * i]!;
      return start < this.start ? undefined : this.html.slice(start, places[2 * i + 1]!);
    }
    return undefined;
  }

  /** The position of the value, without its quotes. */
  valuePlace(name: string): { start: number; end: number; quoted: boolean } | undefined {
    const at = this.wanted.indexOf(name) * 2;
    const start = this.places[at]!;
    if (start < this.start) return undefined;
    const before = this.html.charCodeAt(start - 1);
    return { start, end: this.places[at + 1]!, quoted: isQuote(before) };
  }

  private openedAt = 0;

  private text(start: number, end: number, element = BETWEEN): true {
    this.kind = 'text';
    this.element = element;
    this.start = start;
    this.end = end;
    return true;
  }

  private tag(kind: 'open' | 'close', start: number, nameStart: number): boolean {
    const { html } = this;
    const nameEnd = endOfName(html, nameStart);
    this.start = start;
    const end = this.readAttributes(nameEnd);
    if (end < 0) return this.finish(start);
    this.kind = kind;
    this.element = elementKindAt(html, nameStart, nameEnd);
    this.end = end;
    if (kind === 'open') this.openedAt = start;
    return true;
  }

  /** From after the name to after the `>`; -1 if the tag is never closed. */
  private readAttributes(from: number): number {
    const { html } = this;
    let at = from;
    let slashAt = -1;
    while (at < html.length) {
      const code = html.charCodeAt(at);
      if (code === GREATER_THAN) {
        this.selfClosing = slashAt === at - 1;
        return at + 1;
      }
      if (code === SLASH || isSpace(code)) {
        if (code === SLASH) slashAt = at;
        at++;
        continue;
      }
      const nameStart = at;
      const nameEnd = endOfAttributeName(html, at);
      let valueStart = nameEnd;
      let valueEnd = nameEnd;
      at = afterSpace(html, nameEnd);
      if (html.charCodeAt(at) === EQUALS) {
        valueStart = afterSpace(html, at + 1);
        const quote = html.charCodeAt(valueStart);
        if (isQuote(quote)) {
          valueStart++;
          valueEnd = html.indexOf(quote === DOUBLE_QUOTE ? '"' : "'", valueStart);
          if (valueEnd < 0) return -1;
          at = valueEnd + 1;
        } else {
          valueEnd = endOfBareValue(html, valueStart);
          at = valueEnd;
        }
      }
      if ((this.wantedLengths >> (nameEnd - nameStart)) & 1)
        this.keep(nameStart, nameEnd - nameStart, valueStart, valueEnd);
    }
    return -1;
  }

  private keep(nameStart: number, length: number, valueStart: number, valueEnd: number): void {
    const { wanted, places } = this;
    for (let i = 0; i < wanted.length; i++) {
      const name = wanted[i]!;
      if (name.length !== length || places[2 * i]! > this.start) continue;
      if (!isNamed(this.html, nameStart, name)) continue;
      places[2 * i] = valueStart;
      places[2 * i + 1] = valueEnd;
      return;
    }
  }

  private finish(at: number): false {
    // If a page ends within the text of an element such as <style>, nothing is shown from its tag
    // on.
    const isWithin = this.kind !== 'close' && this.element.content !== 'markup';
    this.end = isWithin ? this.openedAt : at;
    return false;
  }
}

/** Around text that is between tags. */
const BETWEEN = elementKind('');

const LESS_THAN = 60;
const GREATER_THAN = 62;
const SLASH = 47;
const EXCLAMATION = 33;
const QUESTION = 63;
const EQUALS = 61;
const DOUBLE_QUOTE = 34;
const SINGLE_QUOTE = 39;

/**
 * The end of a comment, 0 if there is none. `<!-->` and `<!--->` end at once, others with `-->` or
 * `--!>`.
 */
function afterComment(html: string, start: number): number {
  const content = start + 4;
  if (html.startsWith('>', content)) return content + 1;
  if (html.startsWith('->', content)) return content + 2;
  COMMENT_END.lastIndex = content;
  COMMENT_END.test(html);
  return COMMENT_END.lastIndex;
}

const COMMENT_END = /--!?>/g;

function endOfContent(html: string, from: number, { name, contentEnd }: ElementKind): number {
  if (contentEnd === null) return html.length;
  if (name === 'script') return endOfScript(html, from);
  contentEnd.lastIndex = from;
  return contentEnd.exec(html)?.index ?? html.length;
}

/** In `<!-- … -->` of a script another script may begin and end (HTML, 13.2.5.20 to 31). */
function endOfScript(html: string, from: number): number {
  const marks = /<!--|-->|<(\/?)script[\t\n\f\r />]/gi;
  marks.lastIndex = from;
  let inside: 'script' | 'comment' | 'script in comment' = 'script';
  for (let mark = marks.exec(html); mark !== null; mark = marks.exec(html)) {
    if (mark[0] === '-->') inside = 'script';
    else if (mark[0] === '<!--') {
      if (inside === 'script') inside = 'comment';
      // Its dashes may belong to the end mark.
      marks.lastIndex -= 2;
    } else if (mark[1] === '') {
      if (inside === 'comment') inside = 'script in comment';
    } else if (inside === 'script in comment') inside = 'comment';
    else return mark.index;
  }
  return html.length;
}

function found(html: string, mark: string, from: number): number {
  const at = html.indexOf(mark, from);
  return at < 0 ? html.length : at;
}

function afterSpace(html: string, from: number): number {
  let at = from;
  while (isSpace(html.charCodeAt(at))) at++;
  return at;
}

// Nearly all characters of names come after `>` in ASCII: one comparison shows that they end
// nothing.

function endOfName(html: string, start: number): number {
  let at = start + 1;
  for (; at < html.length; at++) {
    const code = html.charCodeAt(at);
    if (code <= GREATER_THAN && (code === GREATER_THAN || code === SLASH || isSpace(code))) break;
  }
  return at;
}

/** An equals sign at the start of a name belongs to it. */
function endOfAttributeName(html: string, start: number): number {
  let at = start + 1;
  for (; at < html.length; at++) {
    const code = html.charCodeAt(at);
    if (code > GREATER_THAN) continue;
    if (code === EQUALS || code === GREATER_THAN || code === SLASH || isSpace(code)) break;
  }
  return at;
}

function endOfBareValue(html: string, start: number): number {
  let at = start;
  for (; at < html.length; at++) {
    const code = html.charCodeAt(at);
    if (code <= GREATER_THAN && (code === GREATER_THAN || isSpace(code))) break;
  }
  return at;
}

function isQuote(code: number): boolean {
  return code === DOUBLE_QUOTE || code === SINGLE_QUOTE;
}

function isLetter(code: number): boolean {
  return (code >= 97 && code <= 122) || (code >= 65 && code <= 90);
}

/** A vertical tab is not a space here. */
function isSpace(code: number): boolean {
  return code <= 32 && (code === 32 || code === 10 || code === 9 || code === 13 || code === 12);
}
