// The database is away: how the drivers say so, as a problem that doors can answer with. Asked where errors become answers.
import { Problem } from '../errors.ts';

/** SQLSTATE classes 08 (connection), 53 (resources) and 57P (the server stops or starts). */
const STATES = /^(08...|53...|57P..)$/;
/** What the client itself says has no code. */
const WORDS =
  /^(Connection terminated|timeout exceeded when trying to connect|Client has encountered a connection error)/;

/** Undefined: the error is of another kind. */
export function asOutage(error: unknown): Problem | undefined {
  if (!(error instanceof Error) || error instanceof Problem) return undefined;
  const { code, syscall } = error as NodeJS.ErrnoException;
  const away =
    code === undefined ? WORDS.test(error.message) : syscall !== undefined || STATES.test(code);
  if (!away) return undefined;
  const detail = 'The database cannot be reached right now. Try again shortly.';
  return new Problem('unavailable', detail, { retryAfterSeconds: 2, cause: error });
}
