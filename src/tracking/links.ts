// Which links of an email are tracked, and what replaces them: only the values of href in <a> and
// <area>. insert.ts passes every start tag and applies the changes.
import { escapeAttribute } from '../html/references.ts';
import type { Tokens } from '../html/tokens.ts';
import { MOST_URL_BYTES } from './token.ts';

export interface Link {
  start: number;
  end: number;
  quoted: boolean;
  /** As a browser reads it. */
  url: string;
}

/** A part of the source, and its replacement. */
export interface Change {
  start: number;
  end: number;
  value: string;
}

/**
 * No email for people has more, and each costs about 10 µs of signing: further ones lead straight
 * to their target.
 */
export const MOST_TRACKED_LINKS = 2_000;
/**
 * How much longer an email may become, in characters; beyond that, the rest of its links stay as
 * they are.
 */
export const MOST_ADDED = 1024 * 1024;

export const LINK_ATTRIBUTES = ['href', 'data-sm-track'];

/** The link of a start tag, if it leads to the web and its sender has not excluded it. */
export function trackedLink(tokens: Tokens): Link | undefined {
  const { name } = tokens.element;
  if (name !== 'a' && name !== 'area') return undefined;
  const place = tokens.valuePlace('href');
  // Each character of a URL takes at most this many: a longer value is too long before it is
  // decoded.
  if (place === undefined || place.end - place.start > MOST_URL_BYTES * LONGEST_REFERENCE)
    return undefined;
  if (/^\s*off\s*$/i.test(tokens.attribute('data-sm-track') ?? '')) return undefined;
  const url = webAddress(tokens.attribute('href')!);
  return url === undefined ? undefined : { ...place, url };
}

const LONGEST_REFERENCE = 32;

/**
 * Web addresses only: mailto, tel, sms, cid, data, anchors and relative ones stay. Read as browsers
 * do (URL, 4.4).
 */
function webAddress(href: string): string | undefined {
  const url = withoutControls(href.replace(/[\t\n\r]/g, ''));
  const isWeb = /^https?:\/\//i.test(url) && URL.canParse(url);
  return isWeb && Buffer.byteLength(url) <= MOST_URL_BYTES ? url : undefined;
}

/**
 * Control characters and blanks at both ends; a regular expression anchored at the end would try at
 * every space.
 */
function withoutControls(text: string): string {
  let start = 0;
  let end = text.length;
  while (start < end && text.charCodeAt(start) <= 0x20) start++;
  while (end > start && text.charCodeAt(end - 1) <= 0x20) end--;
  return text.slice(start, end);
}

export function linkChanges(
  links: readonly Link[],
  makeUrl: (url: string, index: number) => string,
): Change[] {
  const changes: Change[] = [];
  let added = 0;
  for (const { start, end, quoted, url } of links) {
    const written = escapeAttribute(makeUrl(url, changes.length));
    // A value without quotes gets them: ours may contain characters that would end it.
    const value = quoted ? written : `"${written}"`;
    added += value.length - (end - start);
    if (added > MOST_ADDED) break;
    changes.push({ start, end, value });
  }
  return changes;
}
