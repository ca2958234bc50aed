// The gallery at /gallery: complete in the sandbox, absent where emails are really sent.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestService, type TestService } from '../support/service.ts';
import { type SmtpSink, startSink } from '../support/smtp-sink.ts';

describe('in the sandbox', () => {
  let service: TestService;
  beforeAll(async () => {
    service = await startTestService();
  });
  afterAll(() => service.stop());
  const get = (path: string, init?: RequestInit) => fetch(`${service.url}${path}`, init);

  it('shows a page that lists every template and runs no script but its own', async () => {
    const answer = await get('/gallery');
    expect(answer.url).toBe(`${service.url}/gallery/`);
    expect(answer.status).toBe(200);
    const page = await answer.text();
    expect(page.match(/data-slug="/g)).toHaveLength(52);
    expect(answer.headers.get('content-security-policy')).toMatch(/script-src 'sha256-/);
    expect(answer.headers.get('content-security-policy')).not.toContain('unsafe');
  });

  it('has an email in every layout, light and dark, its text and its source', async () => {
    for (const layout of ['card', 'letter', 'bold']) {
      const [light, dark] = await Promise.all(
        ['light', 'dark'].map(async (scheme) => {
          const answer = await get(`/gallery/order-confirmation.${layout}.${scheme}.html`);
          expect(answer.headers.get('content-security-policy')).toContain("default-src 'none'");
          return await answer.text();
        }),
      );
      expect(light).toContain('Thank you for your order');
      // Pictures are inside it: nothing is loaded from anywhere.
      expect(light).toContain('src="data:image/png;base64,');
      expect(light).toContain('@media not all');
      expect(dark).toContain('@media all');
    }
    expect(await (await get('/gallery/order-confirmation.txt')).text()).toContain('£262.95');
    const source = await get('/gallery/order-confirmation.source.txt');
    expect(source.headers.get('content-type')).toBe('text/plain; charset=utf-8');
    expect(await source.text()).toContain('{% extends "layout.html" %}');
  });

  it('has nothing else', async () => {
    for (const name of ['layout.html', 'nope.card.light.html', '..%2f..%2fpackage.json', 'x/y']) {
      expect((await get(`/gallery/${name}`)).status, name).toBe(404);
    }
    expect((await get('/gallery/', { method: 'POST' })).status).toBe(405);
  });
});

describe('with a relay', () => {
  let service: TestService;
  let sink: SmtpSink;
  beforeAll(async () => {
    sink = await startSink();
    service = await startTestService({ RELAY_URL: sink.url });
  });
  afterAll(async () => {
    await service.stop();
    await sink.stop();
  });

  it('shows nothing', async () => {
    for (const path of ['/gallery', '/gallery/', '/gallery/welcome.card.light.html']) {
      expect((await fetch(`${service.url}${path}`)).status, path).toBe(404);
    }
  });
});
