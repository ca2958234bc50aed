// DKIM signatures (RFC 6376, RFC 8463), relaxed/relaxed. Before: compose.ts made head and body.
// After: emailChunks puts the returned header lines on top. The body is hashed once for all keys;
// RSA runs in the thread pool (600 µs per signature).
import { createHash, type Hash, type KeyObject, sign } from 'node:crypto';
import { type Chunk, piecesOf } from '../bytes/chunks.ts';

export interface DkimKey {
  domain: string;
  selector: string;
  algorithm: 'rsa-sha256' | 'ed25519-sha256';
  /** A KeyObject, not PEM: parsing the text costs more than the signature. */
  privateKey: KeyObject;
}

// Named once more than they occur, present or not, so that a copy with another one added no longer
// verifies (RFC 6376 5.4.2, 8.15): replayed email often has a second Subject or Reply-To.
const OVERSIGNED = [
  'from',
  'to',
  'cc',
  'subject',
  'date',
  'reply-to',
  'message-id',
  'content-type',
  'list-id',
  'list-unsubscribe',
  'list-unsubscribe-post',
  'list-help',
  'list-subscribe',
  'list-post',
  'list-owner',
  'list-archive',
  'feedback-id',
  'cfbl-address',
];

// RFC 6376 5.4.1, and what readers act on. Trace fields that relays add or change are left out.
const SIGNED = new Set([
  ...OVERSIGNED,
  'in-reply-to',
  'references',
  'mime-version',
  'content-transfer-encoding',
  'cfbl-feedback-id',
  'auto-submitted',
]);

const CR = 13;
const LF = 10;
const TAB = 9;
const SPACE = 32;
const CRLF = Buffer.from('\r\n');
const NOTHING = Buffer.alloc(0);
const LINE = 76;
/** Bodies are rewritten for their hash in pieces: another 25 MB would be too much. */
const PIECE_BYTES = 256 * 1024;

/** The DKIM-Signature lines for all keys, in their order; '' without keys. */
export async function signEmail(
  email: { head: string; body: readonly Chunk[]; bodyHash?: string },
  keys: readonly DkimKey[],
  signedAt: Date,
): Promise<string> {
  if (keys.length === 0) return '';
  const { names, canonical } = signedHeaders(email.head);
  const bodyHash = email.bodyHash ?? hashBody(piecesOf(email.body));
  const time = Math.floor(signedAt.getTime() / 1000);
  const lines = await Promise.all(
    keys.map(async (key) => {
      const unsigned =
        `DKIM-Signature: v=1; a=${key.algorithm}; c=relaxed/relaxed;\r\n` +
        ` d=${key.domain}; s=${key.selector}; t=${time};\r\n` +
        `${foldedNames(names)}\r\n bh=${bodyHash};\r\n b=`;
      // RFC 6376 3.7: the signature's own field comes last, with an empty b= and without its CRLF.
      const signature = await signatureOf(key, Buffer.from(canonical + relaxed(unsigned)));
      return `${unsigned}${signature.replace(/(.{72})(?=.)/g, '$1\r\n ')}\r\n`;
    }),
  );
  return lines.join('');
}

/** RFC 6376 3.4.4 over the whole body, as the base64 of its SHA-256. */
export function hashBody(body: Iterable<Buffer>): string {
  const state: BodyState = {
    hash: createHash('sha256'),
    room: NOTHING,
    breaks: 0,
    blank: false,
    content: false,
  };
  for (const chunk of body) {
    if (hashAsItIs(state, chunk)) continue;
    for (let at = 0; at < chunk.length; at += PIECE_BYTES) {
      hashRelaxed(state, chunk.subarray(at, at + PIECE_BYTES));
    }
  }
  // Empty lines at the end do not count; what remains ends with one CRLF. An empty body stays
  // empty.
  if (state.content) state.hash.update(CRLF);
  return state.hash.digest('base64');
}

interface BodyState {
  hash: Hash;
  /** For one piece after the other: a new one for each took as much as the body. */
  room: Buffer;
  /** Line ends not yet written: they count only if something follows. */
  breaks: number;
  /** White space not yet written: it becomes one space if something follows on the line. */
  blank: boolean;
  content: boolean;
}

