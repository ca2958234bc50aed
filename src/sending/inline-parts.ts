// Images inside of a mail: each `cid:` in the HTML needs its part, and each inline part its `cid:`.
// Before: the content is rendered. After: mail/compose.ts puts the parts beside the HTML. Nothing
// is ever fetched.
import { Problem } from '../errors.ts';
import type { Attachment } from './attachments.ts';

/**
 * In an attribute, or in the url() of a style; also in comments, where Outlook looks for its
 * backgrounds.
 */
const REFERENCE = /(?:=\s{0,20}["']?|url\(\s{0,20}["']?)cid:([^"'\s>)]{1,250})/g;

export function checkInlineParts(
  attachments: readonly Attachment[],
  html: string | Buffer | null,
): void {
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
  const mayRefer = html?.includes('cid:') ?? false;
  if (parts.size === 0 && !mayRefer) return;
  const referred = mayRefer ? referencesIn(html!.toString()) : new Set<string>();
  for (const id of referred) {
    if (parts.has(id)) continue;
    const shown = id.slice(0, 100);
    throw fault(
      'html',
      `it shows cid:${shown}, and no attachment has this content_id. Attach the image with "content_id": ${JSON.stringify(shown)}, or give the image an https URL`,
    );
  }
  for (const [id, index] of parts) {
    if (referred.has(id)) continue;
    throw fault(
      placeOf(index),
      `the HTML does not show "${id}". Refer to it as <img src="cid:${id}">, or leave content_id out to send the file as an attachment`,
    );
  }
}

function referencesIn(html: string): Set<string> {
  return new Set([...html.matchAll(REFERENCE)].map(([, id]) => decoded(id!)));
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

const fault = (path: string, message: string): Problem =>
  new Problem('invalid', `${path}: ${message}.`, { faults: [{ path, message }] });
