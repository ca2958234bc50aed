// The open pixel: put into the email by insert.ts when it is composed, answered by inbound/open.ts.
import { escapeAttribute } from '../html/references.ts';

/** A transparent GIF of one pixel, 43 bytes. */
export const PIXEL_GIF = Buffer.from(
  'R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7',
  'base64',
);

/**
 * Not hidden: programs that skip invisible images would never load it. An empty alt keeps screen
 * readers silent.
 */
export function pixelImage(url: string): string {
  return `<img src="${escapeAttribute(url)}" width="1" height="1" alt="" style="border:0;width:1px;height:1px">`;
}
