// The pages as files: fallback to index.html, caching, security headers, the frame for emails; the
// API keeps its addresses.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Fastify, { type FastifyInstance } from 'fastify';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { serveAssets } from '../../src/dashboard/assets.ts';
import { createAsking } from '../../src/process/asked.ts';
import { startTestService, type TestService } from '../support/service.ts';

const HTML = { accept: 'text/html,application/xhtml+xml' };

describe('a built app', () => {
  const folder = mkdtempSync(join(tmpdir(), 'sandmartin-pages-'));
  let server: FastifyInstance;

  beforeAll(async () => {
    mkdirSync(join(folder, 'assets'));
    writeFileSync(join(folder, 'index.html'), '<style nonce="__CSP_NONCE__"></style>App');
    writeFileSync(join(folder, 'assets/main-4f2a.js'), `console.log(1);${' '.repeat(2000)}`);
    writeFileSync(join(folder, 'assets/logo-1.png'), Buffer.from([137, 80]));
    writeFileSync(join(folder, 'favicon.svg'), '<svg/>');
    server = Fastify();
    server.get('/v1/known', () => ({ known: true }));
    serveAssets(server, {
      ...{ pagesFolder: folder, baseUrl: () => 'http://localhost' },
      asking: createAsking(['http://localhost']),
    });
    await server.ready();
  });

  afterAll(async () => {
    await server.close();
    rmSync(folder, { recursive: true });
  });

  it('every address of the app answers its page, with a nonce of its own', async () => {
    const nonces = new Set<string>();
    for (const url of ['/', '/messages/msg_01', '/invitation?x=1']) {
      const answer = await server.inject({ url, headers: HTML });
      expect(answer.statusCode).toBe(200);
      expect(answer.headers['cache-control']).toBe('no-cache');
      const nonce = /nonce="([^"]+)"/.exec(answer.body)![1]!;
      expect(answer.headers['content-security-policy']).toContain(
        `style-src 'self' 'nonce-${nonce}'`,
      );
      nonces.add(nonce);
    }
    expect(nonces.size).toBe(3);
  });

  it('hashed files are kept forever, others for an hour; text comes compressed', async () => {
    const script = await server.inject({
      url: '/assets/main-4f2a.js',
      headers: { 'accept-encoding': 'gzip, br' },
    });
    expect(script.headers).toMatchObject({
      'content-type': 'text/javascript; charset=utf-8',
      'cache-control': 'public, max-age=31536000, immutable',
      'content-encoding': 'br',
      vary: 'accept-encoding',
      'x-content-type-options': 'nosniff',
    });
    const plain = await server.inject('/assets/main-4f2a.js');
    expect(plain.headers['content-encoding']).toBeUndefined();
    expect(plain.body).toMatch(/^console/);
    const image = await server.inject({
      url: '/assets/logo-1.png',
      headers: { 'accept-encoding': 'br' },
    });
    expect(image.headers['content-encoding']).toBeUndefined();
    const icon = await server.inject('/favicon.svg');
    expect(icon.headers['cache-control']).toBe('public, max-age=3600');
  });

  it('what is not there is not found: no page for programs, lost files and the API', async () => {
    for (const [url, headers] of [
      ['/messages', { accept: 'application/json' }],
      ['/v1/unknown', HTML],
      ['/v1', HTML],
      ['/mcp/x', HTML],
      ['/dashboard/api/nothing', HTML],
      ['/assets/gone-1234.js', HTML],
      ['/../package.json', {}],
      ['/assets/..%2f..%2fpackage.json', {}],
    ] as const) {
      expect([url, (await server.inject({ url, headers })).statusCode]).toEqual([url, 404]);
    }
    expect((await server.inject({ url: '/v1/known', headers: HTML })).json()).toEqual({
      known: true,
    });
  });
});

describe('the running service', () => {
  let service: TestService;

  beforeAll(async () => {
    service = await startTestService();
  });

  afterAll(() => service.stop());

  const get = (path: string, headers: Record<string, string> = HTML) =>
    fetch(`${service.url}${path}`, { headers });

  const json = async (path: string): Promise<Record<string, unknown>> =>
    (await (await get(path)).json()) as Record<string, unknown>;

  it('pages load nothing from elsewhere and stand in no frame', async () => {
    const page = await get('/');
    expect(page.status).toBe(200);
    const policy = page.headers.get('content-security-policy')!;
    expect(policy).toContain(`default-src 'none'`);
    expect(policy).toContain(`script-src 'self';`);
    expect(policy).toContain(`frame-ancestors 'none'`);
    expect(policy).not.toContain('unsafe');
    expect(Object.fromEntries(page.headers)).toMatchObject({
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'no-referrer',
      'cross-origin-opener-policy': 'same-origin',
      'cross-origin-resource-policy': 'same-origin',
      'permissions-policy': expect.stringContaining('camera=()'),
    });
  });

  it('answers of the API are never kept and never shown as pages', async () => {
    const answer = await get('/dashboard/api/session');
    expect(answer.headers.get('cache-control')).toBe('no-store');
    expect(answer.headers.get('content-security-policy')).toBe(
      `default-src 'none'; frame-ancestors 'none'; sandbox`,
    );
  });

  it('the frame for emails runs its own script only, in an origin of its own', async () => {
    const frame = await get('/dashboard/preview-frame');
    const policy = frame.headers.get('content-security-policy')!;
    expect(policy).toMatch(/^sandbox allow-scripts allow-popups allow-popups-to-escape-sandbox;/);
    expect(policy).not.toContain('allow-same-origin');
    expect(policy).toMatch(/script-src 'sha256-[\w+/=]+';/);
    expect(policy).toContain(`frame-ancestors 'self'`);
    expect(policy).not.toContain('connect-src');
  });

  it('the API keeps its addresses and its way to say that something is not there', async () => {
    expect((await json('/healthz')).status).toBe('ok');
    expect((await json('/openapi.json')).openapi).toBe('3.1.0');
    expect((await get('/v1/nothing')).status).toBe(404);
    expect((await json('/v1/nothing')).detail).toContain('/openapi.json');
    expect((await get('/dashboard/api/nothing')).status).toBe(404);
  });
});
