// The docs as the service serves them: whatever a page links to is there too.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startTestService, type TestService } from '../support/service.ts';

let service: TestService;
beforeAll(async () => {
  service = await startTestService();
});
afterAll(() => service?.stop());

it('every link and picture of every page leads somewhere', async () => {
  const list = await (await fetch(`${service.url}/docs`)).text();
  const pages = [...list.matchAll(/\]\(([^)]+)\)/g)].map(([, page]) => page!);
  expect(pages.length).toBeGreaterThan(15);
  const links = new Map<string, string>();
  for (const page of pages) {
    const text = (await (await fetch(page)).text()).replace(/```[\s\S]*?```|`[^`\n]*`/g, '');
    for (const [, link] of text.matchAll(/\]\(([^)\s#]+)[^)]*\)/g)) {
      if (!/^[a-z]+:/.test(link!)) links.set(new URL(link!, page).href, page);
    }
  }
  const broken = [];
  for (const [link, page] of links) {
    const { status } = await fetch(link);
    if (status !== 200) broken.push(`${page} links to ${link}: ${status}`);
  }
  expect(broken).toEqual([]);
});

it('pictures are pictures, other files plain text, and nothing outside is served', async () => {
  const typeOf = async (path: string) => {
    const { status, headers } = await fetch(`${service.url}/docs/${path}`);
    return status === 200 ? headers.get('content-type') : status;
  };
  expect(await typeOf('macros/qr.png')).toBe('image/png');
  expect(await typeOf('schema.sql')).toBe('text/plain; charset=utf-8');
  expect(await typeOf('api.md')).toBe('text/markdown; charset=utf-8');
  for (const path of ['..%2fpackage.json', 'macros/..%2fschema.sql', 'macros', 'x.png']) {
    expect([path, await typeOf(path)]).toEqual([path, 404]);
  }
});
