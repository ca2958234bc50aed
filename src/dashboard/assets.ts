// The built pages (dist/web): files as they are, and index.html for every address that the app
// itself knows. Read once at start; they are few and small. All other routes on the port come
// first.
import { randomBytes } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { extname, join } from 'node:path';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { oneOf } from '../http/answer.ts';
import type { DashboardDeps } from './deps.ts';
import { pagePolicy, secure } from './security-headers.ts';

/** Marks the place of a nonce in index.html (Vite writes it, with html.cspNonce). */
const NONCE_PLACE = '__CSP_NONCE__';

/** The same for the path of BASE_URL, which all addresses on a page are relative to. */
const BASE_PLACE = '<base href="/" />';

const TYPES: Record<string, string> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.ico': 'image/x-icon',
  '.webp': 'image/webp',
  '.woff2': 'font/woff2',
  '.json': 'application/json',
  '.webmanifest': 'application/manifest+json',
  '.txt': 'text/plain; charset=utf-8',
  '.map': 'application/json',
};

interface Asset {
  type: string;
  cacheControl: string;
  bytes: Buffer;
  /** Compressed at the first request; absent if that gains nothing, as for images. */
  compressed: Partial<Record<Encoding, Buffer>> | null;
}

type Encoding = 'br' | 'gzip';

const NOT_BUILT = `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><title>Sandmartin</title></head>
<body>
<h1>Sandmartin is running</h1>
<p>The dashboard is not built. In the checkout, run: npm run build</p>
<p>The API is described at <a href="openapi.json">/openapi.json</a>.</p>
</body>
</html>
`;

type Deps = Pick<DashboardDeps, 'pagesFolder' | 'baseUrl' | 'asking'>;

export function serveAssets(
  scope: FastifyInstance,
  { pagesFolder: folder, baseUrl, asking }: Deps,
): void {
  const assets = readAssets(folder);
  const index = existsSync(join(folder, 'index.html'))
    ? readFileSync(join(folder, 'index.html'), 'utf8')
    : NOT_BUILT;

  scope.get('/*', (request, reply) => {
    const asset = assets.get(pathOf(request));
    if (asset !== undefined) return sendAsset(request, reply, asset, baseUrl());
    if (!wantsPage(request)) return reply.callNotFound();
    // A browser, which now loads the scripts; they call at once.
    if (index !== NOT_BUILT && request.headers['sec-fetch-mode'] === 'navigate') {
      asking.notePage((name) => oneOf(request.headers[name]), request.url);
    }
    const nonce = randomBytes(16).toString('base64');
    secure(reply, baseUrl(), pagePolicy(nonce));
    return reply
      .headers({ 'content-type': TYPES['.html'], 'cache-control': 'no-cache' })
      .send(index.replace(BASE_PLACE, baseElement(baseUrl())).replaceAll(NONCE_PLACE, nonce));
  });
}

const baseElement = (baseUrl: string): string =>
  `<base href="${new URL(baseUrl).pathname.replace(/\/*$/, '/').replaceAll('"', '%22')}" />`;

const pathOf = (request: FastifyRequest): string => request.url.split('?', 1)[0]!;

/** Browsers request pages as text/html; programs that mistype an address of the API do not. */
function wantsPage(request: FastifyRequest): boolean {
  const path = pathOf(request);
  if (path === '/') return true;
  return (
    /\btext\/html\b/.test(request.headers.accept ?? '') &&
    !/^\/(v1|mcp|dashboard|assets)(\/|$)/.test(path)
  );
}

function sendAsset(
  request: FastifyRequest,
  reply: FastifyReply,
  asset: Asset,
  baseUrl: string,
): FastifyReply {
  secure(reply, baseUrl);
  reply.headers({
    'content-type': asset.type,
    'cache-control': asset.cacheControl,
    vary: 'accept-encoding',
  });
  const encoding = chooseEncoding(request);
  if (asset.compressed === null || encoding === undefined) return reply.send(asset.bytes);
  asset.compressed[encoding] ??= compress[encoding](asset.bytes);
  return reply.header('content-encoding', encoding).send(asset.compressed[encoding]);
}

function chooseEncoding(request: FastifyRequest): Encoding | undefined {
  const accepted = String(request.headers['accept-encoding'] ?? '').split(/[\s,;]+/);
  return (['br', 'gzip'] as const).find((encoding) => accepted.includes(encoding));
}

const compress: Record<Encoding, (bytes: Buffer) => Buffer> = {
  br: (bytes) => brotliCompressSync(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 6 } }),
  gzip: (bytes) => gzipSync(bytes),
};

/** By path. Files under assets/ have a hash in their name: they never change. */
function readAssets(folder: string): Map<string, Asset> {
  if (!existsSync(folder)) return new Map();
  const files = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name !== 'index.html')
    .map((entry) => join(entry.parentPath, entry.name));
  return new Map(
    files.map((file) => {
      const path = file.slice(folder.length).replaceAll('\\', '/').replace(/^\/?/, '/');
      return [path, readAsset(file, path)];
    }),
  );
}

function readAsset(file: string, path: string): Asset {
  const type = TYPES[extname(file)] ?? 'application/octet-stream';
  return {
    type,
    cacheControl: path.startsWith('/assets/')
      ? 'public, max-age=31536000, immutable'
      : 'public, max-age=3600',
    bytes: readFileSync(file),
    compressed: /^text|json|svg/.test(type) ? {} : null,
  };
}
