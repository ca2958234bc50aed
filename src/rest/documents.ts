// The docs as Markdown at /docs, with the pictures and files that they link to, and /llms.txt,
// which tells programs that read for a person where everything is. Read once at start: requests are
// looked up in a list of names and never become a path.
import { readdirSync, readFileSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { extname, join, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { HttpHandler } from '../http/answer.ts';

/** Beside src/ and dist/. */
const folder = fileURLToPath(new URL('../../docs/', import.meta.url));

interface Document {
  name: string;
  title: string;
  text: string;
}

/** By path, as the router writes it. */
export function documentRoutes(baseUrl: () => string): Record<string, HttpHandler> {
  const documents = readDocuments();
  const byName = new Map(documents.map((it) => [it.name, it]));
  const files = readFiles();
  return {
    '/llms.txt': (request, response) =>
      write(request, response, 200, 'text/plain', llmsText(documents, baseUrl())),
    '/docs': (request, response) =>
      write(request, response, 200, 'text/markdown', listOf(documents, baseUrl())),
    '/docs/*': (request, response) => {
      const [path = ''] = (request.url ?? '').split('?');
      const file = files.get(path.replace(/^\/docs\//, ''));
      if (file !== undefined) return write(request, response, 200, file.type, file.bytes);
      const name = path.slice(path.lastIndexOf('/') + 1).replace(/\.md$/, '');
      const found = byName.get(name);
      if (found !== undefined) return write(request, response, 200, 'text/markdown', found.text);
      const other = `# There is no such page\n\n${listOf(documents, baseUrl())}`;
      write(request, response, 404, 'text/markdown', other);
    },
  };
}

function readDocuments(): Document[] {
  return readdirSync(folder)
    .filter((file) => file.endsWith('.md'))
    .sort()
    .map((file) => {
      const text = readFileSync(join(folder, file), 'utf8');
      const title = /^# (.+)$/m.exec(text)?.[1] ?? file;
      return { name: file.slice(0, -3), title, text };
    });
}

/** The files beside the documents, by path. */
function readFiles(): Map<string, { type: string; bytes: Buffer }> {
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' });
  return new Map(
    files.flatMap((file): [string, { type: string; bytes: Buffer }][] => {
      const type = TYPES[extname(file)];
      const path = file.replaceAll(sep, '/');
      return type === undefined ? [] : [[path, { type, bytes: readFileSync(join(folder, file)) }]];
    }),
  );
}

const TYPES: Record<string, string> = { '.png': 'image/png', '.sql': 'text/plain' };

const listOf = (documents: readonly Document[], baseUrl: string): string =>
  documents.map(({ name, title }) => `- [${title}](${baseUrl}/docs/${name}.md)`).join('\n');

/** In the form of llmstxt.org. */
const llmsText = (documents: readonly Document[], baseUrl: string): string => `# Sandmartin

> Transactional email you run yourself: one call queues an email, one call tells its whole story. REST at ${baseUrl}/v1, MCP at ${baseUrl}/mcp; the key goes into X-API-Key or Authorization: Bearer.

## API

- [OpenAPI](${baseUrl}/openapi.json): every operation with its fields

## Docs

${listOf(documents, baseUrl)}
`;

function write(
  request: IncomingMessage,
  response: ServerResponse,
  status: number,
  type: string,
  content: string | Buffer,
): void {
  request.resume();
  const bytes = Buffer.from(content);
  response.writeHead(status, {
    'content-type': type.startsWith('text/') ? `${type}; charset=utf-8` : type,
    'content-length': bytes.length,
    'cache-control': 'public, max-age=300',
    'x-content-type-options': 'nosniff',
  });
  response.end(request.method === 'HEAD' ? undefined : bytes);
}
