// The sandbox as a reader: loads the pixel and follows the first link of an email over HTTP, as a
// person's email program would. Only our own tracking URLs are visited, never a sender's links.
import { notePassed } from '../bytes/garbage.ts';
import { isFile, leavesOf, placeOf } from '../mime/contents.ts';
import { piecesIn } from '../mime/decoding.ts';
import { inLongTurns } from '../process/in-turns.ts';
import { TRACKING_PATHS } from '../tracking/apply.ts';
import { treeOf } from './captured-email.ts';

export const HUMAN_AGENT =
  'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/131.0.0.0 Safari/537.36';
export const MACHINE_AGENT =
  'Mozilla/5.0 (Windows NT 5.1; rv:11.0) Gecko Firefox/11.0 (via ggpht.com GoogleImageProxy)';

const TIMEOUT_MS = 5000;
const LONGEST_URL = 8192;
const NOTHING = Buffer.alloc(0);

/** False: the email has nothing to load or follow. Rejects if our side does not answer. */
export async function visit(
  raw: Buffer,
  trackingUrl: string,
  what: 'open' | 'click',
  userAgent: string,
): Promise<boolean> {
  const url = await inLongTurns(findUrl(raw, `${trackingUrl}${TRACKING_PATHS[what]}`));
  if (url === undefined) return false;
  const answer = await fetch(url, {
    redirect: 'manual',
    headers: { 'user-agent': userAgent },
    signal: AbortSignal.timeout(TIMEOUT_MS),
  });
  await answer.arrayBuffer();
  if (answer.status >= 400) throw new Error(`${what}: answered ${answer.status}`);
  return true;
}

/**
 * The first URL in the email's HTML with this beginning; tokens are base64url, so the end is clear.
 * Searched in the bytes: what we inserted is ASCII, whatever is around it. Piece by piece, each
 * with the end of the one before, so that 25 MB are never decoded at once.
 */
function* findUrl(raw: Buffer, beginning: string): Generator<void, string | undefined> {
  const { tree, body } = treeOf(raw);
  for (const leaf of leavesOf(tree)) {
    if (leaf.type !== 'text/html' || isFile(leaf)) continue;
    let seen: Buffer = NOTHING;
    let at = -1;
    for (const piece of piecesIn(body, placeOf(leaf))) {
      seen = Buffer.concat([seen.subarray(-LONGEST_URL), piece]);
      notePassed(seen.length + piece.length);
      at = seen.indexOf(beginning);
      if (at >= 0 && at + LONGEST_URL < seen.length) break;
      yield;
    }
    if (at < 0) continue;
    const token = /^[\w-]+/.exec(seen.toString('latin1', at + beginning.length, at + LONGEST_URL));
    if (token) return beginning + token[0];
  }
  return undefined;
}
