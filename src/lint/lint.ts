// What mailbox providers, email programs and readers would object to in an email, before anyone
// gets it. Before: an email as it would be sent (operations/lint.ts, previews, sends that ask for
// it). After: findings for people and agents; none of them stops a send. The text comes from
// strangers: one pass over the tokens, and every search is bounded.
import { Tokens } from '../html/tokens.ts';
import { isUnresolved, linkFault } from './links.ts';
import { spamMarks } from './subject.ts';

export const LINT_RULES = [
  'missing-subject',
  'spammy-subject',
  'missing-text',
  'image-only',
  'missing-alt',
  'broken-link',
  'http-link',
  'huge-html',
  'unresolved-variable',
  'missing-unsubscribe',
] as const;

export interface LintFinding {
  rule: (typeof LINT_RULES)[number];
  /** error: readers see something broken, or receivers reject it. warning: it costs trust. */
  severity: 'error' | 'warning';
  /** What was found. */
  message: string;
  /** What to do. */
  hint: string;
}

export interface LintedEmail {
  subject: string;
  html: string | null;
  text: string | null;
  /** It goes to many people who did not just request it. */
  broadcast: boolean;
  /** It will have List-Unsubscribe: the stream's, or the sender's own. */
  unsubscribe: boolean;
}

/**
 * More would be stopped halfway, and a thread that is handed 24 MB may take the process with it.
 */
const MOST_LINTED = 10_000_000;

/** Asked before its bytes become text. */
export const isTooLongToLint = ({ html, text }: Record<'html' | 'text', Long | null>): boolean =>
  (html?.length ?? 0) + (text?.length ?? 0) > MOST_LINTED;

type Long = Pick<string | Buffer, 'length'>;

/** Gmail shows this much of an email's HTML, and a link to the rest. */
const CLIPPED_BYTES = 102 * 1024;
/** With fewer characters beside images, filters cannot tell what the email is about. */
const LEAST_WORDS = 40;
const MOST_EXAMPLES = 3;
const LONGEST_EXAMPLE = 80;

export function lint(email: LintedEmail): LintFinding[] {
  const seen = read(email.html ?? '');
  collectUnresolved(email.subject, seen.unresolved);
  if (email.text !== null) collectUnresolved(email.text, seen.unresolved);
  return [
    ...onSubject(email.subject),
    ...onParts(email, seen),
    ...onLinks(seen),
    ...onUnresolved(seen),
    ...onLeaving(email),
  ];
}

/** One kind of fault: how often it occurs, and a few examples. */
class Found {
  count = 0;
  readonly examples: string[] = [];

  add(example: string): void {
    this.count++;
    const shown =
      example.length > LONGEST_EXAMPLE ? `${example.slice(0, LONGEST_EXAMPLE)}…` : example;
    if (this.examples.length < MOST_EXAMPLES && !this.examples.includes(shown)) {
      this.examples.push(shown);
    }
  }

  /** Quoted, because it is the sender's text in a sentence of ours. */
  get shown(): string {
    const more = this.count > this.examples.length ? ' …' : '';
    return `${this.examples.map((example) => `“${example}”`).join(', ')}${more}`;
  }
}

interface Seen {
  letters: number;
  images: number;
  withoutAlt: Found;
  broken: Found;
  insecure: Found;
  unresolved: Found;
}

function read(html: string): Seen {
  const seen: Seen = {
    ...{ letters: 0, images: 0, withoutAlt: new Found(), broken: new Found() },
    ...{ insecure: new Found(), unresolved: new Found() },
  };
  const tokens = new Tokens(html, ['href', 'src', 'alt']);
  let inTitle = false;
  while (tokens.next()) {
    const { name, hidden } = tokens.element;
    if (name === 'title') inTitle = tokens.kind === 'open';
    if (tokens.kind === 'open') readTag(name, tokens, seen);
    else if (tokens.kind === 'text' && !hidden && !inTitle) {
      const words = tokens.words();
      seen.letters += countLetters(words);
      collectUnresolved(words, seen.unresolved);
    }
  }
  return seen;
}

