// Connection faults: a server, mostly the database, that could not be reached or was lost on the way. The log needs no stack of
// them, workers try again, and callers are told to come back.
import { Problem } from './errors.ts';

const NETWORK_CODES =
  /^(ECONNREFUSED|ECONNRESET|ECONNABORTED|EPIPE|ETIMEDOUT|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH)$/;
/** SQLSTATE: class 08 (connection), 53300 (too many), 57P01 to 57P03 (the server stops or starts). */
const CONNECTION_STATES = /^(08...|53300|57P0[123])$/;
/** What pg and its pool say without a code. */
const CONNECTION_TEXTS =
  /^(Connection terminated|timeout expired|timeout exceeded when trying to connect|Client has encountered a connection error)/;

/** Whether a server could not be reached, or was lost: not a fault of ours, and it passes. */
export function isConnectionFault(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const { code } = error as { code?: unknown };
  return typeof code === 'string'
    ? NETWORK_CODES.test(code) || CONNECTION_STATES.test(code)
    : CONNECTION_TEXTS.test(error.message);
}

/** What a caller is told of an error: the problem that it is, or that the database is away; undefined: the fault is ours. */
export function problemOf(error: unknown): Problem | undefined {
  if (error instanceof Problem) return error;
  if (!isConnectionFault(error)) return undefined;
  return new Problem(
    'unavailable',
    'The service cannot reach its database right now. Try again shortly.',
    { retryAfterSeconds: 2, cause: error },
  );
}
