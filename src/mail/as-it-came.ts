// A MIME tree that arrived whole, passed on as received. Before: compose.ts, with the bytes as
// stored. After: compose.ts puts our header above them. Only what must be changed is: HTML that is
// tracked, and what a relay on the way could damage (bytes over 127, lines over 998 bytes). Signed
// or encrypted parts are never touched.
import { isFile, placeOf } from '../mime/contents.ts';
import { utf8In } from '../mime/decoding.ts';
import { describedBy, type Field, parameterText, textOf } from '../mime/fields.ts';
import { type Entity, isPlain, readTree } from '../mime/tree.ts';
import { atOnce } from '../process/in-turns.ts';
import { endedByLine, type PartChunk } from './encoded-part.ts';
import { asBase64, type EncodedBody, encodeText, isSevenBit } from './mime-body.ts';
import { parameter, textHeader } from './mime-headers.ts';

export interface MimeAsItCame {
  /** The header lines that describe the content, as received. */
  fields: string;
  body: Buffer;
  /** Any relay passes its bytes on unharmed. */
  sevenBit: boolean;
  /** Adds pixel and links to HTML in UTF-8; null: it stays as it is. */
  track: ((html: Buffer) => Buffer[]) | null;
}

export interface AsItCame {
  head: string;
  body: PartChunk[];
}

/** What replaces the bytes between two offsets. */
interface Change {
  from: number;
  to: number;
  chunks: PartChunk[];
}

export function asItCame(mime: MimeAsItCame): AsItCame {
  const { fields, body, sevenBit, track } = mime;
  const asIs = { head: fields, body: body.length === 0 ? [] : [body] };
  if (sevenBit && track === null) return asIs;
  const tree = readTree(fields, body);
  if (isSealed(tree)) return asIs;
  const whole = changed(mime, tree);
  if (whole !== undefined) return { head: whole.head, body: endedByLine(whole.body) };
  const changes: Change[] = [];
  collectParts(mime, tree, changes);
  return { head: sevenBit ? fields : headOf(tree), body: withChanges(body, changes) };
}

/** In the order of their offsets. */
function collect(mime: MimeAsItCame, entity: Entity, changes: Change[]): void {
  const { at, bodyAt, end } = entity;
  const whole = changed(mime, entity);
  if (whole !== undefined) {
    changes.push({ from: at, to: end, chunks: [asBytes(`${whole.head}\r\n`), ...whole.body] });
    return;
  }
  if (isSealed(entity)) return;
  const head = mime.sevenBit ? undefined : headOf(entity);
  if (head !== undefined && head !== linesOf(entity.fields)) {
    changes.push({ from: at, to: bodyAt, chunks: [asBytes(`${head}\r\n`)] });
  }
  collectParts(mime, entity, changes);
}

/** An email inside an email is quoted: its links are not ours. */
function collectParts(mime: MimeAsItCame, { type, children }: Entity, changes: Change[]): void {
  const inside = type.startsWith('message/') ? { ...mime, track: null } : mime;
  for (const child of children) collect(inside, child, changes);
}

/** A leaf that cannot be sent unchanged: its header and its body. */
function changed(mime: MimeAsItCame, entity: Entity): AsItCame | undefined {
  if (entity.children.length > 0 || isSealed(entity)) return undefined;
  const { body, track, sevenBit } = mime;
  if (track !== null && entity.type === 'text/html' && !isFile(entity)) {
    const html = atOnce(utf8In(body, placeOf(entity)));
    const tracked = html && track(html);
    if (tracked && tracked[0] !== html) return encodedAs(entity, encodeText(tracked), 'utf-8');
  }
  const written = body.subarray(entity.bodyAt, entity.end);
  if (sevenBit || !isPlain(entity) || isSevenBit(written)) return undefined;
  return entity.type.startsWith('text/')
    ? encodedAs(entity, encodeText([written]))
    : encodedAs(entity, { encoding: 'base64', chunks: [asBase64(written)] });
}

/** Changing a byte in it would break the signature or encryption. */
const isSealed = ({ type }: Entity): boolean =>
  type === 'multipart/signed' || type === 'multipart/encrypted';

function encodedAs(entity: Entity, { encoding, chunks }: EncodedBody, charset?: string): AsItCame {
  const kept = entity.fields.filter(({ key }) => key !== 'content-transfer-encoding');
  const described = kept.map((field) =>
    field.key === 'content-type' && charset !== undefined
      ? withCharset(field, charset)
      : sevenBitLines(field),
  );
  if (charset !== undefined && !kept.some(({ key }) => key === 'content-type')) {
    described.push(`Content-Type: ${entity.type}; charset=${charset}\r\n`);
  }
  const head = `${described.join('')}Content-Transfer-Encoding: ${encoding}\r\n`;
  return { head, body: chunks };
}

/** Its header without bytes over 127, and without the claim that there are some in its parts. */
function headOf({ fields, children }: Entity): string {
  const isClaim = ({ key }: Field) => children.length > 0 && key === 'content-transfer-encoding';
  return fields
    .map((field) => (isClaim(field) ? 'Content-Transfer-Encoding: 7bit\r\n' : sevenBitLines(field)))
    .join('');
}

const linesOf = (fields: readonly Field[]): string => fields.map(({ lines }) => lines).join('');

const ASCII = /^[\x00-\x7f]*$/;

function sevenBitLines(field: Field): string {
  if (ASCII.test(field.lines)) return field.lines;
  if (field.key !== 'content-type' && field.key !== 'content-disposition') {
    return textHeader(field.name, textOf(field));
  }
  return described(field, () => true);
}

function withCharset(field: Field, charset: string): string {
  return described(field, (name) => name !== 'charset').replace(
    /\r\n$/,
    `; charset=${charset}\r\n`,
  );
}

/** `Content-Type: text/plain` rewritten with the wanted parameters only. */
function described(field: Field, wanted: (name: string) => boolean): string {
  const { value, parameters } = describedBy(field);
  const names = new Set([...parameters.keys()].map((name) => name.replace(/\*.*$/s, '')));
  const written = [...names]
    .filter(wanted)
    .map((name) => parameter(name, parameterText(parameters, name) ?? ''));
  return `${field.name}: ${value}${written.join('')}\r\n`;
}

function withChanges(body: Buffer, changes: readonly Change[]): PartChunk[] {
  const pieces: PartChunk[] = [];
  let at = 0;
  for (const { from, to, chunks } of changes) {
    if (from > at) pieces.push(body.subarray(at, from));
    pieces.push(...chunks);
    at = to;
  }
  if (at < body.length) pieces.push(body.subarray(at));
  return pieces;
}

const asBytes = (text: string): Buffer => Buffer.from(text, 'latin1');
