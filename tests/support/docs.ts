// The blocks of code of README and docs/, for the tests that run them. A test names the block it
// runs by a call of `blockOf` or `blocksOf` with literal strings: tests/docs/accounted.test.ts
// finds these calls, and a block that none of them reads.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

export const ROOT = join(import.meta.dirname, '../..');

export interface Block {
  page: string;
  /** What stands behind the fence: `json`, `sh`; empty for commands and files without a name. */
  language: string;
  text: string;
}

export const PAGES = [
  'README.md',
  'CONTRIBUTING.md',
  'SECURITY.md',
  ...readdirSync(join(ROOT, 'docs'))
    .filter((name) => name.endsWith('.md'))
    .map((name) => `docs/${name}`),
];

const FENCED = /^ *```(.*)\n([\s\S]*?)^ *```$/gm;

export const readPage = (page: string): string => readFileSync(join(ROOT, page), 'utf8');

/** What is written between the blocks. */
export const proseOf = (page: string): string => readPage(page).replaceAll(FENCED, '');

export const BLOCKS: readonly Block[] = PAGES.flatMap((page) =>
  [...readPage(page).matchAll(FENCED)].map(([, language, text]) => ({
    ...{ page, language: language!, text: text! },
  })),
);

/** The block that begins so. */
export function blockOf(page: string, start: string): string {
  const found = BLOCKS.filter((block) => block.page === page && block.text.startsWith(start));
  if (found.length !== 1) {
    throw new Error(`${found.length} blocks of ${page} begin with "${start}"`);
  }
  return found[0]!.text;
}

/** All blocks of a page in one language. */
export function blocksOf(page: string, language: string): string[] {
  const found = BLOCKS.filter((block) => block.page === page && block.language === language);
  if (found.length === 0) throw new Error(`${page} has no block in ${language}`);
  return found.map(({ text }) => text);
}

/** `text` with each string replaced, all of which it must contain. */
export function substituted(text: string, mine: Record<string, string>): string {
  for (const [page, own] of Object.entries(mine)) {
    if (!text.includes(page)) throw new Error(`"${page}" is not in:\n${text}`);
    text = text.replaceAll(page, () => own);
  }
  return text;
}
