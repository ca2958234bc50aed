// Sealed columns: each folder declares which of its columns hold sealed values (roles/secrets.ts
// has them all), and this walks over their rows: to seal them with another key, to seal what a
// migration left in plain text, to find what cannot be opened.

import type { Queryable } from './pool.ts';
import { PLAIN, seal, unseal } from './sealing.ts';

export type SealedRow = Record<string, unknown>;

export interface SealedColumn {
  table: string;
  column: string;
  /** Columns that identify a row, and that label and name are built from. */
  key: readonly string[];
  /** What the ciphertext is bound to: it does not open in another row. */
  label(row: SealedRow): string;
  /** As people read it, as the subject of a sentence. */
  name(row: SealedRow): string;
}

const ROWS_AT_A_TIME = 500;

/**
 * Seals everything with `to`. What no key opens stays as it is; returns its names and how many were
 * resealed.
 */
export async function resealAll(
  client: Queryable,
  columns: readonly SealedColumn[],
  to: Buffer,
  from: readonly Buffer[],
): Promise<{ resealed: number; stranded: string[] }> {
  const stranded: string[] = [];
  let resealed = 0;
  for (const column of columns) {
    for await (const { row, sealed } of rowsOf(client, column)) {
      const label = column.label(row);
      if (unseal(to, label, sealed) !== undefined) continue;
      const plain = openPlain(sealed) ?? firstOpened(from, label, sealed);
      if (plain === undefined) stranded.push(column.name(row));
      else {
        await put(client, column, row, seal(to, label, plain));
        resealed++;
      }
    }
  }
  return { resealed, stranded };
}

/** Seals what a migration left in plain text. Runs at every start; cheap if there is nothing. */
export async function sealPlain(
  client: Queryable,
  columns: readonly SealedColumn[],
  key: Buffer,
): Promise<void> {
  for (const column of columns) {
    for await (const { row, sealed } of rowsOf(client, column, PLAIN)) {
      await put(client, column, row, seal(key, column.label(row), openPlain(sealed)!));
    }
  }
}

/** Names of what the key does not open, and how many there are in total. */
export async function findUnopenable(
  client: Queryable,
  columns: readonly SealedColumn[],
  key: Buffer,
): Promise<{ total: number; stranded: string[] }> {
  const stranded: string[] = [];
  let total = 0;
  for (const column of columns) {
    for await (const { row, sealed } of rowsOf(client, column)) {
      total++;
      if (unseal(key, column.label(row), sealed) === undefined) stranded.push(column.name(row));
    }
  }
  return { total, stranded };
}

/**
 * A cursor: however many rows there are, few are in memory. It shows the rows as they were when it
 * was opened.
 */
async function* rowsOf(
  client: Queryable,
  { table, column, key }: SealedColumn,
  how?: number,
): AsyncGenerator<{ row: SealedRow; sealed: Buffer }> {
  const only =
    how === undefined ? `${column} IS NOT NULL` : `substr(${column}, 1, 1) = '\\x0${how}'`;
  await client.query(
    `DECLARE sealed NO SCROLL CURSOR FOR SELECT ${key.join(', ')}, ${column} AS sealed FROM ${table} WHERE ${only}`,
  );
  for (;;) {
    const rows = await client.query<SealedRow>(`FETCH ${ROWS_AT_A_TIME} FROM sealed`);
    for (const { sealed, ...row } of rows) yield { row, sealed: sealed as Buffer };
    if (rows.length < ROWS_AT_A_TIME) break;
  }
  await client.query('CLOSE sealed');
}

async function put(
  client: Queryable,
  { table, column, key }: SealedColumn,
  row: SealedRow,
  sealed: Buffer,
): Promise<void> {
  const where = key.map((name, at) => `${name} = $${at + 2}`).join(' AND ');
  await client.query(`UPDATE ${table} SET ${column} = $1 WHERE ${where}`, [
    sealed,
    ...key.map((name) => row[name]),
  ]);
}

const openPlain = (sealed: Buffer): Buffer | undefined =>
  sealed[0] === PLAIN ? sealed.subarray(1) : undefined;

function firstOpened(keys: readonly Buffer[], label: string, sealed: Buffer): Buffer | undefined {
  for (const key of keys) {
    const plain = unseal(key, label, sealed);
    if (plain !== undefined) return plain;
  }
  return undefined;
}
