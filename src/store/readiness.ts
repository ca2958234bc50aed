// Whether the database would store a send, and if not, what prevents it: /readyz, /metrics and
// `sandmartin doctor` ask. Reading works on a full disk, so an answer is not enough: failed writes
// are remembered, and tried again.

import { Problem } from '../errors.ts';
import { type DatabaseFault, databaseFault, FAULT_DETAILS } from '../process/connection-fault.ts';
import type { Database } from './pool.ts';

export const TROUBLES = ['away', 'disk-full', 'read-only', 'busy'] as const;

export interface Readiness {
  /** The result of a write; undefined: it succeeded. */
  noteWrite(error?: unknown): void;
  /** Undefined: a send would be stored. */
  trouble(): Promise<{ kind: DatabaseFault; detail: string } | undefined>;
  /** The same as a Problem, with the database's words as its cause. */
  require(): Promise<void>;
}

export function createReadiness(database: Database): Readiness {
  let couldNotWrite = false;
  async function find() {
    try {
      await requireWritable(database);
      if (couldNotWrite) await tryWriting(database);
      couldNotWrite = false;
      return undefined;
    } catch (error) {
      const kind = databaseFault(error);
      if (kind === undefined) throw error;
      return { kind, cause: error as Error };
    }
  }
  return {
    noteWrite(error) {
      const fault = databaseFault(error);
      if (error === undefined) couldNotWrite = false;
      else if (fault === 'disk-full' || fault === 'read-only') couldNotWrite = true;
    },
    async trouble() {
      const found = await find();
      if (found === undefined) return undefined;
      const { kind, cause } = found;
      return { kind, detail: `${FAULT_DETAILS[kind]} (${cause.message})` };
    },
    async require() {
      const found = await find();
      if (found === undefined) return;
      throw new Problem('unavailable', FAULT_DETAILS[found.kind], { cause: found.cause });
    },
  };
}

async function requireWritable(database: Database): Promise<void> {
  const [row] = await database.query<{ readOnly: boolean }>(
    `SELECT current_setting('transaction_read_only') = 'on' AS "readOnly"`,
  );
  if (row?.readOnly) {
    throw Object.assign(new Error('it is a standby, or was made read-only'), { code: '25006' });
  }
}

const PROBE_BYTES = 4 * 1024 * 1024;

/** Takes up disk space at the database and gives it back; nothing stays behind. */
export async function tryWriting(database: Database): Promise<void> {
  const done = new Error('enough');
  await database
    .transaction(async (client) => {
      await client.query('CREATE TEMP TABLE room (bytes text)');
      // PostgreSQL 15 has no STORAGE in CREATE TABLE.
      await client.query('ALTER TABLE room ALTER COLUMN bytes SET STORAGE PLAIN');
      await client.query(
        `INSERT INTO room SELECT repeat('x', 4000) FROM generate_series(1, ${PROBE_BYTES / 4000})`,
      );
      throw done;
    })
    .catch((error) => {
      if (error !== done) throw error;
    });
}
