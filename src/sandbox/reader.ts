// The sandbox as a reader: loads the pixel and follows the first link of a mail over HTTP, as a
// person's program would. Only addresses of our own tracking are visited, never what a sender
// linked to.
import { partText, readMail } from '../feedback/mime.ts';
import { TRACKING_PATHS } from '../tracking/apply.ts';

export const HUMAN_AGENT =
  'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/131.0.0.0 Safari/537.36';
export const MACHINE_AGENT =
  'Mozilla/5.0 (Windows NT 5.1; rv:11.0) Gecko Firefox/11.0 (via ggpht.com GoogleImageProxy)';

const TIMEOUT_MS = 5000;

/** False: the mail has nothing to load or follow. Rejects when our side does not answer. */
export async function visit(
  raw: Buffer,
  trackingUrl: string,
  what: 'open' | 'click',
  userAgent: string,
): Promise<boolean> {
  const url = findUrl(raw, `${trackingUrl}${TRACKING_PATHS[what]}`);
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
 * The first address in the mail's HTML that begins so; tokens are base64url, so their end is clear.
 */
function findUrl(raw: Buffer, beginning: string): string | undefined {
  for (const part of readMail(raw).parts) {
    if (part.type !== 'text/html') continue;
    const html = partText(part, Number.POSITIVE_INFINITY);
    const at = html.indexOf(beginning);
    if (at < 0) continue;
    const token = /^[\w-]+/.exec(html.slice(at + beginning.length, at + beginning.length + 8000));
    if (token) return beginning + token[0];
  }
  return undefined;
}
