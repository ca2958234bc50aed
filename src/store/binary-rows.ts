// Rows in PostgreSQL's binary format, as binary.ts has parameters in it. pg decodes every value as
// UTF-8 before anyone sees it, so bytes would have to come as hexadecimal text, twice as many: that
// was a tenth of what working off an email cost PostgreSQL. Before it: connection.ts, for
// statements that ask for it. After it: pg makes the rows.
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

/** Reads messages as pg does, but the values of binary rows straight from their bytes. */
export function readMessages(stream: Readable, told: Told): void {
  const parser = new Parser();
  const changed = parser as unknown as MessageParser;
  const handlePacket = changed.handlePacket.bind(parser);
  /** Of the rows to come; undefined: they are in the text format. */
  let columns: Read[] | undefined;
  changed.handlePacket = (at, code, length, bytes) => {
    if (code === DATA_ROW && columns !== undefined) {
      return dataRow(at, length, bytes, columns) as unknown as Message;
    }
    const message = handlePacket(at, code, length, bytes);
    if (code === ROW_DESCRIPTION) columns = binaryColumns(message as unknown as RowDescription);
    return message;
  };
  stream.on('data', (bytes: Buffer) => parser.parse(bytes, told));
}

interface RowDescription {
  fields: { dataTypeID: number; format: string }[];
}

/**
 * All columns of a row have the same format. pg is told another name: it copies "binary" values.
 */
function binaryColumns({ fields }: RowDescription): Read[] | undefined {
  if (fields[0]?.format !== 'binary') return undefined;
  for (const field of fields) field.format = ALREADY_READ;
  return fields.map(({ dataTypeID }) => READS.get(dataTypeID) ?? notRead);
}

const ALREADY_READ = 'read';

/** How many values, then each with its length; -1: null. */
function dataRow(start: number, length: number, bytes: Buffer, columns: Read[]) {
  const fields: unknown[] = [];
  let at = start + 2;
  for (const read of columns) {
    const size = bytes.readInt32BE(at);
    at += 4;
    fields.push(size < 0 ? null : read(bytes, at, at + size));
    at += Math.max(0, size);
  }
  return { name: 'dataRow', length, fields };
}

const { BOOL, BYTEA, FLOAT8, INT2, INT4, INT8, JSONB, TEXT, TIMESTAMPTZ, UUID } = pg.types.builtins;
const TEXTS = 1009;
const VOID = 2278;

/** A value of these bytes. */
type Read = (bytes: Buffer, at: number, end: number) => unknown;

const int8 = (bytes: Buffer, at: number): number =>
  bytes.readInt32BE(at) * 2 ** 32 + bytes.readUInt32BE(at + 4);

const text = (bytes: Buffer, at: number, end: number): string => bytes.toString('utf8', at, end);

/** A call returns no other types. */
const READS = new Map<number, Read>([
  [VOID, () => ''],
  [BOOL, (bytes, at) => bytes[at] === 1],
  [INT2, (bytes, at) => bytes.readInt16BE(at)],
  [INT4, (bytes, at) => bytes.readInt32BE(at)],
  [INT8, int8],
  [FLOAT8, (bytes, at) => bytes.readDoubleBE(at)],
  [TEXT, text],
  [TEXTS, texts],
  // Its version comes first.
  [JSONB, (bytes, at, end) => JSON.parse(text(bytes, at + 1, end))],
  [UUID, (bytes, at, end) => bytesToUuid(bytes.subarray(at, end))],
  [TIMESTAMPTZ, (bytes, at) => new Date(int8(bytes, at) / 1000 + MS_TO_2000)],
  // A copy: what it came in would be kept for as long as it is.
  [BYTEA, (bytes, at, end) => Buffer.from(bytes.subarray(at, end))],
]);

/** Nobody here may throw: pg would not catch it. */
const UNREAD = Symbol('a value of a type that is not read in the binary format');
const notRead: Read = () => UNREAD;

function asRead<Value>(value: Value): Value {
  if (value === UNREAD) throw new TypeError(UNREAD.description);
  return value;
}

/** array_send: see ArrayValue. There are no nulls in ours. */
function texts(bytes: Buffer, start: number): string[] {
  const found: string[] = [];
  const hasElements = bytes.readInt32BE(start) > 0;
  let at = start + 20;
  for (let left = hasElements ? bytes.readInt32BE(start + 12) : 0; left > 0; left--) {
    const end = at + 4 + bytes.readInt32BE(at);
    found.push(text(bytes, at + 4, end));
    at = end;
  }
  return found;
}

const TEXT_PARSERS = new pg.TypeOverrides();
TEXT_PARSERS.setTypeParser(INT8, Number);

/** What pg does with the values of a column. */
export const types = {
  getTypeParser: (oid: number, format?: string): ((value: never) => unknown) =>
    format === ALREADY_READ ? asRead : TEXT_PARSERS.getTypeParser(oid, 'text'),
};
