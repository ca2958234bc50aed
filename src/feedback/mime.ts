// MIME, as far as reports need it: bytes of any quality in, headers and leaf parts out. report.ts
// calls it first. Our own code, because reports need the structure (which part is the delivery
// status, which the returned email) that other parsers discard, synchronously, with every size
// bounded: nothing here throws or is slower than linear.
/**
 * How much of an email is read: a report's own text comes before the email it returns, which may be
 * long.
 */
const MOST_BYTES = 2 * 1024 * 1024;
const MOST_DEPTH = 10;
const MOST_PARTS = 100;
/**
 * Multiparts count too: for each, its headers are read and perhaps a lost boundary is searched for.
 */
const MOST_ENTITIES = 300;
const MOST_FIELDS = 1000;
const MOST_FIELD_CHARS = 16_384;
/**
 * How much of one part is decoded. Every notice and status list found in practice fits in a tenth
 * of it.
 */
const MOST_TEXT_CHARS = 262_144;

/**
 * Fields in their order, names in lower case, values unfolded; bytes as Latin-1 until decodeText.
 */
export type Headers = ReadonlyMap<string, readonly string[]>;

export interface Part {
  /** `text/plain` and the like, lower case. */
  type: string;
  parameters: ReadonlyMap<string, string>;
  headers: Headers;
  /** The body still encoded, one character per byte. */
  body: string;
}

export interface Email {
  headers: Headers;
  type: string;
  parameters: ReadonlyMap<string, string>;
  /**
   * All parts that are not multipart themselves, in order. A returned email is one part; it is not
   * opened.
   */
  parts: Part[];
}

interface Entity {
  headers: Headers;
  type: string;
  parameters: ReadonlyMap<string, string>;
  bodyStart: number;
}

export function readEmail(raw: Buffer): Email {
  const text = newlines(raw.subarray(0, MOST_BYTES)).toString('latin1');
  const top = readEntity(text, firstField(text));
  const boundary = boundaryOf(text, top);
  const email: Email = {
    headers: top.headers,
    type: top.type,
    parameters: top.parameters,
    parts: [],
  };
  if (boundary === undefined) email.parts.push(leaf(text, top, text.length));
  else walkMultipart(text, top, boundary, email.parts);
  // A boundary that never occurs: the whole body is the notice.
  if (email.parts.length === 0)
    email.parts.push({ ...leaf(text, top, text.length), type: 'text/plain' });
  return email;
}

/**
 * One pass over the lines: the open boundaries are a stack, so depth costs nothing; it has its own
 * limit.
 */
function walkMultipart(text: string, top: Entity, boundary: string, parts: Part[]): void {
  const open = [boundary];
  let current: Entity | undefined;
  let at = top.bodyStart;
  let entities = 0;
  while (at < text.length && parts.length < MOST_PARTS && entities < MOST_ENTITIES) {
    const next = lineEnd(text, at);
    const hit = text.startsWith('--', at) ? delimiter(text, at, next, open) : undefined;
    if (hit !== undefined) {
      if (current !== undefined) parts.push(leaf(text, current, at));
      current = undefined;
      open.length = hit.level + (hit.closing ? 0 : 1);
      if (open.length === 0) return;
      if (!hit.closing) {
        const entity = readEntity(text, next);
        entities++;
        const inner = boundaryOf(text, entity);
        if (inner !== undefined && open.length < MOST_DEPTH) open.push(inner);
        else current = entity;
        at = Math.max(next, entity.bodyStart);
        continue;
      }
    }
    at = next;
  }
  if (current !== undefined && parts.length < MOST_PARTS)
    parts.push(leaf(text, current, text.length));
}

/** Which open multipart the line `--boundary` or `--boundary--` belongs to, innermost first. */
function delimiter(text: string, at: number, next: number, open: readonly string[]) {
  const line = text.slice(at + 2, Math.min(next, at + 2048)).trimEnd();
  const closed = line.endsWith('--') ? line.slice(0, -2) : undefined;
  for (let level = open.length - 1; level >= 0; level--) {
    if (line === open[level]) return { level, closing: false };
    if (closed === open[level]) return { level, closing: true };
  }
  return undefined;
}

function readEntity(text: string, start: number): Entity {
  const { headers, end } = readHeaders(text, start);
  const { value, parameters } = parseParameters(headers.get('content-type')?.[0] ?? '');
  const type = value.includes('/') ? value.toLowerCase() : 'text/plain';
  return { headers, type, parameters, bodyStart: end };
}

function boundaryOf(text: string, entity: Entity): string | undefined {
  if (!entity.type.startsWith('multipart/')) return undefined;
  const declared = entity.parameters.get('boundary');
  if (declared) return declared;
  // Lost in a wrongly folded header: take the first line that looks like one.
  const opening = text.slice(entity.bodyStart, entity.bodyStart + 4096);
  return /^--(\S{3,70})\s*$/m.exec(opening)?.[1];
}

