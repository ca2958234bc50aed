// Links of a mail led through the click redirect: only the values of href in <a> and <area> change, all else byte for byte.
// mail/compose.ts calls it with a function that makes the tracking URL. A tokenizer with source positions is enough:
// it reads 50 KB in about 1 ms, a tree would take ten and could not give back the very same bytes.
import { QuoteType, Tokenizer, type TokenizerCallbacks } from 'htmlparser2';
import { MAX_URL_BYTES } from './token.ts';

interface Attribute {
  name: string;
  start: number;
  end: number;
  quote: QuoteType;
}

interface Change {
  start: number;
  end: number;
  value: string;
}

/** No mail for people has more, and each costs about 10 µs of signing: those after them lead straight to their target. */
export const MAX_TRACKED_LINKS = 2_000;
/** How much longer a mail may become, in characters; once it would, the rest of its links stay as they are. */
export const MAX_ADDED = 1024 * 1024;

/** `makeUrl` gets the target as a browser would read it and the number of the link, from 0. */
export function rewriteLinks(
  html: string,
  makeUrl: (url: string, index: number) => string,
): string {
  const changes: Change[] = [];
  let added = 0;
  for (const { attribute, url } of findLinks(html)) {
    const value = escapeAttribute(makeUrl(url, changes.length));
    // A value without quotes gets them: ours may hold characters that end it.
    const quoted = attribute.quote === QuoteType.Unquoted ? `"${value}"` : value;
    added += quoted.length - (attribute.end - attribute.start);
    if (added > MAX_ADDED) break;
    changes.push({ start: attribute.start, end: attribute.end, value: quoted });
  }
  return applyChanges(html, changes);
}

interface Link {
  attribute: Attribute;
  url: string;
}

function findLinks(html: string): Link[] {
  const links: Link[] = [];
  let tag = '';
  let name = '';
  let valueStart = -1;
  let valueEnd = -1;
  let attributes: Attribute[] = [];
  const finishTag = () => {
    const link = tag === 'a' || tag === 'area' ? trackedLink(html, attributes) : undefined;
    if (link === undefined) return;
    links.push(link);
    if (links.length === MAX_TRACKED_LINKS) tokenizer.pause();
  };
  const tokenizer = new Tokenizer(
    { decodeEntities: false },
    {
      ...IGNORED,
      onopentagname: (start, end) => {
        tag = html.slice(start, end).toLowerCase();
        attributes = [];
      },
      onattribname: (start, end) => {
        name = html.slice(start, end).toLowerCase();
        valueStart = -1;
      },
      onattribdata: (start, end) => {
        if (valueStart < 0) valueStart = start;
        valueEnd = end;
      },
      onattribend: (quote) => {
        if (valueStart >= 0) attributes.push({ name, start: valueStart, end: valueEnd, quote });
      },
      onopentagend: finishTag,
      onselfclosingtag: finishTag,
    },
  );
  tokenizer.write(html);
  tokenizer.end();
  return links;
}

/** The first href counts (HTML, 13.2.5.33); a sender can keep a link as it is. */
function trackedLink(html: string, attributes: readonly Attribute[]): Link | undefined {
  const find = (name: string) => attributes.find((attribute) => attribute.name === name);
  const attribute = find('href');
  if (attribute === undefined) return undefined;
  const marked = find('data-sm-track');
  if (marked !== undefined && /^\s*off\s*$/i.test(html.slice(marked.start, marked.end)))
    return undefined;
  const url = targetOf(html.slice(attribute.start, attribute.end));
  return url === undefined ? undefined : { attribute, url };
}

/** Web addresses only: mailto, tel, sms, cid, data, anchors and relative ones stay. Read as browsers do (URL, 4.4). */
function targetOf(written: string): string | undefined {
  // Each character of an address is written with at most this many: what is longer is too long, before it is read.
  if (written.length > MAX_URL_BYTES * LONGEST_REFERENCE) return undefined;
  const url = withoutControls(decodeEntities(written).replace(/[\t\n\r]/g, ''));
  const isWeb = /^https?:\/\//i.test(url) && URL.canParse(url);
  return isWeb && Buffer.byteLength(url) <= MAX_URL_BYTES ? url : undefined;
}

const LONGEST_REFERENCE = 32;

/** Control characters and blanks at both ends; an expression that asks for them at the end would try at every blank. */
function withoutControls(text: string): string {
  let start = 0;
  let end = text.length;
  while (start < end && text.charCodeAt(start) <= 0x20) start++;
  while (end > start && text.charCodeAt(end - 1) <= 0x20) end--;
  return text.slice(start, end);
}

/** With the tokenizer itself, for in attributes `&copy=` is no ©. */
function decodeEntities(written: string): string {
  if (!written.includes('&')) return written;
  if (!/&(?!amp;)/.test(written)) return written.replaceAll('&amp;', '&');
  const html = `<a b="${written.replaceAll('"', '&quot;')}">`;
  let text = '';
  const tokenizer = new Tokenizer(
    { decodeEntities: true },
    {
      ...IGNORED,
      onattribdata: (start, end) => {
        text += html.slice(start, end);
      },
      onattribentity: (codePoint) => {
        text += String.fromCodePoint(codePoint);
      },
    },
  );
  tokenizer.write(html);
  tokenizer.end();
  return text;
}

export function escapeAttribute(value: string): string {
  return value
    .replaceAll('&', '&amp;')
    .replaceAll('"', '&quot;')
    .replaceAll("'", '&#39;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;');
}

function applyChanges(html: string, changes: readonly Change[]): string {
  let result = '';
  let at = 0;
  for (const { start, end, value } of changes) {
    result += html.slice(at, start) + value;
    at = end;
  }
  return result + html.slice(at);
}

function nothing(): void {}

const IGNORED: TokenizerCallbacks = {
  onattribdata: nothing,
  onattribend: nothing,
  onattribentity: nothing,
  onattribname: nothing,
  oncdata: nothing,
  onclosetag: nothing,
  oncomment: nothing,
  ondeclaration: nothing,
  onend: nothing,
  onopentagend: nothing,
  onopentagname: nothing,
  onprocessinginstruction: nothing,
  onselfclosingtag: nothing,
  ontext: nothing,
  ontextentity: nothing,
};
