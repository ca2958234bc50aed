// Where the body of an email ends, without reading the email: nearly every one ends with
// </body></html>. insert.ts uses this if it does not look for links; if the result is uncertain, it
// reads the email with html/tokens.ts.
import { elementKind } from '../html/elements.ts';

const USUAL_END = /<\/body[\t\n\f\r ]*>[\t\n\f\r ]*(?:<\/html[\t\n\f\r ]*>[\t\n\f\r ]*)?$/i;
const LONGEST_END = 100;
const LONGEST_LOOK_BACK = 1000;
/** What can turn the tags after it into text; the second group is the rest of a plain start tag. */
const TAKES_IN =
  /<(!--|style|title|textarea|xmp|iframe|noembed|noframes|script|plaintext)((?:[\t\n\f\r ]+[\w-]+(?:="[^"<>]*")?)*[\t\n\f\r ]*>)?/iy;
/**
 * By the two characters after a `<`: whether one of these may begin like that. A Set takes twice as
 * long.
 */
const BEGINNINGS = new Uint8Array(1 << 14);
for (const [first, second] of ['!-', 'st', 'ti', 'te', 'xm', 'if', 'no', 'sc', 'pl']) {
  for (const one of [first!, first!.toUpperCase()]) {
    for (const other of [second!, second!.toUpperCase()]) BEGINNINGS[pairAt(one + other, 0)] = 1;
  }
}

/** Characters beyond ASCII may collide with others: it is only a hint. */
function pairAt(text: string, at: number): number {
  return ((text.charCodeAt(at) & 127) << 7) | (text.charCodeAt(at + 1) & 127);
}

/**
 * The offset of the last </body>, if it is the email's end and certainly a tag: it is in no other
 * tag, no value, no comment and no element whose content is text. Nothing after it could end one of
 * these, so it would have to be one that never ends, and each of those leaves a trace.
 */
export function usualBodyEnd(html: string): number | undefined {
  const tail = html.slice(-LONGEST_END);
  const found = USUAL_END.exec(tail);
  if (found === null) return undefined;
  const at = html.length - tail.length + found.index;
  const isCertain =
    !isInTag(html, at) && !isInValue(html, '"') && !isInValue(html, "'") && !isTakenIn(html);
  return isCertain ? at : undefined;
}

/** If a tag or `<!…>` is open here, its `<` or the end of a value comes after the last `>`. */
function isInTag(html: string, at: number): boolean {
  const between = html.slice(html.lastIndexOf('>', at) + 1, at);
  return /[<"']/.test(between);
}

/** The last quote of the email begins a value only if an equals sign precedes it. */
function isInValue(html: string, quote: string): boolean {
  let before = lastOf(html, quote) - 1;
  while (before >= 0 && html.charCodeAt(before) <= 32) before--;
  return html[before] === '=';
}

/** From the end if it is near; from the start each character takes a tenth of the time. */
function lastOf(html: string, mark: string): number {
  const far = Math.max(0, html.length - LONGEST_LOOK_BACK);
  const near = html.slice(far).lastIndexOf(mark);
  if (near >= 0) return far + near;
  let last = -1;
  for (let at = html.indexOf(mark); at >= 0; at = html.indexOf(mark, at + 1)) last = at;
  return last;
}

/** The last of its kind has no end before this place, or a tag is not plain enough to decide. */
function isTakenIn(html: string): boolean {
  const last = new Map<string, number>();
  // Hopping takes half the time of a regular expression that finds all of them.
  for (let at = html.indexOf('<'); at >= 0; at = html.indexOf('<', at + 1)) {
    if (BEGINNINGS[pairAt(html, at + 1)] === 0) continue;
    TAKES_IN.lastIndex = at;
    const mark = TAKES_IN.exec(html);
    if (mark === null) continue;
    const name = mark[1]!.toLowerCase();
    if (name === '!--') last.set(name, mark.index + '<!'.length);
    else if (mark[2] === undefined) return true;
    else last.set(name, TAKES_IN.lastIndex);
  }
  for (const [name, from] of last) {
    const isEnded = name === '!--' ? html.includes('-->', from) : isEndedText(html, name, from);
    if (!isEnded) return true;
  }
  return false;
}

/** Scripts may contain scripts in comments, and plain text never ends: these are read in full. */
function isEndedText(html: string, name: string, from: number): boolean {
  const { contentEnd } = elementKind(name);
  if (contentEnd === null || name === 'script') return false;
  contentEnd.lastIndex = from;
  return contentEnd.test(html);
}