function leaf(text: string, entity: Entity, end: number): Part {
  const { type, parameters, headers, bodyStart } = entity;
  return { type, parameters, headers, body: text.slice(bodyStart, Math.max(bodyStart, end)) };
}

/**
 * Reads fields up to the empty line, or up to a line that is not a field: some reports forget the
 * empty line.
 */
export function readHeaders(text: string, start = 0): { headers: Headers; end: number } {
  const headers = new Map<string, string[]>();
  let at = start;
  let last: string[] | undefined;
  for (let count = 0; at < text.length && count < MOST_FIELDS; count++) {
    const next = lineEnd(text, at);
    const line = lineAt(text, at, next);
    if (line === '') return { headers, end: next };
    const field = /^[ \t]/.test(line) ? undefined : splitField(line);
    if (field !== undefined) {
      last = headers.get(field.name) ?? [];
      last.push(field.value);
      headers.set(field.name, last);
    } else if (last !== undefined && continues(text, line, next, last.at(-1)!)) {
      const value = last.pop()!;
      const longer = value === '' ? line.trim() : `${value} ${line.trim()}`;
      last.push(value.length < MOST_FIELD_CHARS ? longer : value);
    } else if (!/^[ \t]/.test(line)) {
      return { headers, end: at };
    }
    at = next;
  }
  return { headers, end: at };
}

/**
 * A folded line (RFC 5322 2.2.3), or one that lost its indentation on the way: after a semicolon,
 * or with fields still to come.
 */
function continues(text: string, line: string, next: number, value: string): boolean {
  if (/^[ \t]/.test(line) || value.endsWith(';')) return true;
  let at = next;
  for (let ahead = 0; ahead < 3 && !line.startsWith('--'); ahead++) {
    const end = lineEnd(text, at);
    const following = lineAt(text, at, end);
    if (following === '') return false;
    if (splitField(following) !== undefined) return true;
    at = end;
  }
  return false;
}

function splitField(line: string): { name: string; value: string } | undefined {
  const colon = line.indexOf(':');
  const name = line.slice(0, Math.max(colon, 0)).trimEnd().toLowerCase();
  return FIELD_NAME.test(name) ? { name, value: line.slice(colon + 1).trim() } : undefined;
}
const FIELD_NAME = /^[!-9;-~]{1,100}$/;

/** `value; name=token; name="quoted"` (RFC 2045 5.1), lenient about everything. */
export function parseParameters(field: string): {
  value: string;
  parameters: ReadonlyMap<string, string>;
} {
  const [, plain, only, quoted, token] = ONE_PARAMETER.exec(field) ?? [];
  if (plain !== undefined) {
    return { value: plain, parameters: new Map([[only!.toLowerCase(), quoted ?? token!]]) };
  }
  const parameters = new Map<string, string>();
  const semicolon = field.indexOf(';');
  const value = (semicolon < 0 ? field : field.slice(0, semicolon)).trim();
  const rest = semicolon < 0 ? '' : field.slice(semicolon, semicolon + 4096);
  // From one "=" to the next, so that an unclosed quote is searched only once.
  for (let equals = rest.indexOf('='); equals >= 0; ) {
    const name = /[\w*-]{1,60} ?$/
      .exec(rest.slice(Math.max(0, equals - 61), equals))?.[0]
      .trimEnd();
    const { text, end } = parameterValue(rest, equals + (rest[equals + 1] === ' ' ? 2 : 1));
    const key = name?.toLowerCase();
    if (key && text !== '' && !parameters.has(key)) parameters.set(key, text);
    equals = rest.indexOf('=', end);
  }
  return { value, parameters };
}

/** A token, or a quoted string without its quotes; an unclosed quote continues to the end. */
function parameterValue(text: string, at: number): { text: string; end: number } {
  PARAMETER_VALUE.lastIndex = at;
  const match = PARAMETER_VALUE.exec(text);
  if (match === null) return { text: '', end: at };
  const quoted = match[1]?.replace(/\\(.)/g, '$1');
  return { text: quoted ?? match[0], end: PARAMETER_VALUE.lastIndex };
}
/** Most have one, with nothing to decide: `text/html; charset=utf-8`. */
const ONE_PARAMETER = /^([\w/+.-]{1,200}); ([\w*-]{1,60})=(?:"([^"\\]{1,200})"|([^\s;"=]{1,200}))$/;
const PARAMETER_VALUE = /"((?:[^"\\]|\\.)*)"?|[^\s;"]+/y;

