// HTML as a small tree: elements and text, nothing else. Before it: tokens.ts. After it:
// plain-text.ts. Elements are nested as in browsers, as far as text needs it: end tags may be
// missing or misplaced, but nothing is moved.
import { type ElementKind, elementKind } from './elements.ts';
import { Tokens } from './tokens.ts';

export interface Element {
  /** '' for the root. */
  kind: ElementKind;
  /** What `data-text` says about it; `skip` also for what is not displayed. */
  meaning: string | undefined;
  /** Where a link or button leads. */
  href: string | undefined;
  /** The alternative text of an image. */
  alt: string | undefined;
  /** Text is as people read it. */
  children: (Element | string)[];
}

/**
 * Deeper elements become children of the last level: no page can exhaust the stack, and no end tag
 * has to search further for its start. Fifteen nested tables reach half of it.
 */
const depthMax = 128;

const ATTRIBUTES = ['data-text', 'style', 'href', 'alt'] as const;

export function parseHtml(html: string): Element {
  const tokens = new Tokens(html, ATTRIBUTES);
  const root = newElement(elementKind(''));
  const open: Element[] = [root];
  // The last element opened, if it had nothing to end: another of its kind on the same level has
  // nothing to end either. And the last end tag without a start, until something opens or ends.
  // Without these, 65,000 of either on the last level each searched 120 blocks.
  let endedNothing: ElementKind | undefined;
  let closedNothing: ElementKind | undefined;
  let level = 0;
  while (tokens.next()) {
    const { element: kind } = tokens;
    if (tokens.kind === 'close') {
      if (kind === closedNothing) continue;
      const before = open.length;
      closeElement(open, kind);
      closedNothing = open.length === before ? kind : undefined;
      continue;
    }
    if (tokens.kind === 'open' && (kind !== endedNothing || open.length !== level)) {
      level = open.length;
      endOthers(open, kind);
      endedNothing = open.length === level ? kind : undefined;
      if (open.length !== level) closedNothing = undefined;
    }
    const parent = open[open.length - 1]!;
    const isShown = parent.meaning !== 'skip';
    if (tokens.kind === 'text') {
      if (isShown && !kind.hidden) parent.children.push(tokens.words());
      continue;
    }
    const element = newElement(kind, isShown ? meaningOf(kind, tokens) : 'skip', tokens);
    if (isShown) parent.children.push(element);
    const isEmpty = kind.empty || (kind.name === 'svg' && tokens.selfClosing);
    if (isEmpty || open.length >= depthMax) continue;
    open.push(element);
    closedNothing = undefined;
  }
  return root;
}

function newElement(kind: ElementKind, meaning?: string, tokens?: Tokens): Element {
  const leads = kind.name === 'a' || meaning === 'button';
  return {
    kind,
    meaning,
    href: leads ? tokens?.attribute('href') : undefined,
    alt: kind.name === 'img' ? tokens?.attribute('alt') : undefined,
    children: [],
  };
}

function meaningOf(kind: ElementKind, tokens: Tokens): string | undefined {
  if (kind.hidden) return 'skip';
  const style = tokens.written('style');
  const isDisplayed = style === undefined || !/display\s*:\s*none/i.test(style);
  return tokens.attribute('data-text') ?? (isDisplayed ? undefined : 'skip');
}

/**
 * Closes what a start tag ends implicitly: paragraphs by blocks, items by items, cells by cells.
 */
function endOthers(open: Element[], kind: ElementKind): void {
  const { ends, endsWithin, endsParagraph } = kind;
  if (ends.length > 0) {
    let level = open.length - 1;
    let outermost = 0;
    for (; level > 0; level--) {
      const { name, rank } = open[level]!.kind;
      if (ends.includes(name)) {
        outermost = level;
        if (endsWithin === 'block') break;
      } else if (endsWithin === 'table' ? name === 'table' : isBarrier(name, rank)) break;
    }
    if (outermost > 0) closeTo(open, outermost);
  }
  if (endsParagraph) closeParagraph(open);
}

/** An item inside a nested list, table and so on does not end the one outside. */
function isBarrier(name: string, rank: ElementKind['rank']): boolean {
  return (
    (rank === 'block' || rank === 'scope') && name !== 'p' && name !== 'div' && name !== 'address'
  );
}

/** No block is inside a paragraph, so an open one is near. */
function closeParagraph(open: Element[]): void {
  for (let level = open.length - 1; level > 0; level--) {
    const { name, rank } = open[level]!.kind;
    if (name === 'p') closeTo(open, level);
    if (rank === 'block' || rank === 'scope') return;
  }
}

/**
 * Closes the innermost open element of that name and all inside it; an end tag without a start is
 * ignored.
 */
function closeElement(open: Element[], { name, rank, endsWithin }: ElementKind): void {
  for (let level = open.length - 1; level > 0; level--) {
    const { kind } = open[level]!;
    if (kind.name === name) {
      closeTo(open, level);
      return;
    }
    if (endsWithin === 'table' ? kind.name === 'table' : stops(kind.rank, rank)) return;
  }
}

function closeTo(open: Element[], level: number): void {
  while (open.length > level) open.pop();
}

/**
 * A table cell stops end tags of elements around the table; a block stops those of inline elements
 * around it.
 */
function stops(around: ElementKind['rank'], closing: ElementKind['rank']): boolean {
  return around === 'scope' ? closing !== 'scope' : around === 'block' && closing === 'inline';
}
