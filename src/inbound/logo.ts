// GET /logos/ACCOUNT/HASH.png: a logo that an account uploaded, for email programs and the
// preference page. A URL always means the same image, so clients never need to ask again.
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Queryable } from '../store/pool.ts';
import { logoNameIn } from '../templates/logo-names.ts';
import { findLogo } from '../templates/logos.ts';

export async function answerLogo(
  { database }: { database: Queryable },
  { method, url = '', headers }: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  if (method !== 'GET' && method !== 'HEAD') {
    response.writeHead(405, { allow: 'GET, HEAD' }).end();
    return;
  }
  const name = logoNameIn(url.split('?', 1)[0]!);
  const logo = name && (await findLogo(database, name));
  if (logo === undefined) {
    response.writeHead(404, { 'cache-control': 'no-store' }).end();
    return;
  }
  const etag = `"${logo.hash.slice(0, 32)}"`;
  const caching = { 'cache-control': 'public, max-age=31536000, immutable', etag };
  if (headers['if-none-match']?.includes(etag)) {
    response.writeHead(304, caching).end();
    return;
  }
  response
    .writeHead(200, {
      ...caching,
      'content-type': logo.contentType,
      'content-length': logo.content.length,
      // A stranger's bytes on our origin must be nothing but an image.
      'x-content-type-options': 'nosniff',
      'content-security-policy': "default-src 'none'; sandbox",
      'cross-origin-resource-policy': 'cross-origin',
      'x-robots-tag': 'noindex',
    })
    .end(method === 'HEAD' ? undefined : logo.content);
}