/** The part's text: transfer encoding and charset undone, line ends as \n. */
export function partText(part: Part, maxChars = MOST_TEXT_CHARS): string {
  const encoded = part.body.slice(0, maxChars);
  const encoding = (part.headers.get('content-transfer-encoding')?.[0] ?? '').toLowerCase();
  let bytes: Buffer;
  if (encoding.startsWith('base64')) bytes = Buffer.from(encoded, 'base64');
  else if (encoding.startsWith('quoted-printable')) bytes = quotedPrintable(encoded);
  else bytes = Buffer.from(encoded, 'latin1');
  return decodeText(bytes, part.parameters.get('charset')).replaceAll('\r\n', '\n');
}

function quotedPrintable(text: string): Buffer {
  const joined = text.replace(/=[ \t]*\r?\n/g, '');
  const plain = joined.replace(/=([\dA-Fa-f]{2})/g, (_, hex) =>
    String.fromCharCode(Number.parseInt(hex, 16)),
  );
  return Buffer.from(plain, 'latin1');
}

/** The declared charset, otherwise UTF-8, otherwise Windows-1252: one of them always works. */
export function decodeText(bytes: Buffer, charset: string | undefined): string {
  const declared = charset?.toLowerCase() ?? '';
  if (declared !== '' && declared !== 'us-ascii' && declared !== 'utf-8') {
    const decoder = decoderOf(declared);
    if (decoder?.encoding === 'windows-1252') return fromWindows1252(bytes);
    if (decoder) return decoder.decode(bytes);
  }
  try {
    return STRICT_UTF8.decode(bytes);
  } catch {
    return fromWindows1252(bytes);
  }
}

/** Some versions of Node decode it as Latin-1: a euro sign became U+0080 (nodejs/node#56542). */
export function fromWindows1252(bytes: Buffer): string {
  const text = WINDOWS_1252.decode(bytes);
  return C1.test(text)
    ? text.replace(C1_ALL, (character) => HIGH_1252[character.charCodeAt(0) - 0x80]!)
    : text;
}
const C1 = /[\x80-\x9f]/;
const C1_ALL = /[\x80-\x9f]/g;
/** 0x80 to 0x9f, as the WHATWG has them. */
const HIGH_1252 = [...'€\x81‚ƒ„…†‡ˆ‰Š‹Œ\x8dŽ\x8f', ...'\x90‘’“”•–—˜™š›œ\x9džŸ'];
const STRICT_UTF8 = new TextDecoder('utf-8', { fatal: true });
const WINDOWS_1252 = new TextDecoder('windows-1252');

/** Making one costs a hundred times what a short word costs to decode. Null: an unknown charset. */
type Decoder = InstanceType<typeof TextDecoder>;
const decoders = new Map<string, Decoder | null>();
const MOST_DECODERS = 200;

export function decoderOf(charset: string): Decoder | null {
  const known = decoders.get(charset);
  if (known !== undefined) return known;
  let decoder: Decoder | null = null;
  try {
    decoder = new TextDecoder(charset);
  } catch {
    // As if none had been declared.
  }
  if (decoders.size >= MOST_DECODERS) decoders.clear();
  decoders.set(charset, decoder);
  return decoder;
}

/** A header's value for people: raw UTF-8 (RFC 6532) and encoded words (RFC 2047) decoded. */
export function headerText(value: string | undefined): string {
  if (value === undefined) return '';
  // Most are ASCII, and need no decoding.
  if (PLAIN.test(value) && !value.includes('=?')) return value;
  const text = decodeText(Buffer.from(value, 'latin1'), undefined);
  return text
    .replace(/(\?=)\s{1,100}(?==\?)/g, '$1')
    .replace(/=\?([\w:.-]{1,40})(?:\*[\w-]{0,20})?\?([bq])\?([^?\s]{0,1000})\?=/gi, encodedWord);
}

const PLAIN = /^[\t -~]*$/;

function encodedWord(_: string, charset: string, encoding: string, word: string): string {
  const bytes =
    encoding.toLowerCase() === 'b'
      ? Buffer.from(word, 'base64')
      : quotedPrintable(word.replaceAll('_', ' '));
  return decodeText(bytes, charset);
}

/** Past empty lines and the `From ` line of mbox. */
export function firstField(text: string): number {
  return /^\s*(?:From [^\n]*\n)?/.exec(text.slice(0, 4096))?.[0].length ?? 0;
}

function lineAt(text: string, at: number, next: number): string {
  return text.slice(at, Math.min(next, at + MOST_FIELD_CHARS)).trimEnd();
}

function lineEnd(text: string, at: number): number {
  const newline = text.indexOf('\n', at);
  return newline < 0 ? text.length : newline + 1;
}

/** Old Mac files end lines with \r alone. */
function newlines(raw: Buffer): Buffer {
  return raw.includes(10) ? raw : Buffer.from(raw.map((byte) => (byte === 13 ? 10 : byte)));
}
