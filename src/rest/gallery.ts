// GET /gallery: every system template, for people who have just started the service in the sandbox.
// With a real relay it is absent: a server on the internet shows strangers nothing it need not.
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { HttpHandler } from '../http/answer.ts';
import type { Catalog } from '../templates/catalog.ts';
import { GALLERY_PAGE, openGallery } from '../templates/gallery.ts';
import { PAGE_POLICY } from '../templates/gallery-page.ts';
import type { Making } from '../templates/making.ts';

/** Emails run nothing and load nothing; what they carry is inside them. */
const MAIL_POLICY =
  "default-src 'none'; style-src 'unsafe-inline'; img-src data:; sandbox allow-same-origin";

/** By path, as the router writes it. */
export function galleryRoutes(deps: {
  catalog: Catalog;
  making: Making;
  inSandbox: () => boolean;
}): Record<string, HttpHandler> {
  const gallery = openGallery(deps);

  async function answer({ method, url = '' }: IncomingMessage, response: ServerResponse) {
    if (method !== 'GET' && method !== 'HEAD') {
      response.writeHead(405, { allow: 'GET, HEAD' }).end();
      return;
    }
    const [path = ''] = url.split('?');
    // Its parts are next to the page, as in a folder of files.
    if (path === '/gallery' && deps.inSandbox()) {
      response.writeHead(302, { location: '/gallery/' }).end();
      return;
    }
    const name = path.slice('/gallery/'.length) || GALLERY_PAGE;
    const file = deps.inSandbox() ? await gallery.file(name) : undefined;
    if (file === undefined) {
      response.writeHead(404, { 'cache-control': 'no-store' }).end();
      return;
    }
    const policy = name === GALLERY_PAGE ? PAGE_POLICY : MAIL_POLICY;
    response
      .writeHead(200, {
        'content-type': file.contentType,
        'content-length': Buffer.byteLength(file.body),
        'cache-control': 'no-cache',
        'content-security-policy': policy,
        'x-content-type-options': 'nosniff',
        'x-robots-tag': 'noindex',
      })
      .end(method === 'HEAD' ? undefined : file.body);
  }

  const safely: HttpHandler = (request, response) => {
    answer(request, response).catch(() => {
      if (!response.headersSent) response.writeHead(503, { 'retry-after': '1' });
      response.end();
    });
  };
  return { '/gallery': safely, '/gallery/*': safely };
}
