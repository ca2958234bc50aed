// The few pages recipients see: one sentence, perhaps one button, or the preference page. They have
// no script and load nothing from elsewhere except an account's own logo.
import type { ServerResponse } from 'node:http';
import { pipeline, Readable } from 'node:stream';
import { escapeAttribute } from '../html/references.ts';

export interface Page {
  title: string;
  text: string;
  /** A form that posts to the page's own URL. */
  button?: string;
  /** Where else to go, relative to the page's own URL. */
  link?: { to: string; text: string };
}

export function sendPage(response: ServerResponse, status: number, page: Page): void {
  sendDocument(response, status, { title: page.title, body: render(page) });
}

export interface Document<Body = string> {
  title: string;
  /** HTML, in which everything quoted is already escaped. */
  body: Body;
  /** CSS in addition to that of every page. */
  style?: string;
}

export function sendDocument(response: ServerResponse, status: number, document: Document): void {
  const body = Buffer.from([...framed({ ...document, body: [document.body] })].join(''));
  response.writeHead(status, { ...HEADERS, 'content-length': body.length }).end(body);
}

/** A long one, as fast as it is read. */
export function sendInPieces(
  response: ServerResponse,
  status: number,
  document: Document<Iterable<string>>,
): void {
  response.writeHead(status, HEADERS);
  const pieces = Readable.from(framed(document), { objectMode: false });
  pipeline(pieces, response, () => undefined);
}

const HEADERS = {
  'content-type': 'text/html; charset=utf-8',
  'cache-control': 'no-store, private',
  'content-security-policy':
    "default-src 'none'; style-src 'unsafe-inline'; img-src https:; form-action 'self'; frame-ancestors 'none'; base-uri 'none'",
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'x-robots-tag': 'noindex',
};

function render({ title, text, button, link }: Page): string {
  const form =
    button === undefined
      ? ''
      : `<form method="post"><button type="submit">${escapeAttribute(button)}</button></form>`;
  const other =
    link === undefined
      ? ''
      : `<p><a href="${escapeAttribute(link.to)}">${escapeAttribute(link.text)}</a></p>`;
  return `<h1>${escapeAttribute(title)}</h1>
<p>${escapeAttribute(text)}</p>
${form}
${other}`;
}

function* framed({ title, body, style = '' }: Document<Iterable<string>>): Generator<string> {
  yield `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeAttribute(title)}</title>
<style>
  :root { color-scheme: light dark; --button: #00734f; --on-button: #fff; --edge: transparent; --radius: 8px; }
  body { font: 1.05rem/1.5 system-ui, sans-serif; max-width: 34rem; margin: 15vh auto 2rem; padding: 0 1.25rem; overflow-wrap: anywhere; }
  h1 { font-size: 1.5rem; line-height: 1.25; }
  button { font: inherit; padding: .6rem 1.2rem; border: 1px solid var(--edge); border-radius: var(--radius); background: var(--button); color: var(--on-button); cursor: pointer; }
  a { color: inherit; }
  :focus-visible { outline: 3px solid currentColor; outline-offset: 2px; }
${style}</style>
</head>
<body>
<main>
`;
  yield* body;
  yield `
</main>
</body>
</html>
`;
}
