// The message that carries a statement's values to PostgreSQL, built in one piece; only large byte
// values stay where they are and are written in between. pg's own writer begins with 256 bytes and
// grows by half: it copied a batch of sends ten times over, and its garbage caused several full
// heap collections a second. Before it: connection.ts.
import { ArrayValue, type Aside, asideLengthOf } from './binary.ts';

/** As pg's queries pass it. */
export interface Bind {
  portal: string | null | undefined;
  statement: string | null | undefined;
  values: readonly unknown[] | null | undefined;
  /** The format of the rows. */
  binary: boolean | null | undefined;
  valueMapper: (value: unknown) => unknown;
}

const BIND = 'B'.charCodeAt(0);
const NULL = -1;

/**
 * As the protocol defines it: names, the format of each value, the values, the format of the rows.
 */
export function bindMessage({ portal, statement, values, binary, valueMapper }: Bind): Buffer[] {
  const written = (values ?? []).map((value) => writable(value, valueMapper));
  const names = Buffer.from(`${portal ?? ''}\0${statement ?? ''}\0`);
  let length = 4 + names.length + 2 + 2 * written.length + 2 + 4;
  let elsewhere = 0;
  for (const value of written) {
    length += 4 + (value?.length ?? 0);
    elsewhere +=
      value instanceof ArrayValue ? value.asideLength : asideLengthOf(value, value?.length ?? 0);
  }
  const out = Buffer.allocUnsafe(1 + length - elsewhere);
  const aside: Aside[] = [];
  let at = out.writeUInt8(BIND, 0);
  at = out.writeInt32BE(length, at);
  at += names.copy(out, at);
  at = out.writeInt16BE(written.length, at);
  for (const value of written) at = out.writeInt16BE(value === null || isText(value) ? 0 : 1, at);
  at = out.writeInt16BE(written.length, at);
  for (const value of written) {
    at = out.writeInt32BE(value?.length ?? NULL, at);
    if (value === null) continue;
    if (value instanceof ArrayValue) at = value.writeTo(out, at, aside);
    else if (isText(value)) at += out.write(value.text, at);
    else if (asideLengthOf(value, value.length) > 0) aside.push({ at, bytes: value });
    else at += value.copy(out, at);
  }
  at = out.writeInt16BE(1, at);
  out.writeInt16BE(binary ? 1 : 0, at);
  return aside.length === 0 ? [out] : inOrder(out, aside);
}

function inOrder(out: Buffer, aside: readonly Aside[]): Buffer[] {
  const pieces: Buffer[] = [];
  let from = 0;
  for (const { at, bytes } of aside) {
    pieces.push(out.subarray(from, at), bytes);
    from = at;
  }
  return [...pieces, out.subarray(from)];
}

interface Text {
  text: string;
  length: number;
}

const isText = (value: object): value is Text => 'text' in value;

/** Arrays and bytes are in PostgreSQL's binary format, everything else in its text format. */
function writable(
  given: unknown,
  valueMapper: Bind['valueMapper'],
): ArrayValue<unknown> | Buffer | Text | null {
  if (given instanceof ArrayValue) return given;
  const value = valueMapper(given);
  if (value === null || value === undefined) return null;
  if (Buffer.isBuffer(value)) return value;
  const text = String(value);
  return { text, length: Buffer.byteLength(text) };
}
