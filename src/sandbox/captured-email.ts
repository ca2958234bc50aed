// Reads a captured email: for tests once, when it is captured (sender, codes, links), and for
// people when they look at it (headers, bodies, files). Before it: relay.ts and
// operations/sandbox.ts.
import { headerText, type Part, partText, readEmail } from '../feedback/mime.ts';
import { htmlToPlainText } from '../html/plain-text.ts';
import { contentsOf } from '../mime/contents.ts';
import { type Place, textIn } from '../mime/decoding.ts';
import { readFields } from '../mime/fields.ts';
import { type Entity, readTree } from '../mime/tree.ts';
import { TRACKING_PATHS } from '../tracking/apply.ts';
import { codesIn } from './codes.ts';
import { type EmailLink, linksInHtml, linksInText, type TargetOf } from './links.ts';

export interface ReadEmail {
  headers: [name: string, value: string][];
  html: string | null;
  text: string | null;
  attachments: { filename: string; contentType: string; size: number }[];
  /** As it went over the wire. */
  raw: string;
}

/** What tests look for. */
export interface EmailFindings {
  /** From the header, decoded. */
  from: string;
  subject: string;
  /** Best first. */
  codes: string[];
  links: EmailLink[];
}

const LONGEST_SHOWN = 4 * 1024 * 1024;
/** Searched while the relay waits: what comes later in a longer email is shown to people only. */
const MOST_BYTES_SEARCHED = 512 * 1024;
/** Enough for the tags that may come before a code. */
const MOST_HTML_FOR_CODES = 64 * 1024;
const LONGEST_HEADER = 1000;
/** All header fields of an email together. */
const LONGEST_HEAD = 256 * 1024;

export function findIn(raw: Buffer, targetOf: TargetOf): EmailFindings {
  const { headers, parts } = readEmail(raw.subarray(0, MOST_BYTES_SEARCHED));
  const shown = (name: string): string =>
    storable(headerText(headers.get(name)?.[0])).slice(0, LONGEST_HEADER);
  const subject = shown('subject');
  const html = textOf(parts, 'text/html');
  const text = textOf(parts, 'text/plain') ?? '';
  let codes = codesIn(subject, text);
  if (codes.length === 0 && html !== null) {
    codes = codesIn(subject, htmlToPlainText(html.slice(0, MOST_HTML_FOR_CODES)));
  }
  const links =
    html === null ? linksInText(storable(text), targetOf) : linksInHtml(storable(html), targetOf);
  return { from: shown('from'), subject, codes, links };
}

/** PostgreSQL accepts neither NUL nor half a surrogate pair. */
const storable = (text: string): string => text.replace(/[\0\p{Cs}]/gu, '\ufffd');

/** Yields after each piece: it may have 25 MB. */
export function* readCaptured(raw: Buffer): Generator<void, ReadEmail> {
  const { tree, body } = treeOf(raw);
  const { html, text, files } = yield* contentsOf(tree, body);
  return {
    headers: headerLines(raw),
    html: withoutPixel(yield* shownText(body, html)),
    text: yield* shownText(body, text),
    attachments: files.map(({ filename, contentType, size }) => ({ filename, contentType, size })),
    raw: raw.subarray(0, LONGEST_SHOWN).toString('utf8'),
  };
}

export function treeOf(raw: Buffer): { tree: Entity; body: Buffer } {
  const { fields, end } = readFields(raw.toString('latin1', 0, LONGEST_HEAD));
  const body = raw.subarray(end);
  return { tree: readTree(fields.map(({ lines }) => lines).join(''), body), body };
}

function* shownText(body: Buffer, place: Place | null): Generator<void, string | null> {
  if (place === null) return null;
  const shown = { ...place, length: Math.min(place.length, LONGEST_SHOWN) };
  return (yield* textIn(body, shown)).replaceAll('\r\n', '\n');
}

function headerLines(raw: Buffer): [string, string][] {
  const end = raw.indexOf('\r\n\r\n');
  const head = raw.toString('utf8', 0, Math.min(end < 0 ? raw.length : end, LONGEST_HEAD));
  return head
    .replace(/\r\n[ \t]+/g, ' ')
    .split('\r\n')
    .map((line) => {
      const colon = line.indexOf(':');
      return [line.slice(0, colon), line.slice(colon + 1).trim()];
    });
}

function textOf(parts: readonly Part[], type: string): string | null {
  const part = parts.find((it) => it.type === type && !isAttachment(it));
  return part === undefined ? null : partText(part, LONGEST_SHOWN);
}

/**
 * A person who looks at a captured email here is not its recipient: that must not count as an open.
 */
const withoutPixel = (html: string | null): string | null => html?.replace(PIXEL, '') ?? null;

/** An opening tag ends the search: 4 MB of tags that never close took more than five minutes. */
const PIXEL = new RegExp(`<img src="[^"<>]*${TRACKING_PATHS.open}[\\w-]+"[^<>]*>`, 'g');

const isAttachment = (part: Part): boolean =>
  /^\s*attachment/i.test(part.headers.get('content-disposition')?.[0] ?? '');
