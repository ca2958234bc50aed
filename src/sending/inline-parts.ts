// Images inside an email: each `cid:` in the HTML needs its part, and each inline part its `cid:`.
// Before: the content is rendered. After: mail/compose.ts puts the parts beside the HTML. Nothing
// is ever fetched.
import { Problem } from '../errors.ts';
import { atOnce, inTurns } from '../process/in-turns.ts';
import type { Attachment } from './attachments.ts';

/**
 * In an attribute, or in the url() of a style; also in comments, where Outlook looks for its
 * backgrounds.
 */
const REFERENCE = /(?:=\s{0,20}["']?|url\(\s{0,20}["']?)cid:([^"'\s>)]{1,250})/g;

const LONGEST_REFERENCE = 300;
/** How much is examined between two turns of the event loop: 20 MB of references took 2 s. */
const PIECE = 256 * 1024;

/** Returned at once, unless the HTML is long. */
export function checkInlineParts(
  attachments: readonly Attachment[],
  html: string | Buffer | null,
): void | Promise<void> {
  const parts = partsById(attachments);
  const mayRefer = html?.includes('cid:') ?? false;
  if (parts.size === 0 && !mayRefer) return;
  const checking = holdAgainst(parts, mayRefer ? html! : '');
  return html !== null && html.length > PIECE ? inTurns(checking) : atOnce(checking);
}

function partsById(attachments: readonly Attachment[]): Map<string, number> {
  const parts = new Map<string, number>();
  for (const [index, { contentId }] of attachments.entries()) {
    if (contentId === undefined) continue;
    const other = parts.get(contentId);
    if (other !== undefined) {
      throw fault(
        placeOf(index),
        `"${contentId}" is the content_id of attachments[${other}] too. Give each its own`,
      );
    }
    parts.set(contentId, index);
  }
  return parts;
}

function* holdAgainst(parts: Map<string, number>, html: string | Buffer): Generator<void, void> {
  const referred = new Set<string>();
  for (let from = 0, to = 0; from < html.length; from = to) {
    if (from > 0) yield;
    to = from + PIECE;
    const piece = textOf(html, from, to + LONGEST_REFERENCE);
    for (const { 0: whole, 1: id, index } of piece.matchAll(REFERENCE)) {
      if (from + index >= to) break;
      to = Math.max(to, from + index + whole.length);
      if (!referred.has(id!)) referred.add(requirePart(parts, id!));
    }
  }
  for (const [id, index] of parts) {
    if (referred.has(id)) continue;
    throw fault(
      placeOf(index),
      `the HTML does not show "${id}". Refer to it as <img src="cid:${id}">, or leave content_id out to send the file as an attachment`,
    );
  }
}

/** Long bytes as one character each: a piece may end within one, and no content_id has others. */
const textOf = (html: string | Buffer, from: number, to: number): string =>
  typeof html === 'string'
    ? html.slice(from, to)
    : html.toString(html.length > PIECE ? 'latin1' : 'utf8', from, to);

function requirePart(parts: Map<string, number>, written: string): string {
  const id = decoded(written);
  if (parts.has(id)) return id;
  const shown = id.slice(0, 100);
  throw fault(
    'html',
    `it shows cid:${shown}, and no attachment has this content_id. Attach the image with "content_id": ${JSON.stringify(shown)}, or give the image an https URL`,
  );
}

/** RFC 2392: the id in a URL is percent-encoded. */
function decoded(id: string): string {
  try {
    return decodeURIComponent(id);
  } catch {
    return id;
  }
}

const placeOf = (index: number): string => `attachments[${index}].content_id`;

const fault = (at: string, message: string): Problem =>
  new Problem('invalid', `${at}: ${message}.`, { at });
