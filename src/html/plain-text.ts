// Plain text from HTML, as a person would write it. Used when a template is sent and `text` is
// blank. Before it: a rendered email. After it: the text part. Tables say with `data-text` what
// they mean (see docs/templates.md).
import { LINE_WIDTH, longestOf, type Marks, Page, width, wrap } from './text-page.ts';
import { type Element, parseHtml } from './tree.ts';

/** In time linear in the HTML; the text is at most three times as long, whatever is in it. */
export function htmlToPlainText(html: string): string {
  const page = new Page(html.length + 4096, marksOf(html));
  // `\v` means a line break here; one in the email is white space like any other.
  writeChildren(page, parseHtml(html.includes('\v') ? html.replaceAll('\v', ' ') : html));
  return page.finish();
}

const ENGLISH_MARKS: Marks = {
  colon: ': ',
  comma: ', ',
  figure: (value, label) => `${value} ${label}`,
};
const MARKS = new Map<string, Marks>([
  ['ar', { ...ENGLISH_MARKS, comma: '، ' }],
  ['fr', { ...ENGLISH_MARKS, colon: '\u00a0: ' }],
  ['ja', { colon: '：', comma: '、', figure: (value, label) => `${label} ${value}` }],
]);

/** As the language of the page writes them; a page that says its language says it at once. */
function marksOf(html: string): Marks {
  const [, language = ''] = /<html\s[^<>]*?\blang="?([a-z]+)/i.exec(html.slice(0, 400)) ?? [];
  return MARKS.get(language.toLowerCase()) ?? ENGLISH_MARKS;
}

// ---- What each element becomes ------------------------------------------------------------------

function write(page: Page, element: Element): void {
  const { kind, meaning } = element;
  if (meaning === 'skip') return;
  const writer =
    (meaning === undefined ? undefined : meanings.get(meaning)) ?? elements.get(kind.name);
  if (writer) writer(page, element);
  else if (kind.rank === 'block') ownLines(page, element);
  else writeChildren(page, element);
}

function writeChildren(page: Page, element: Element): void {
  for (const child of element.children) {
    if (typeof child === 'string') page.words(child);
    else write(page, child);
  }
}

type Writer = (page: Page, element: Element) => void;

const block =
  (blankLines: number): Writer =>
  (page, element) => {
    page.separate(blankLines);
    writeChildren(page, element);
    page.separate(blankLines);
  };

const ownLines = block(0);
const paragraph = block(1);

const underlined =
  (mark: string): Writer =>
  (page, element) => {
    const lines = wrap(inner(element), LINE_WIDTH);
    page.separate(1);
    if (lines.length > 0)
      page.lines([...lines, page.ornament(mark, Math.min(longestOf(lines), LINE_WIDTH))]);
    page.separate(1);
  };

const list =
  (prefixOf: (index: number) => string, items: (element: Element) => Element[]): Writer =>
  (page, element) => {
    page.separate(1);
    for (const [index, item] of items(element).entries()) {
      const prefix = prefixOf(index);
      page.separate(0);
      page.indented(prefix, ' '.repeat(prefix.length), () => writeChildren(page, item));
      page.separate(0);
    }
    page.separate(1);
  };

const bulleted = list(
  () => '- ',
  (element) => named(element, 'li'),
);

/** Other blocks get lines of their own, everything else stays in the line. */
const elements = new Map<string, Writer>(
  Object.entries({
    p: paragraph,
    table: paragraph,
    caption: ownLines,
    tr: row,
    h1: underlined('='),
    h2: underlined('-'),
    h3: paragraph,
    h4: paragraph,
    h5: paragraph,
    h6: paragraph,
    figure: paragraph,
    dl: paragraph,
    dd: (page, element) => {
      page.separate(0);
      page.indented('  ', '  ', () => writeChildren(page, element));
    },
    pre: (page, element) => {
      page.separate(1);
      page.lines(inner(element).replace(/^\n/, '').trimEnd().split(/\n|\v/));
      page.separate(1);
    },
    ul: bulleted,
    menu: bulleted,
    dir: bulleted,
    ol: list(
      (index) => `${index + 1}. `,
      (element) => named(element, 'li'),
    ),
    blockquote: quote,
    a: link,
    br: (page) => page.words('\v'),
    hr: (page) => rule(page, 20),
    img: (page, element) => page.words(element.alt ?? ''),
  }),
);

const meanings = new Map<string, Writer>(
  Object.entries({
    break: (page) => page.words('\v'),
    button,
    code: (page, element) => {
      page.separate(1);
      const code = inner(element).trim().split('\v');
      page.lines(code.map((line) => `    ${line.trim()}`));
      page.separate(1);
    },
    divider: (page) => rule(page, 20),
    rule: (page) => rule(page, 2),
    quote,
    list: list(() => '- ', rows),
    steps: list((index) => `${index + 1}. `, rows),
    pairs: (page, element) => {
      page.separate(1);
      for (const pair of rows(element)) {
        const [key, ...values] = cells(pair).map((cell) => inner(cell).trim());
        page.lines(wrap(`${key}${page.marks.colon}${values.join(' ')}`, LINE_WIDTH));
      }
      page.separate(1);
    },
    items,
    stats: (page, element) => {
      page.separate(1);
      for (const figure of named(element, 'td')) {
        const [value = '', label, ...rest] = inner(figure)
          .split('\v')
          .map((line) => line.trim())
          .filter((line) => line !== '');
        const parts = [label === undefined ? value : page.marks.figure(value, label), ...rest];
        page.lines(wrap(parts.join(page.marks.comma), LINE_WIDTH));
      }
      page.separate(1);
    },
    rating: (page, element) => {
      page.separate(1);
      const choices = named(element, 'a');
      const [lowest, highest] = named(element, 'td')
        .filter((cell) => named(cell, 'a').length === 0)
        .map((cell) => inner(cell).trim());
      for (const [index, choice] of choices.entries()) {
        const end = index === 0 ? lowest : index === choices.length - 1 ? highest : '';
        const label = inner(choice).trim();
        const which = `${label}${end ? ` (${end})` : ''}`;
        page.lines([`${which}${page.marks.colon}${choice.href ?? ''}`]);
      }
      page.separate(1);
    },
  }),
);