function readTag(name: string, tokens: Tokens, seen: Seen): void {
  const href = name === 'a' || name === 'area' ? tokens.attribute('href') : undefined;
  if (href !== undefined) readLink(href, seen);
  if (name !== 'img') return;
  const src = tokens.attribute('src') ?? '';
  seen.images++;
  if (tokens.attribute('alt') === undefined) seen.withoutAlt.add(src === '' ? '<img>' : src);
  if (isUnresolved(src)) seen.unresolved.add(src);
  else if (/^http:\/\//i.test(src)) seen.insecure.add(src);
}

function readLink(href: string, seen: Seen): void {
  if (isUnresolved(href)) {
    seen.unresolved.add(href);
    return;
  }
  const fault = linkFault(href);
  if (fault !== undefined) seen.broken.add(`${href === '' ? '(empty)' : href} (${fault})`);
  else if (/^\s*http:\/\//i.test(href)) seen.insecure.add(href);
}

/** Stops counting once there are enough. */
function countLetters(words: string): number {
  let count = 0;
  for (let at = 0; at < words.length && count < LEAST_WORDS; at++) {
    if (words.charCodeAt(at) > 0x20 && words.charCodeAt(at) !== 0xa0) count++;
  }
  return count;
}

/** `{{ name }}`, `{% … %}`, `<%= … %>`, `*|NAME|*`, and what programs write instead of a value. */
const MARKS: readonly [opening: string, closing: string][] = [
  ['{{', '}}'],
  ['{%', '%}'],
  ['<%', '%>'],
  ['*|', '|*'],
  ['[object ', ']'],
];
const LONGEST_MARK = 200;
/** Per kind and text: after this many without an end, no more are checked. */
const MOST_OPENINGS = 1000;

function collectUnresolved(text: string, unresolved: Found): void {
  for (const [opening, closing] of MARKS) {
    let at = text.indexOf(opening);
    for (let looked = 0; at >= 0 && looked < MOST_OPENINGS; looked++) {
      // Within bounds: a page of openings without an end would be searched for each.
      const piece = text.slice(at, at + LONGEST_MARK);
      const end = piece.indexOf(closing, opening.length);
      if (end >= 0) unresolved.add(piece.slice(0, end + closing.length));
      at = text.indexOf(opening, at + (end < 0 ? opening.length : end + closing.length));
    }
  }
}

function onSubject(subject: string): LintFinding[] {
  if (subject.trim() === '') {
    return [
      {
        ...{ rule: 'missing-subject', severity: 'error' },
        message: 'The subject is empty.',
        hint: 'Say in a few words what the email is about; many filters reject email without a subject.',
      },
    ];
  }
  const marks = spamMarks(subject);
  if (marks.length === 0) return [];
  return [
    {
      ...{ rule: 'spammy-subject', severity: 'warning' },
      message: `The subject reads like spam: ${marks.join('; ')}.`,
      hint: 'Write it as you would to one person: normal case, no pressure, no runs of punctuation.',
    },
  ];
}

function onParts({ html, text }: LintedEmail, seen: Seen): LintFinding[] {
  if (html === null) return [];
  const findings: LintFinding[] = [];
  const bytes = Buffer.byteLength(html);
  if (text === null || text.trim() === '') {
    findings.push({
      ...{ rule: 'missing-text', severity: 'warning' },
      message: 'There is no text part beside the HTML.',
      hint: 'Give `text` as well. Watches, screen readers and filters read it.',
    });
  }
  if (seen.images > 0 && seen.letters < LEAST_WORDS) {
    findings.push({
      ...{ rule: 'image-only', severity: 'warning' },
      message: `The email is ${count(seen.images, 'image')} with almost no text.`,
      hint: 'Put what it says into text. Many programs show no images at first, and filters take it for spam.',
    });
  }
  if (seen.withoutAlt.count > 0) {
    findings.push({
      ...{ rule: 'missing-alt', severity: 'warning' },
      message: `${count(seen.withoutAlt.count, 'image')} without alt text: ${seen.withoutAlt.shown}`,
      hint: 'Say in `alt` what each image shows; alt="" where it is only decoration.',
    });
  }
  if (bytes > CLIPPED_BYTES) {
    findings.push({
      ...{ rule: 'huge-html', severity: 'error' },
      message: `The HTML has ${Math.ceil(bytes / 1024)} KB; Gmail cuts it off after 102 KB.`,
      hint: 'Shorten it, and keep images out of it (no data: addresses). What is cut off includes the unsubscribe link and the open pixel.',
    });
  }
  return findings;
}

function onLinks({ broken, insecure }: Seen): LintFinding[] {
  const findings: LintFinding[] = [];
  if (broken.count > 0) {
    findings.push({
      ...{ rule: 'broken-link', severity: 'error' },
      message: `${count(broken.count, 'link')} that cannot work: ${broken.shown}`,
      hint: 'An email has no address of its own: write complete addresses, such as https://example.com/page.',
    });
  }
  if (insecure.count > 0) {
    findings.push({
      ...{ rule: 'http-link', severity: 'warning' },
      message: `${count(insecure.count, 'address', 'addresses')} without encryption: ${insecure.shown}`,
      hint: 'Use https://. Programs warn about http:// links and do not load http:// images.',
    });
  }
  return findings;
}

function onUnresolved({ unresolved }: Seen): LintFinding[] {
  if (unresolved.count === 0) return [];
  return [
    {
      ...{ rule: 'unresolved-variable', severity: 'error' },
      message: `${count(unresolved.count, 'placeholder')} without a value: ${unresolved.shown}`,
      hint: 'Readers would see it as it is. Fill it in, or send a template with `variables`.',
    },
  ];
}

function onLeaving({ broadcast, unsubscribe }: LintedEmail): LintFinding[] {
  if (!broadcast || unsubscribe) return [];
  return [
    {
      ...{ rule: 'missing-unsubscribe', severity: 'error' },
      message: 'It is broadcast email without List-Unsubscribe.',
      hint: 'Let recipients leave the stream (its setting `unsubscribe`). Gmail and Yahoo reject bulk email without one-click unsubscribing.',
    },
  ];
}

const count = (number: number, one: string, many = `${one}s`): string =>
  `${number} ${number === 1 ? one : many}`;