/** A chunk without white space, such as a base64 attachment, is hashed without a copy. */
function hashAsItIs(state: BodyState, chunk: Buffer): boolean {
  if (state.blank || chunk.includes(SPACE) || chunk.includes(TAB)) return false;
  let end = chunk.length;
  let breaks = 0;
  while (end >= 2 && chunk[end - 1] === LF && chunk[end - 2] === CR) {
    end -= 2;
    breaks++;
  }
  // A line end split between chunks is left to hashRelaxed too.
  if (end === 0 || chunk[0] === LF || chunk[end - 1] === CR) return false;
  for (let count = state.breaks; count > 0; count--) state.hash.update(CRLF);
  state.hash.update(end === chunk.length ? chunk : chunk.subarray(0, end));
  state.breaks = breaks;
  state.content = true;
  return true;
}

/**
 * Line ends are CRLF throughout (compose.ts), so LF is the line end and the CR before it is
 * ignored.
 */
function hashRelaxed(state: BodyState, chunk: Buffer): void {
  // Every byte may add one space, and all line ends before the first byte have to be written first.
  const most = chunk.length + 2 * state.breaks + 2;
  if (state.room.length < most) state.room = Buffer.allocUnsafe(most);
  const out = state.room;
  let to = 0;
  let { breaks, blank } = state;
  const length = chunk.length;
  for (let at = 0; at < length; at++) {
    const byte = chunk[at]!;
    if (byte === CR) continue;
    if (byte === LF) {
      breaks++;
      blank = false;
    } else if (byte === SPACE || byte === TAB) blank = true;
    else {
      for (; breaks > 0; breaks--) {
        out[to++] = CR;
        out[to++] = LF;
      }
      if (blank) {
        out[to++] = SPACE;
        blank = false;
      }
      out[to++] = byte;
    }
  }
  if (to > 0) {
    state.hash.update(out.subarray(0, to));
    state.content = true;
  }
  state.breaks = breaks;
  state.blank = blank;
}

/**
 * The fields to sign, from the last to the first: that is the order in which a verifier finds
 * repeated ones (RFC 6376 5.4.2).
 */
function signedHeaders(head: string): { names: string[]; canonical: string } {
  const names: string[] = [];
  let canonical = '';
  for (const field of head.split(/\r\n(?![ \t])/).reverse()) {
    const name = field.slice(0, field.indexOf(':')).toLowerCase();
    if (!SIGNED.has(name) && !name.startsWith('x-sm-')) continue;
    names.push(name);
    canonical += `${relaxed(field)}\r\n`;
  }
  names.push(...OVERSIGNED);
  return { names, canonical };
}

/** RFC 6376 3.4.2: lower-case name, unfolded, white space as one space, none around the value. */
function relaxed(field: string): string {
  const colon = field.indexOf(':');
  const value = field
    .slice(colon + 1)
    .replace(/\r\n/g, '')
    .replace(/[ \t]+/g, ' ')
    .trim();
  return `${field.slice(0, colon).trimEnd().toLowerCase()}:${value}`;
}

function signatureOf(key: DkimKey, data: Buffer): Promise<string> | string {
  // RFC 8463 3: Ed25519 signs the hash. It takes 40 µs, so a trip to the thread pool and back saves
  // nothing.
  if (key.algorithm === 'ed25519-sha256') {
    return sign(null, createHash('sha256').update(data).digest(), key.privateKey).toString(
      'base64',
    );
  }
  return new Promise((resolve, reject) => {
    sign('sha256', data, key.privateKey, (error, signature) => {
      if (error) reject(error);
      else resolve(signature.toString('base64'));
    });
  });
}

/** ` h=a:b:c;` in lines, broken after colons. */
function foldedNames(names: readonly string[]): string {
  let lines = '';
  let line = ' h=';
  names.forEach((name, index) => {
    const part = index < names.length - 1 ? `${name}:` : `${name};`;
    if (line.length + part.length > LINE) {
      lines += `${line}\r\n`;
      line = ' ';
    }
    line += part;
  });
  return lines + line;
}
