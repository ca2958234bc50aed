// Lists of addresses in a header: From, To, Cc, Reply-To as programs write them (RFC 5322 3.4),
// with quotes, comments and encoded words. Before: mime/fields.ts. After: email.ts knows the
// people. One pass over the text, in turns: a header may hold ten thousand addresses.
import { type Mailbox, parseAddress } from '../addresses.ts';
import { textOf } from '../mime/fields.ts';
import { atOnce, inLongTurns } from '../process/in-turns.ts';

/** Shorter ones take less than a millisecond. */
const LONG = 8 * 1024;

type AddressList = Mailbox[] | undefined;

/** Undefined: something in it is not a mailbox, such as a group or a name without a domain. */
export function readAddressList(value: string): AddressList | Promise<AddressList> {
  if (value.length > LONG) return inLongTurns(reading(value));
  const [, name = '', named, bare] = ONE_PLAIN.exec(value) ?? [];
  const address = named ?? bare;
  if (address === undefined) return atOnce(reading(value));
  const mailbox = parseAddress(address);
  return 'fault' in mailbox ? undefined : [{ ...mailbox, name }];
}

/** Most lists are one mailbox with nothing to decode, which need not be read by its characters. */
const ONE_PLAIN = /^(?:([\w.'-]+(?: [\w.'-]+)*) <([!#-'*+\--;=?-~]+)>|([!#-'*+\--;=?-~]+))$/;

function* reading(value: string): Generator<void, AddressList> {
  const mailboxes: Mailbox[] = [];
  for (const piece of splitList(value)) {
    const mailbox = readPiece(piece);
    if (mailbox === undefined) return undefined;
    mailboxes.push(mailbox);
    yield;
  }
  return mailboxes;
}

/** One mailbox, taken apart but not yet decoded. */
interface Piece {
  /** What is outside angle brackets, without quotes and comments. */
  words: string;
  /** What is between the angle brackets. */
  inBrackets: string | undefined;
  /** The last comment. */
  comment: string;
}

function readPiece({ words, inBrackets, comment }: Piece): Mailbox | undefined {
  const mailbox = parseAddress(utf8(inBrackets ?? words).trim());
  if ('fault' in mailbox) return undefined;
  const written = inBrackets === undefined ? comment : words;
  return written === '' ? mailbox : { ...mailbox, name: nameOf(written) };
}

const LONGEST_NAME = 500;

/** Decoded, on one line. */
const nameOf = (words: string): string =>
  textOf({ value: words })
    .replace(/[\s\p{Cc}\u2028\u2029]+/gu, ' ')
    .trim()
    .slice(0, LONGEST_NAME);

/** At commas outside quotes, comments and angle brackets. */
function* splitList(value: string): Generator<Piece> {
  let piece: Piece = { words: '', inBrackets: undefined, comment: '' };
  let isOpen = false;
  for (let at = 0; at < value.length; at++) {
    const character = value[at]!;
    if (character === '"') {
      const { text, end } = readQuoted(value, at + 1);
      if (isOpen) piece.inBrackets += text;
      else piece.words += text;
      at = end;
    } else if (character === '(') {
      const { text, end } = readComment(value, at + 1);
      piece.comment = text;
      at = end;
    } else if (isOpen) {
      if (character === '>') isOpen = false;
      else piece.inBrackets += character;
    } else if (character === '<') {
      isOpen = true;
      piece.inBrackets = '';
    } else if (character === ',') {
      if (!isNothing(piece)) yield piece;
      piece = { words: '', inBrackets: undefined, comment: '' };
    } else piece.words += character;
  }
  if (!isNothing(piece)) yield piece;
}

/** `a@example.com,, b@example.com,`: empty places mean nothing (RFC 5322 4.4). */
const isNothing = ({ words, inBrackets }: Piece): boolean =>
  inBrackets === undefined && words.trim() === '';

function readQuoted(value: string, from: number): { text: string; end: number } {
  let text = '';
  for (let at = from; at < value.length; at++) {
    const character = value[at]!;
    if (character === '"') return { text, end: at };
    text += character === '\\' ? (value[++at] ?? '') : character;
  }
  return { text, end: value.length };
}

/** Comments may be nested. */
function readComment(value: string, from: number): { text: string; end: number } {
  let text = '';
  let depth = 1;
  for (let at = from; at < value.length; at++) {
    const character = value[at]!;
    if (character === '(') depth++;
    else if (character === ')' && --depth === 0) return { text, end: at };
    text += character === '\\' ? (value[++at] ?? '') : character;
  }
  return { text, end: value.length };
}

const utf8 = (bytes: string): string => Buffer.from(bytes, 'latin1').toString();
