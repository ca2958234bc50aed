// Temporary faults of the database: a server that cannot be reached or was lost, that has a full
// disk, that accepts no writes, or that is too busy. The log needs no stack for the first, workers
// retry, and callers are told to come back.
import { Problem } from '../errors.ts';

export type DatabaseFault = 'away' | 'disk-full' | 'read-only' | 'busy';

const NETWORK_CODES =
  /^(ECONNREFUSED|ECONNRESET|ECONNABORTED|EPIPE|ETIMEDOUT|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH)$/;
/**
 * SQLSTATE: class 08 (connection), 53300 (too many), 57P01 to 57P05 (the server stops or starts, or
 * ended the session).
 */
const CONNECTION_STATES = /^(08...|53300|57P0[1235])$/;
/** Messages of pg and its pool that have no code. */
const CONNECTION_TEXTS =
  /^(Connection terminated|timeout expired|Client has encountered a connection error|Client was closed)/;

/** Whether a server could not be reached, or was lost: not our fault, and temporary. */
export function isConnectionFault(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const { code } = error as { code?: unknown };
  return typeof code === 'string'
    ? NETWORK_CODES.test(code) || CONNECTION_STATES.test(code)
    : CONNECTION_TEXTS.test(error.message);
}

/**
 * SQLSTATE: 57014 (statement timeout), 55P03 (lock timeout), 40001 and 40P01 (conflicts with
 * others), class 53 (resources).
 */
const BUSY_STATES = /^(57014|55P03|40001|40P01|53...)$/;

/** What the pool says if no connection was returned in time. */
const ALL_LENT = 'timeout exceeded when trying to connect';

/** The name of a temporary fault of the database; undefined: the fault is in the statement. */
export function databaseFault(error: unknown): DatabaseFault | undefined {
  if (isConnectionFault(error)) return 'away';
  const { code, message } = (error ?? {}) as { code?: unknown; message?: unknown };
  if (code === '53100') return 'disk-full';
  // The second: the server's file system was remounted read-only, as after a disk fault.
  if (code === '25006' || /Read-only file system/.test(String(message))) return 'read-only';
  const busy = typeof code === 'string' ? BUSY_STATES.test(code) : message === ALL_LENT;
  return busy ? 'busy' : undefined;
}

/** Away or busy: work that is not urgent can wait. */
export const isPassing = (error: unknown): boolean =>
  ['away', 'busy'].includes(databaseFault(error) ?? '');

export const FAULT_DETAILS: Record<DatabaseFault, string> = {
  away: 'The service cannot reach its database right now. Try again shortly.',
  'disk-full':
    'The disk of the database is full, so nothing can be stored. Try again later; the operator of the service must free up space.',
  'read-only':
    'The database is read-only right now, so nothing can be stored. Try again later; the operator of the service must fix this.',
  busy: 'The database is too busy to answer in time. Try again shortly.',
};

const RETRY_AFTER_SECONDS: Record<DatabaseFault, number> = {
  away: 2,
  'disk-full': 30,
  'read-only': 5,
  busy: 5,
};

/**
 * What a caller is told about an error: the Problem itself, or the state of the database;
 * undefined: the fault is ours.
 */
export function problemOf(error: unknown): Problem | undefined {
  if (error instanceof Problem) return error;
  const fault = databaseFault(error);
  if (fault === undefined) return undefined;
  return new Problem('unavailable', FAULT_DETAILS[fault], {
    retryAfterSeconds: RETRY_AFTER_SECONDS[fault],
    cause: error,
  });
}
