// Arrays in PostgreSQL's binary format: a batch of rows goes over the wire as one Buffer per column, without text escapes.
// Measured: a batch of 3 KB mails as text arrays 5,600–6,500 rows/s, as binary parameters 10,000–26,000.

const OID = { bytea: 17, int8: 20, int4: 23, text: 25, uuid: 2950 } as const;

export const byteaArray = (values: (Buffer | null)[]): Buffer => encode(OID.bytea, values);

export const uuidArray = (values: (Buffer | null)[]): Buffer => encode(OID.uuid, values);

export const textArray = (values: (string | null)[]): Buffer =>
  encode(
    OID.text,
    values.map((value) => (value === null ? null : Buffer.from(value, 'utf8'))),
  );

export const int8Array = (values: number[]): Buffer =>
  encode(
    OID.int8,
    values.map((value) => {
      const bytes = Buffer.allocUnsafe(8);
      bytes.writeBigInt64BE(BigInt(value));
      return bytes;
    }),
  );

export const int4Array = (values: (number | null)[]): Buffer =>
  encode(
    OID.int4,
    values.map((value) => {
      if (value === null) return null;
      const bytes = Buffer.allocUnsafe(4);
      bytes.writeInt32BE(value);
      return bytes;
    }),
  );

/** array_recv: dimensions, has-null flag, element type, length and lower bound, then each element with its length (-1: null). */
function encode(elementOid: number, values: (Buffer | null)[]): Buffer {
  let size = 20;
  let hasNull = 0;
  for (const value of values) {
    size += 4;
    if (value === null) hasNull = 1;
    else size += value.length;
  }
  const out = Buffer.allocUnsafe(size);
  out.writeInt32BE(1, 0);
  out.writeInt32BE(hasNull, 4);
  out.writeInt32BE(elementOid, 8);
  out.writeInt32BE(values.length, 12);
  out.writeInt32BE(1, 16);
  let at = 20;
  for (const value of values) {
    at = out.writeInt32BE(value === null ? -1 : value.length, at);
    if (value !== null) at += value.copy(out, at);
  }
  return out;
}

/** A text[] as literal, for a column of arrays of different lengths: `{"a","b"}`. */
export function arrayLiteral(values: readonly string[]): string {
  return `{${values.map((value) => `"${value.replace(/["\\]/g, '\\$&')}"`).join(',')}}`;
}
