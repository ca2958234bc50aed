// Adds tracking to HTML: links through the click redirect, and the open pixel, in one pass over the
// email. Before it: apply.ts, which makes the URLs. After it: the HTML of one copy; what is not
// tracked stays byte for byte.
import { notePassed } from '../bytes/garbage.ts';
import { Tokens } from '../html/tokens.ts';
import { usualBodyEnd } from './body-end.ts';
import {
  type Change,
  LINK_ATTRIBUTES,
  type Link,
  linkChanges,
  MOST_TRACKED_LINKS,
  trackedLink,
} from './links.ts';
import { pixelImage } from './pixel.ts';

export interface Insertion {
  /**
   * Gets the target as a browser would read it and the number of the link, from 0; without this
   * function links stay unchanged.
   */
  linkUrl?: ((url: string, index: number) => string) | undefined;
  /** Without it there is no pixel. */
  pixelUrl?: string | undefined;
}

export const insertTracking = (html: string, insertion: Insertion): string =>
  changedText(html, trackingChanges(html, insertion));

/** In their order. Positions are those of characters in a text, and of bytes in UTF-8. */
export function trackingChanges(html: string | Buffer, { linkUrl, pixelUrl }: Insertion): Change[] {
  const changes: Change[] = [];
  const isText = typeof html === 'string';
  let bodyEnd = linkUrl === undefined && isText ? usualBodyEnd(html) : undefined;
  if (bodyEnd === undefined) {
    const places = findPlaces(isText ? pageOfText(html) : pageOfBytes(html));
    if (linkUrl !== undefined) changes.push(...linkChanges(places.links, linkUrl));
    bodyEnd = places.bodyEnd;
  }
  if (pixelUrl !== undefined)
    changes.push({ start: bodyEnd, end: bodyEnd, value: pixelImage(pixelUrl) });
  // Links may come after the end of the body.
  return changes.sort((one, other) => one.start - other.start);
}

interface Places {
  links: Link[];
  /** The last </body> and </html>; -1: none. */
  body: number;
  document: number;
}

/**
 * A tag, a comment or a style sheet that is longer than the longest piece is read as one that never
 * ends.
 */
const LONGEST_PIECE = 8 * 1024 * 1024;
const PIECE_LENGTH = 64 * 1024;

/**
 * The pixel comes last in the body: before the last </body>, otherwise the last </html>, otherwise
 * at the end of the page.
 */
export function findPlaces(
  page: Page,
  [length, longest] = [PIECE_LENGTH, LONGEST_PIECE],
): { links: Link[]; bodyEnd: number } {
  const found: Places = { links: [], body: -1, document: -1 };
  for (let from = 0, asked = length; ; ) {
    const piece = page.read(from, asked);
    const end = piece.placeOf(readTokens(piece, found));
    if (piece.isLast || (end === from && asked >= longest)) {
      const { links, body, document } = found;
      return { links, bodyEnd: body >= 0 ? body : document >= 0 ? document : end };
    }
    // Nothing in it ended: its first token is longer.
    asked = end === from ? 2 * asked : length;
    from = end;
  }
}

/** Returns where the next piece must begin. */
function readTokens({ text, isLast, placeOf }: Piece, found: Places): number {
  const tokens = new Tokens(text, LINK_ATTRIBUTES);
  while (tokens.next()) {
    const { kind, start, element } = tokens;
    if (!isLast && tokens.end === text.length) return tokens.certainEnd;
    if (kind === 'open') {
      const link = found.links.length < MOST_TRACKED_LINKS ? trackedLink(tokens) : undefined;
      if (link !== undefined) {
        const [begin, end] = [placeOf(link.start), placeOf(link.end)];
        // As a part of the text the URL would keep all of it in memory.
        const url = isLast ? link.url : Buffer.from(link.url).toString();
        found.links.push({ ...link, start: begin, end, url });
      }
    } else if (kind === 'close') {
      if (element.name === 'body') found.body = placeOf(start);
      else if (element.name === 'html') found.document = placeOf(start);
    }
  }
  return tokens.end;
}

/** HTML that is read in pieces of text: 25 MB are never there as bytes and as text. */
interface Page {
  read(from: number, length: number): Piece;
}

interface Piece {
  text: string;
  /** The page ends with it. */
  isLast: boolean;
  /** The place in the page of an offset in the text; asked for in ascending order. */
  placeOf: (offset: number) => number;
}

export const pageOfText = (text: string): Page => ({
  read: () => ({ text, isLast: true, placeOf: (offset) => offset }),
});

export const pageOfBytes = (html: Buffer): Page => ({
  read(from, length) {
    let end = Math.min(from + length, html.length);
    // Not within a character.
    while (end < html.length && (html[end]! & 0xc0) === 0x80) end--;
    const text = html.toString('utf8', from, end);
    notePassed(end - from);
    let [chars, place] = [0, from];
    const isAscii = text.length === end - from;
    const placeOf = (offset: number): number => {
      if (isAscii) return from + offset;
      place += Buffer.byteLength(text.slice(chars, offset));
      chars = offset;
      return place;
    };
    return { text, isLast: end === html.length, placeOf };
  },
});

function changedText(html: string, changes: readonly Change[]): string {
  const pieces: string[] = [];
  let at = 0;
  for (const { start, end, value } of changes) {
    pieces.push(html.slice(at, start), value);
    at = end;
  }
  pieces.push(html.slice(at));
  return pieces.join('');
}

/** In pieces: only those that are short are copied, together. */
function changedBytes(html: Buffer, changes: readonly Change[]): Buffer[] {
  const pieces: Buffer[] = [];
  let short: Buffer[] = [];
  const joinShort = (): void => {
    if (short.length > 0) pieces.push(Buffer.concat(short));
    short = [];
  };
  const add = (bytes: Buffer): void => {
    if (bytes.length < LEAST_ALONE) short.push(bytes);
    else {
      joinShort();
      pieces.push(bytes);
    }
  };
  let at = 0;
  for (const { start, end, value } of changes) {
    add(html.subarray(at, start));
    add(Buffer.from(value));
    at = end;
  }
  add(html.subarray(at));
  joinShort();
  return pieces;
}

const LEAST_ALONE = 4096;

const LARGE_BYTES = 1024 * 1024;

/** UTF-8 with tracking; the very bytes if nothing is changed. Of a large one most is not copied. */
export function trackedBytes(html: Buffer, insertion: Insertion): Buffer[] {
  const isLarge = html.length >= LARGE_BYTES;
  const text = isLarge ? html : html.toString();
  const changes = trackingChanges(text, insertion);
  if (changes.length === 0) return [html];
  return typeof text === 'string'
    ? [Buffer.from(changedText(text, changes))]
    : changedBytes(text, changes);
}
