// Finds links in what a key writes, for its rule `link_hosts`: everything that an email program
// would turn into a link counts, not only what is marked as one. What cannot be searched may
// contain any link.
import { isUtf8 } from 'node:buffer';

/** Email programs link text without a scheme if it ends in one of these domains. */
const ENDINGS =
  'com|net|org|io|co|app|dev|info|biz|me|ai|to|ly|gg|cc|tv|xyz|top|site|online|shop|store|link|click|live|club|pro|ru|cn|de|uk|us|eu|fr|nl|es|it|pl|in|br|au|ca|ch|at|jp|kr|tk|ml|ga|cf|gq|su|ws|page|cloud|tech|icu|vip|work|zip|mov';

/** Browsers need no slashes after a web scheme: https:evil.example works. */
const ADDRESS = /(?:(?:https?|ftp|wss?):[\\/]*|[\\/]{2})([^\s\\/?#"'<>()[\]{}]+)/giu;
const BARE = new RegExp(
  `(?<![\\p{L}\\p{N}@.-])((?:[\\p{L}\\p{N}-]{1,63}\\.){1,8}(?:${ENDINGS}))(?![\\p{L}\\p{N}-])`,
  'giu',
);
/** A host can end only where one of these occurs. Most texts have none, and this check is fast. */
const ENDED = new RegExp(`\\.(?:${ENDINGS})(?![\\p{L}\\p{N}-])`, 'iu');
const MOST_DEPTH = 100;

/**
 * The first host in any text of the value that is not among these or below one; undefined: none;
 * null: it cannot be searched. In pieces, because a text may have 25 MB. `plain`: no program reads
 * it as HTML, so the end of a line ends a link.
 */
export function* strangeLink(
  value: unknown,
  hosts: readonly string[],
  { plain = false } = {},
): Generator<void, string | null | undefined> {
  const left: { value: unknown; depth: number }[] = [{ value, depth: 0 }];
  while (left.length > 0) {
    const { value: one, depth } = left.pop()!;
    if (typeof one === 'string') {
      for (const piece of piecesOf(one, plain)) {
        if (piece === null) return null;
        const strange = hostsIn(piece, plain).find((host) => !isBelow(host, hosts));
        if (strange !== undefined) return strange;
        yield;
      }
    } else if (typeof one === 'object' && one !== null && depth < MOST_DEPTH) {
      for (const [name, inside] of Object.entries(one)) {
        left.push({ value: inside, depth: depth + 1 }, { value: name, depth: depth + 1 });
      }
    }
  }
  return undefined;
}

const LONGEST_PIECE = 16 * 1024;
const LONGEST_WORD = 64 * 1024;

/**
 * No link continues after these, and none begins before them. The character that follows is ASCII,
 * so that the two do not become one letter, as < does with a following stroke (NFKC).
 */
const ENDS_IN_HTML = /[ <>"'()](?=[\0-\x7f])/g;
const ENDS_IN_TEXT = /[\n <>"'()](?=[\0-\x7f])/g;

/** Cut where there is no link; null: a word without an end, which no person writes. */
function* piecesOf(text: string, plain: boolean): Generator<string | null> {
  const ends = plain ? ENDS_IN_TEXT : ENDS_IN_HTML;
  for (let from = 0; from < text.length; ) {
    const rest = text.length - from;
    let end = text.length;
    if (rest > LONGEST_PIECE) {
      ends.lastIndex = 0;
      const ahead = text.slice(from + LONGEST_PIECE, from + LONGEST_WORD);
      const found = ends.exec(ahead);
      if (found === null && rest > LONGEST_WORD) return yield null;
      if (found !== null) end = from + LONGEST_PIECE + found.index + 1;
    }
    yield text.slice(from, end);
    from = end;
  }
}

/** Anything more than a plain host, such as HTML's &quest;, may end elsewhere than it seems to. */
const isBelow = (host: string, hosts: readonly string[]): boolean =>
  /^[\w.-]+$/.test(host) && hosts.some((one) => host === one || host.endsWith(`.${one}`));

function hostsIn(written: string, plain: boolean): string[] {
  const text = readable(written).replace(plain ? /\p{Cf}/gu : /[\p{Cf}\t\r\n]/gu, '');
  const found = new Set<string>();
  for (const [, authority] of text.matchAll(ADDRESS)) found.add(authority!);
  if (ENDED.test(text)) for (const [, host] of text.matchAll(BARE)) found.add(host!);
  return [...found].map(hostOf);
}

/**
 * As a browser reads it: other forms of letters and dots become plain ones, and entities become
 * letters.
 */
const readable = (text: string): string =>
  text
    .replace(/&#(x[0-9a-f]{1,6}|[0-9]{1,7});?/gi, (_, code: string) => fromCode(code))
    .replace(/&(sol|period|colon|bsol|amp|tab|newline);?/gi, (_, name: string) => {
      return ENTITIES[name.toLowerCase()]!;
    })
    .normalize('NFKC')
    .replace(/[\u3002\uff0e\uff61]/g, '.');

const ENTITIES: Record<string, string> = {
  ...{ sol: '/', period: '.', colon: ':', bsol: '\\', amp: '&', tab: '', newline: '' },
};

function fromCode(code: string): string {
  const point =
    code[0] === 'x' || code[0] === 'X' ? Number.parseInt(code.slice(1), 16) : Number(code);
  return point <= 0x10ffff ? String.fromCodePoint(point) : '';
}

/**
 * What a browser would connect to; text that is not an authority is shown as it is, and is not a
 * host of ours.
 */
function hostOf(authority: string): string {
  const url = `https://${authority}/`;
  return URL.canParse(url) ? new URL(url).hostname : authority.slice(0, 100).toLowerCase();
}

export interface AttachedFile {
  filename: string;
  contentType: string;
  content: Buffer;
}

/** Kinds that contain nothing beyond what their bytes show, by file extension. */
const LOOKED_THROUGH: Record<string, string> = {
  ...{ png: 'image/png', jpg: 'image/jpeg', jpeg: 'image/jpeg', gif: 'image/gif' },
  ...{ webp: 'image/webp', txt: 'text/plain', ics: 'text/calendar' },
};

/**
 * The first host that a file leads to and that is not among these; null: it cannot be searched.
 * Some programs open a file by its name, others by its type: the two must agree.
 */
export function* strangeLinkIn(
  { filename, contentType, content }: AttachedFile,
  hosts: readonly string[],
): Generator<void, string | null | undefined> {
  const type = LOOKED_THROUGH[filename.toLowerCase().split('.').at(-1)!];
  const [given = '', ...parameters] = contentType.toLowerCase().split(';');
  if (type === undefined || given.trim() !== type) return null;
  if (!parameters.every((it) => PARAMETER.test(it))) return null;
  if (type.startsWith('image/')) return undefined;
  if (content.length > MOST_BYTES || !isUtf8(content) || content.includes(0)) return null;
  // Lines of a calendar continue after a space (RFC 5545 3.1), and files in it are encoded.
  const text = content.toString();
  const whole = type === 'text/calendar' ? text.replace(/\r?\n[ \t]/g, '') : text;
  return /encoding\s*=/i.test(whole) ? null : yield* strangeLink(whole, hosts, { plain: true });
}

/** More would hold up everyone else. */
const MOST_BYTES = 256 * 1024;

/** Others refer to another file, or to letters of another charset. */
const PARAMETER =
  /^\s*((charset="?(utf-8|us-ascii)"?|method="?[a-z]+"?|component="?[a-z]+"?)\s*)?$/;
