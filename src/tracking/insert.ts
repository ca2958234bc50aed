// Adds tracking to HTML: links through the click redirect, and the open pixel, in one pass over the
// email. Before it: apply.ts, which makes the URLs. After it: the HTML of one copy; what is not
// tracked stays byte for byte.
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
  trackedPieces(html, insertion).join('');

/** The same, not joined: with 25 MB of HTML every copy matters. */
export function trackedPieces(html: string, { linkUrl, pixelUrl }: Insertion): string[] {
  const changes: Change[] = [];
  let bodyEnd = linkUrl === undefined ? usualBodyEnd(html) : undefined;
  if (bodyEnd === undefined) {
    const places = findPlaces(html);
    if (linkUrl !== undefined) changes.push(...linkChanges(places.links, linkUrl));
    bodyEnd = places.bodyEnd;
  }
  if (pixelUrl !== undefined)
    changes.push({ start: bodyEnd, end: bodyEnd, value: pixelImage(pixelUrl) });
  return applyChanges(html, changes);
}

/**
 * The pixel comes last in the body: before the last </body>, otherwise the last </html>, otherwise
 * at the end of the page.
 */
function findPlaces(html: string): { links: Link[]; bodyEnd: number } {
  const tokens = new Tokens(html, LINK_ATTRIBUTES);
  const links: Link[] = [];
  let body = -1;
  let document = -1;
  while (tokens.next()) {
    const { kind, start, element } = tokens;
    if (kind === 'open') {
      const link = links.length < MOST_TRACKED_LINKS ? trackedLink(tokens) : undefined;
      if (link !== undefined) links.push(link);
    } else if (kind === 'close') {
      if (element.name === 'body') body = start;
      else if (element.name === 'html') document = start;
    }
  }
  if (body >= 0) return { links, bodyEnd: body };
  return { links, bodyEnd: document >= 0 ? document : tokens.end };
}

function applyChanges(html: string, changes: Change[]): string[] {
  // Links may come after the end of the body.
  changes.sort((one, other) => one.start - other.start);
  const pieces: string[] = [];
  let at = 0;
  for (const { start, end, value } of changes) {
    pieces.push(html.slice(at, start), value);
    at = end;
  }
  pieces.push(html.slice(at));
  return pieces;
}
