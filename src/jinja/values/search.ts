// Finding a text in a text in linear time. V8's own search is fast on ordinary text and quadratic
// on contrived text: a needle of 10,000 characters in a million took 8.6 seconds. Used by str's
// methods, the replace filter and `in`.

/** Texts that cost V8 at worst this many comparisons are left to it: a few milliseconds. */
const CHEAP = 1 << 21;
/**
 * How many characters of a needle V8 searches for, nearly at memory speed, before the rest is
 * compared here.
 */
const PROBE = 4;

/**
 * Something to look for, from the left or from the right; may be used repeatedly, also from other
 * offsets.
 */
export class Needle {
  private readonly text: string;
  private readonly last: boolean;
  /**
   * Comparisons without a match. Once there are many, the rest is done by Knuth, Morris and Pratt.
   */
  private wasted = 0;
  /**
   * The length of the longest proper prefix (from the right: suffix) of the needle that ends at
   * each of its positions.
   */
  private borders: Int32Array | null = null;

  constructor(text: string, last = false) {
    this.text = text;
    this.last = last;
  }

  /**
   * Where it starts at or after `from`, or with `last` at or before it; -1 if it does not occur.
   */
  find(whole: string, from = this.last ? whole.length : 0): number {
    const { text, last } = this;
    if (isCheap(whole, text))
      return last ? whole.lastIndexOf(text, from) : whole.indexOf(text, from);
    return last ? this.findLast(whole, from) : this.findFirst(whole, from);
  }

  private findFirst(whole: string, from: number): number {
    const { text } = this;
    if (this.borders !== null) return this.findCertain(whole, from);
    const probe = text.slice(0, PROBE);
    for (let at = whole.indexOf(probe, from); at !== -1; at = whole.indexOf(probe, at + 1)) {
      let same = probe.length;
      while (same < text.length && whole.charCodeAt(at + same) === text.charCodeAt(same)) same++;
      if (same === text.length) return at;
      if (this.isWasteful(same, whole)) return this.findCertain(whole, at + 1);
    }
    return -1;
  }

  private findLast(whole: string, from: number): number {
    const { text } = this;
    if (from < 0) return whole.startsWith(text) ? 0 : -1;
    const start = Math.min(from, whole.length - text.length);
    if (start < 0) return -1;
    if (this.borders !== null) return this.findCertain(whole, start);
    // The probe is the end of the needle, because the search runs from the right.
    const probe = text.slice(-PROBE);
    const ahead = text.length - probe.length;
    let end = whole.lastIndexOf(probe, start + ahead);
    for (; end >= ahead; end = end === 0 ? -1 : whole.lastIndexOf(probe, end - 1)) {
      let same = 1;
      while (same <= ahead && whole.charCodeAt(end - same) === text.charCodeAt(ahead - same))
        same++;
      if (same > ahead) return end - ahead;
      if (this.isWasteful(same, whole))
        return end === 0 ? -1 : this.findCertain(whole, end - ahead - 1);
    }
    return -1;
  }

  private isWasteful(compared: number, whole: string): boolean {
    this.wasted += compared + 8;
    return this.wasted > whole.length;
  }

  /**
   * Knuth, Morris and Pratt: every character of `whole` is looked at once. From the right, both are
   * read backwards.
   */
  private findCertain(whole: string, from: number): number {
    const { text, last } = this;
    const size = text.length;
    this.borders ??= bordersOf(text, last);
    const { borders } = this;
    let matched = 0;
    // From the right the first character to be compared is the last one of a needle that starts at
    // `from`.
    let at = last ? from + size - 1 : from;
    for (const step = last ? -1 : 1; at >= 0 && at < whole.length; at += step) {
      const code = whole.charCodeAt(at);
      while (matched > 0 && code !== text.charCodeAt(last ? size - 1 - matched : matched))
        matched = borders[matched - 1]!;
      if (code === text.charCodeAt(last ? size - 1 - matched : matched)) matched++;
      if (matched === size) return last ? at : at - size + 1;
    }
    return -1;
  }
}

function bordersOf(text: string, last: boolean): Int32Array {
  const size = text.length;
  const borders = new Int32Array(size);
  for (let at = 1, border = 0; at < size; at++) {
    const code = text.charCodeAt(last ? size - 1 - at : at);
    while (border > 0 && code !== text.charCodeAt(last ? size - 1 - border : border))
      border = borders[border - 1]!;
    if (code === text.charCodeAt(last ? size - 1 - border : border)) border++;
    borders[at] = border;
  }
  return borders;
}

const isCheap = (whole: string, text: string): boolean =>
  text.length <= 1 || text.length * whole.length <= CHEAP;

export const indexIn = (whole: string, text: string): number =>
  isCheap(whole, text) ? whole.indexOf(text) : new Needle(text).find(whole);
export const lastIndexIn = (whole: string, text: string): number =>
  isCheap(whole, text) ? whole.lastIndexOf(text) : new Needle(text, true).find(whole);

/**
 * The parts of `whole` between the occurrences of `mark`; at most `limit` cuts, from the left or
 * from the right.
 */
export function partsOf(whole: string, mark: string, limit: number, last = false): string[] {
  if (!last && limit < 0 && isCheap(whole, mark)) return whole.split(mark);
  const needle = new Needle(mark, last);
  const parts: string[] = [];
  if (last) {
    let end = whole.length;
    while (limit < 0 || parts.length < limit) {
      const at = end < mark.length ? -1 : needle.find(whole, end - mark.length);
      if (at === -1) break;
      parts.push(whole.slice(at + mark.length, end));
      end = at;
    }
    parts.push(whole.slice(0, end));
    return parts.reverse();
  }
  let start = 0;
  while (limit < 0 || parts.length < limit) {
    const at = needle.find(whole, start);
    if (at === -1) break;
    parts.push(whole.slice(start, at));
    start = at + mark.length;
  }
  parts.push(whole.slice(start));
  return parts;
}

/** How often `text` occurs in `whole`, without overlaps. */
export function countIn(whole: string, text: string): number {
  const needle = new Needle(text);
  let found = 0;
  for (let at = needle.find(whole); at !== -1; at = needle.find(whole, at + text.length)) found++;
  return found;
}