/**
 * A row of a table that says nothing about itself: cells that contain blocks stack, others are
 * placed side by side.
 */
function row(page: Page, element: Element): void {
  page.separate(0);
  let first = true;
  for (const cell of cells(element)) {
    if (cell.children.some((child) => typeof child !== 'string' && isBlock(child))) {
      page.separate(0);
      write(page, cell);
      page.separate(0);
      first = true;
      continue;
    }
    const text = inner(cell);
    if (text.trim() === '') continue;
    if (!first) page.words(' | ');
    page.words(text);
    first = false;
  }
  page.separate(0);
}

/**
 * Names to the left, amounts to the right in one column, details indented below their name, sums
 * apart from items.
 */
function items(page: Page, element: Element): void {
  const table = rows(element).map((item) => {
    const [left = '', ...right] = cells(item).map((cell) => inner(cell).trim());
    const [name = '', ...details] = left.split('\v').flatMap((line) => wrap(line, LINE_WIDTH - 20));
    const isSum = item.meaning === 'sum';
    return { name, details, amount: right.join('  '), isSum };
  });
  // A name or an amount longer than a line sticks out of its column; the others are not moved.
  const names = Math.min(LINE_WIDTH, longestOf(table.map((item) => item.name)));
  const amounts = Math.min(LINE_WIDTH, longestOf(table.map((item) => item.amount)));
  page.separate(1);
  for (const [index, { name, details, amount, isSum }] of table.entries()) {
    if (isSum && index > 0 && !table[index - 1]!.isSum) page.separate(1);
    const space = names + 4 + amounts - width(name) - width(amount);
    const line = amount === '' ? name : `${name}${page.ornament(' ', Math.max(4, space))}${amount}`;
    page.lines([line, ...details.map((detail) => `  ${detail}`)]);
  }
  page.separate(1);
}

function quote(page: Page, element: Element): void {
  page.separate(1);
  page.indented('> ', '> ', () => writeChildren(page, element));
  page.separate(1);
}

function button(page: Page, element: Element): void {
  page.separate(1);
  page.words(`${inner(element).trim()}${page.marks.colon}${element.href ?? ''}`);
  page.separate(1);
}

function link(page: Page, element: Element): void {
  page.words(withAddress(element));
}

/** The words of a link and where it leads, if they do not say so themselves. */
function withAddress(element: Element): string {
  const text = inner(element);
  const address = (element.href ?? '').trim().replace(/^(?:mailto|tel):/i, '');
  const label = text.trim();
  if (address === '' || address.startsWith('#') || same(label, address)) return text;
  return label === '' ? ` ${address} ` : `${text.trimEnd()} (${address})`;
}

function rule(page: Page, dashes: number): void {
  page.separate(1);
  page.lines([page.ornament('-', dashes)]);
  page.separate(1);
}

function same(label: string, address: string): boolean {
  const bare = (text: string) => text.replace(/^https?:\/\//i, '').replace(/\/$/, '');
  return bare(label).toLowerCase() === bare(address).toLowerCase();
}

// ---- Looking into the tree ----------------------------------------------------------------------

/**
 * The content of an element: words on one line, links with their addresses; `\v` stands for an
 * explicit line break.
 */
function inner(element: Element): string {
  let text = '';
  for (const child of element.children) {
    if (typeof child === 'string') text += child;
    else if (child.kind.name === 'br') text += '\v';
    else if (child.kind.name === 'img') text += child.alt ?? '';
    else if (child.kind.name === 'a' && child.meaning !== 'skip') text += withAddress(child);
    else if (child.meaning !== 'skip') text += inner(child);
  }
  return text;
}

/** The rows of a table, or of the table inside it, without those that say "skip". */
function rows(element: Element): Element[] {
  const found = named(element, 'tr');
  const [only] = found;
  const nested = found.length === 1 && only ? named(only, 'table') : [];
  return nested.length > 0 ? nested.flatMap((table) => named(table, 'tr')) : found;
}

function cells(element: Element): Element[] {
  return element.children.filter(
    (child): child is Element =>
      typeof child !== 'string' &&
      (child.kind.name === 'td' || child.kind.name === 'th') &&
      child.meaning !== 'skip',
  );
}

/** The outermost elements of a name below an element. */
function named(element: Element, name: string, found: Element[] = []): Element[] {
  for (const child of element.children) {
    if (typeof child === 'string' || child.meaning === 'skip') continue;
    if (child.kind.name === name) found.push(child);
    else named(child, name, found);
  }
  return found;
}

const INLINE = new Set(['a', 'br', 'img']);

function isBlock(element: Element): boolean {
  const { name, rank } = element.kind;
  return (
    rank === 'block' ||
    (elements.has(name) && !INLINE.has(name)) ||
    element.meaning !== undefined ||
    element.children.some((child) => typeof child !== 'string' && isBlock(child))
  );
}
