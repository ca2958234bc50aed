// The open pixel: put into the mail when it is composed, answered by inbound/open.ts.
import { escapeAttribute } from './links.ts';

/** A transparent GIF of one pixel, 43 bytes. */
export const PIXEL_GIF = Buffer.from(
  'R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7',
  'base64',
);

/** The image stands last in the body; without a </body> at the end of the mail. Nothing else changes. */
export function addPixel(html: string, url: string): string {
  // Not hidden: programs that skip invisible images would never load it. An empty alt keeps screen readers silent.
  const image = `<img src="${escapeAttribute(url)}" width="1" height="1" alt="" style="border:0;width:1px;height:1px">`;
  const at = bodyEnd(html);
  return html.slice(0, at) + image + html.slice(at);
}

/** The last </body> that does not stand in a comment, else the last </html>, else the end. One pass over the mail. */
function bodyEnd(html: string): number {
  let body = -1;
  let document = -1;
  let inComment = false;
  // `<!-->` closes what it opens, and a comment that was open before it (`<!--[if !mso]><!-->`).
  for (const match of html.matchAll(/<!--+>|<!--|-->|<\/(body|html)\s*>/gi)) {
    const found = match[0].toLowerCase();
    if (found === '<!--') inComment = true;
    else if (found.endsWith('-->')) inComment = false;
    else if (!inComment && found.startsWith('</body')) body = match.index;
    else if (!inComment) document = match.index;
  }
  if (body >= 0) return body;
  return document >= 0 ? document : html.length;
}
