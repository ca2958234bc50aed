// What a report says to people, without the email it quotes. report.ts cuts it out; dsn.ts and
// bounce-text.ts read it.
import { Tokens } from '../html/tokens.ts';
import { type Email, partText } from './mime.ts';
import { isReturned } from './original.ts';

export interface Notice {
  notice: string;
  /** From the line where the quoted email begins. */
  unsent: string;
}

const MOST_CHARS = 65_536;

export function cutNotice(email: Email): Notice {
  const text = noticeText(email).slice(0, MOST_CHARS);
  const cut = quoteStart(text);
  return { notice: text.slice(0, cut.from), unsent: text.slice(cut.to) };
}

/** The plain texts before the returned email; HTML only if there is no plain text. */
function noticeText(email: Email): string {
  const returned = email.parts.findIndex(isReturned);
  const own = returned < 0 ? email.parts : email.parts.slice(0, returned);
  const plain = own
    .filter((part) => part.type === 'text/plain')
    .map((part) => partText(part, MOST_CHARS));
  const text = plain.join('\n\n');
  if (text.trim() !== '') return text;
  const html = own.find((part) => part.type === 'text/html');
  if (html !== undefined) return htmlText(partText(html));
  const any = own.find((part) => part.type.startsWith('text/'));
  return any === undefined ? '' : partText(any, MOST_CHARS);
}

const QUOTED =
  '(?:(?:this is )?(?:a )?copy of (?:the|your) (?:original )?(?:message|mail|e-?mail)|original (?:message|mail)|unsent message|returned (?:message|mail)|undelivered (?:message|mail)|headers? of the original|original message header|message headers?|below this line|bounced message|message (?:text )?follows|ursprüngliche nachricht|message d.origine|mensaje original|messaggio originale)';
const QUOTED_WORDS = new RegExp(QUOTED, 'i');
const RULER = /^[ \t>]{0,20}[-=_*#]{2,}/;
const ALONE =
  /^[ \t]{0,20}(?:original message(?: headers?)?(?: follows)?|(?:below|here) is a copy of (?:the|your) (?:original )?message|(?:your|the) original message(?: headers?)?(?: follows| is (?:included|attached) below)?|(?:message )?headers? follows?|included is a copy of the message header|unsent message (?:follows|below)|returned message follows)[ \t]{0,20}[:.]?[ \t]*$/i;
const HEADER =
  /^(received|return-path|message-id|from|to|subject|date|mime-version|dkim-signature|content-type|delivered-to|x-[\w-]{1,60}):/i;

/** Line by line, so that the cost is linear in the length of the text. */
function quoteStart(text: string): { from: number; to: number } {
  let run = 0;
  let runStart = 0;
  const names = new Set<string>();
  for (let at = 0; at < text.length; ) {
    const newline = text.indexOf('\n', at);
    const next = newline < 0 ? text.length : newline + 1;
    const line = text.slice(at, Math.min(next, at + 300)).trimEnd();
    if (isRuled(line) || ALONE.test(line)) return { from: at, to: next };
    // Four headers in a row, one of them only servers write, are a quoted email even without any
    // ruler.
    const header = HEADER.exec(line)?.[1]?.toLowerCase();
    if (header !== undefined) {
      if (run === 0) runStart = at;
      run++;
      names.add(header);
      if (
        run >= 4 &&
        (names.has('received') || names.has('message-id') || names.has('mime-version'))
      ) {
        return { from: runStart, to: runStart };
      }
    } else if (run > 0 && !/^[ \t]/.test(line)) {
      run = 0;
      names.clear();
    }
    at = next;
  }
  return { from: text.length, to: text.length };
}

/**
 * A ruled line with one of the words soon after the ruler. Searched for one after the other: each
 * search is linear in the line.
 */
function isRuled(line: string): boolean {
  const ruler = RULER.exec(line)?.[0].length;
  if (ruler === undefined) return false;
  const words = line.slice(ruler).search(QUOTED_WORDS);
  return words >= 0 && words <= 40;
}

const LINES = /^(?:br|p|div|tr|table|li|ul|ol|h\d|pre|title|blockquote)$/;

/** Removes tags; line breaks where blocks begin and end. */
export function htmlText(html: string): string {
  const tokens = new Tokens(html);
  let text = '';
  while (tokens.next()) {
    const { kind, element } = tokens;
    if (kind !== 'text') text += LINES.test(element.name) ? '\n' : element.name === 'td' ? ' ' : '';
    else if (element.content !== 'raw') text += tokens.words();
  }
  return text.replaceAll('\u00a0', ' ');
}
