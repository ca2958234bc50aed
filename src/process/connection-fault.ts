// What the database cannot do for a while: a server that cannot be reached or was lost on the way,
// a full disk, one that takes no writes, one that is too busy. The log needs no stack of the first,
// workers try again, and callers are told to come back.
import { Problem } from '../errors.ts';

export type DatabaseFault = 'away' | 'disk-full' | 'read-only' | 'busy';

const NETWORK_CODES =
  /^(ECONNREFUSED|ECONNRESET|ECONNABORTED|EPIPE|ETIMEDOUT|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH)$/;
/**
 * SQLSTATE: class 08 (connection), 53300 (too many), 57P01 to 57P05 (the server stops or starts, or
 * ended the session).
 */
const CONNECTION_STATES = /^(08...|53300|57P0[1235])$/;
/** What pg and its pool say without a code. */
const CONNECTION_TEXTS =
  /^(Connection terminated|timeout expired|Client has encountered a connection error|Client was closed)/;

/** Whether a server could not be reached, or was lost: not a fault of ours, and it passes. */
export function isConnectionFault(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const { code } = error as { code?: unknown };
  return typeof code === 'string'
    ? NETWORK_CODES.test(code) || CONNECTION_STATES.test(code)
    : CONNECTION_TEXTS.test(error.message);
}

/**
 * SQLSTATE: 57014 (statement timeout), 55P03 (lock timeout), 40001 and 40P01 (others were first),
 * class 53 (resources).
 */
const BUSY_STATES = /^(57014|55P03|40001|40P01|53...)$/;

/** What the pool says when nobody gave a connection back in time. */
const ALL_LENT = 'timeout exceeded when trying to connect';

/**
 * By name, what the database cannot do for a while; undefined: the fault is in what it was asked.
 */
export function databaseFault(error: unknown): DatabaseFault | undefined {
  if (isConnectionFault(error)) return 'away';
  const { code, message } = (error ?? {}) as { code?: unknown; message?: unknown };
  if (code === '53100') return 'disk-full';
  // The second: the file system under the server was mounted again without the right to write, as
  // after a fault of the disk.
  if (code === '25006' || /Read-only file system/.test(String(message))) return 'read-only';
  const busy = typeof code === 'string' ? BUSY_STATES.test(code) : message === ALL_LENT;
  return busy ? 'busy' : undefined;
}

/** Away or busy: what is not urgent can be left for later. */
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
 * What a caller is told of an error: the problem that it is, or how the database is; undefined: the
 * fault is ours.
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
