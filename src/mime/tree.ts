// The MIME tree of an email as ranges of its bytes: nothing is copied and nothing discarded, so an
// email can be passed on as received and read at the same time. Before: an email arrived by SMTP,
// with CRLF at the end of every line. After: contents.ts finds what people read in it, and
// mail/as-it-came.ts what has to be changed on its way out.
//
// Each level is one search by native code for lines that begin with two dashes, inside the range
// its parent left, so the time grows with the bytes and the depth, and the depth is limited. The
// whole boundary is not searched for: 24 MB of near matches held the event loop for 1.4 s.
import { atOnce } from '../process/in-turns.ts';
import { describedBy, type Field, fieldOf, readFields } from './fields.ts';

export interface Entity {
  fields: Field[];
  /** Where its header begins … */
  at: number;
  /** … its body … */
  bodyAt: number;
  /** … and where it ends, without the line end that belongs to the boundary. */
  end: number;
  /** `text/plain` and the like, in lower case. */
  type: string;
  parameters: ReadonlyMap<string, string>;
  /** The transfer encoding, in lower case. */
  encoding: string;
  /** The parts of a multipart, the email in a message; otherwise empty. */
  children: Entity[];
}

const MOST_DEPTH = 16;
const MOST_PARTS = 5000;
/** Lines that begin as every boundary does, such as comments of a program's text. */
const MOST_LOOKS = 200_000;
/** Of one part, in bytes. */
const LONGEST_HEADER = 64 * 1024;

/** Others may get a turn after each step. */
const STEP_LOOKS = 20_000;
const STEP_PARTS = 100;

/**
 * `head`: the fields that describe the content. What cannot be parsed becomes one part. Yields
 * where others may get a turn: sixteen levels over 24 MB took 90 ms.
 */
export function* treeOf(head: string, body: Buffer): Generator<void, Entity> {
  const { fields } = readFields(head);
  const reading = { body, looks: 0, parts: 0 };
  return yield* entityOf(reading, fields, { at: 0, bodyAt: 0, end: body.length }, 0);
}

export const readTree = (head: string, body: Buffer): Entity => atOnce(treeOf(head, body));

interface Reading {
  body: Buffer;
  looks: number;
  parts: number;
}

function* entityOf(
  reading: Reading,
  fields: Field[],
  places: Pick<Entity, 'at' | 'bodyAt' | 'end'>,
  depth: number,
): Generator<void, Entity> {
  const { value, parameters } = describedBy(fieldOf(fields, 'content-type'));
  const encoding = fieldOf(fields, 'content-transfer-encoding')?.value.toLowerCase() ?? '7bit';
  const type = /^[^\s/]+\/[^\s/]+$/.test(value) ? value : 'text/plain';
  const entity: Entity = { fields, ...places, type, parameters, encoding, children: [] };
  if (depth < MOST_DEPTH) entity.children = yield* childrenOf(reading, entity, depth + 1);
  return entity;
}

function* childrenOf(reading: Reading, entity: Entity, depth: number): Generator<void, Entity[]> {
  const { type, parameters, bodyAt, end } = entity;
  if (type === 'message/rfc822' || type === 'message/global') {
    return isPlain(entity) ? [yield* readPart(reading, bodyAt, end, depth)] : [];
  }
  const boundary = type.startsWith('multipart/') ? parameters.get('boundary') : undefined;
  return boundary ? yield* readParts(reading, entity, boundary, depth) : [];
}

/** It is not encoded (RFC 2045 6.2): neither base64 nor quoted-printable. */
export const isPlain = ({ encoding }: Pick<Entity, 'encoding'>): boolean =>
  encoding !== 'base64' && encoding !== 'quoted-printable';

function* readPart(
  reading: Reading,
  at: number,
  end: number,
  depth: number,
): Generator<void, Entity> {
  const head = reading.body.toString('latin1', at, Math.min(end, at + LONGEST_HEADER));
  const { fields, end: length } = readFields(head);
  return yield* entityOf(reading, fields, { at, bodyAt: at + length, end }, depth);
}

function* readParts(
  reading: Reading,
  { bodyAt, end }: Entity,
  boundary: string,
  depth: number,
): Generator<void, Entity[]> {
  const parts: Entity[] = [];
  const delimiter = Buffer.from(`--${boundary}`, 'latin1');
  let line = yield* nextDelimiter(reading, delimiter, bodyAt, end);
  while (line !== undefined && !line.closes && reading.parts++ < MOST_PARTS) {
    const next = yield* nextDelimiter(reading, delimiter, line.next, end);
    // The line end before a boundary belongs to it (RFC 2046 5.1.1).
    const partEnd = next === undefined ? end : Math.max(line.next, next.at - 2);
    parts.push(yield* readPart(reading, line.next, partEnd, depth));
    if (reading.parts % STEP_PARTS === 0) yield;
    line = next;
  }
  return parts;
}

interface Delimiter {
  at: number;
  /** Where the line after it begins. */
  next: number;
  closes: boolean;
}

/** The first boundary line from an offset where a line begins. */
function* nextDelimiter(
  reading: Reading,
  delimiter: Buffer,
  from: number,
  end: number,
): Generator<void, Delimiter | undefined> {
  // No further than the end: what follows belongs to other parts, which search it themselves.
  const body = reading.body.subarray(0, end);
  let at = body[from] === DASH && body[from + 1] === DASH ? from : nextDashes(body, from);
  while (at >= 0 && reading.looks++ < MOST_LOOKS) {
    const after = at + delimiter.length;
    const isIt = after <= end && body.compare(delimiter, 0, delimiter.length, at, after) === 0;
    const found = isIt ? delimiterAt(body, at, after) : undefined;
    if (found !== undefined) return found;
    at = nextDashes(body, at);
    if (reading.looks % STEP_LOOKS === 0) yield;
  }
  // The whole rest was searched.
  yield;
  return undefined;
}

/** Where the next line begins with two dashes; -1: there is none. */
function nextDashes(body: Buffer, from: number): number {
  const found = body.indexOf(LINE_OF_DASHES, from);
  return found < 0 ? -1 : found + 2;
}

const LINE_OF_DASHES = Buffer.from('\r\n--');

/** After the boundary: `--` if it closes, spaces, the end of the line. */
function delimiterAt(body: Buffer, at: number, after: number): Delimiter | undefined {
  const end = body.length;
  const closes = body[after] === DASH && body[after + 1] === DASH;
  let next = closes ? after + 2 : after;
  while (next < end && (body[next] === SPACE || body[next] === TAB)) next++;
  if (next >= end) return { at, next: end, closes };
  if (body[next] !== CR || body[next + 1] !== LF) return undefined;
  return { at, next: Math.min(next + 2, end), closes };
}

const CR = 13;
const LF = 10;
const DASH = 45;
const SPACE = 32;
const TAB = 9;
