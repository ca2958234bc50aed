// The few pages recipients see: one sentence, perhaps one button. No script, nothing loaded from
// elsewhere.
import type { ServerResponse } from 'node:http';
import { escapeAttribute } from '../html/references.ts';

export interface Page {
  title: string;
  text: string;
  /** A form that posts to the page's own address. */
  button?: string;
}

export function sendPage(response: ServerResponse, status: number, page: Page): void {
  const body = Buffer.from(render(page));
  response
    .writeHead(status, {
      'content-type': 'text/html; charset=utf-8',
      'content-length': body.length,
      'cache-control': 'no-store, private',
      'content-security-policy':
        "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; frame-ancestors 'none'",
      'referrer-policy': 'no-referrer',
      'x-content-type-options': 'nosniff',
      'x-robots-tag': 'noindex',
    })
    .end(body);
}

function render({ title, text, button }: Page): string {
  const form =
    button === undefined
      ? ''
      : `<form method="post"><button type="submit">${escapeAttribute(button)}</button></form>`;
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeAttribute(title)}</title>
<style>
  :root { color-scheme: light dark; }
  body { font: 1.05rem/1.5 system-ui, sans-serif; max-width: 34rem; margin: 15vh auto 0; padding: 0 1.25rem; }
  h1 { font-size: 1.5rem; }
  button { font: inherit; padding: .6rem 1.2rem; border: 0; border-radius: .5rem; background: #00734f; color: #fff; cursor: pointer; }
</style>
</head>
<body>
<main>
<h1>${escapeAttribute(title)}</h1>
<p>${escapeAttribute(text)}</p>
${form}
</main>
</body>
</html>
`;
}
