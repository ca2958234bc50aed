// Rows in PostgreSQL's binary format, as binary.ts has parameters in it. pg decodes every value as
// UTF-8 before anyone sees it, so bytes have to come as hexadecimal text: twice as many, and a
// tenth of what working off an email cost. Before it: connection.ts, for statements that ask for
// it. After it: pg makes the rows, with these parsers.
import type { Readable } from 'node:stream';
import pg from 'pg';
import { Parser } from 'pg-protocol/dist/parser.js';
import { bytesToUuid } from '../ids.ts';
import { MS_TO_2000 } from './binary.ts';

type Told = Parameters<Parser['parse']>[1];
type Message = Parameters<Told>[0];

/** The part of pg's parser that we change. */
interface MessageParser {
  handlePacket: (at: number, code: number, length: number, bytes: Buffer) => Message;
}

const DATA_ROW = 'D'.charCodeAt(0);
const ROW_DESCRIPTION = 'T'.charCodeAt(0);

/** Reads messages as pg does, but tells the values of binary rows as their bytes. */
export function readMessages(stream: Readable, told: Told): void {
  const parser = new Parser();
  const changed = parser as unknown as MessageParser;
  const handlePacket = changed.handlePacket.bind(parser);
  let isBinary = false;
  changed.handlePacket = (at, code, length, bytes) => {
    if (code === DATA_ROW && isBinary) return dataRow(at, length, bytes) as unknown as Message;
    const message = handlePacket(at, code, length, bytes);
    if (code === ROW_DESCRIPTION) isBinary = noteFormat(message);
    return message;
  };
  stream.on('data', (bytes: Buffer) => parser.parse(bytes, told));
}

/**
 * All values of a row have the same format. With a name of its own: pg copies each "binary" value.
 */
function noteFormat(message: Message): boolean {
  const { fields } = message as unknown as { fields: { format: string }[] };
  const isBinary = fields[0]?.format === 'binary';
  if (isBinary) for (const field of fields) field.format = AS_BYTES;
  return isBinary;
}

const AS_BYTES = 'bytes';

/** How many values, then each with its length; -1: null. */
function dataRow(start: number, length: number, bytes: Buffer) {
  const fields: (Buffer | null)[] = [];
  let at = start + 2;
  for (let left = bytes.readInt16BE(start); left > 0; left--) {
    const size = bytes.readInt32BE(at);
    at += 4;
    if (size < 0) {
      fields.push(null);
      continue;
    }
    fields.push(bytes.subarray(at, at + size));
    at += size;
  }
  return { name: 'dataRow', length, fields };
}

const { BOOL, BYTEA, FLOAT8, INT2, INT4, INT8, TEXT, TIMESTAMPTZ, UUID } = pg.types.builtins;
const TEXTS = 1009;

const int8 = (bytes: Buffer, at = 0): number =>
  bytes.readInt32BE(at) * 2 ** 32 + bytes.readUInt32BE(at + 4);

type Parse<Value> = (value: Value) => unknown;

const TEXT_PARSERS = new pg.TypeOverrides();
TEXT_PARSERS.setTypeParser(INT8, Number);

/** A statement that asks for binary rows selects no other types. */
const BINARY_PARSERS = new Map<number, Parse<Buffer>>([
  [BOOL, (bytes) => bytes[0] === 1],
  [INT2, (bytes) => bytes.readInt16BE()],
  [INT4, (bytes) => bytes.readInt32BE()],
  [INT8, (bytes) => int8(bytes)],
  [FLOAT8, (bytes) => bytes.readDoubleBE()],
  [TEXT, (bytes) => bytes.toString()],
  [UUID, bytesToUuid],
  // What it came in would be kept for as long as it is.
  [BYTEA, (bytes) => Buffer.from(bytes)],
  [TIMESTAMPTZ, (bytes) => new Date(int8(bytes) / 1000 + MS_TO_2000)],
  [TEXTS, texts],
]);

/** How values are read, in either format. */
export const types = {
  getTypeParser(oid: number, format?: string): Parse<never> {
    if (format !== AS_BYTES) return TEXT_PARSERS.getTypeParser(oid, 'text');
    return BINARY_PARSERS.get(oid) ?? refuse;
  },
};

function refuse(): never {
  throw new TypeError('a type that is not read in the binary format (binary-rows.ts)');
}

/** array_send: see ArrayValue. There are no nulls in ours. */
function texts(bytes: Buffer): string[] {
  const found: string[] = [];
  const hasElements = bytes.readInt32BE(0) > 0;
  let at = 20;
  for (let left = hasElements ? bytes.readInt32BE(12) : 0; left > 0; left--) {
    const end = at + 4 + bytes.readInt32BE(at);
    found.push(bytes.toString('utf8', at + 4, end));
    at = end;
  }
  return found;
}
