// The log: pino JSON lines on standard error, so that standard output stays for answers and the banner.
// Ids of request, account and message go in; bodies and keys never do.
import { destination, type Logger, pino } from 'pino';

export type Log = Logger;

export function createLog(level: string): Log {
  return pino(
    {
      level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      serializers: { err: describeError },
    },
    destination(2),
  );
}

/** The known fields only: drivers hang connections, and with them passwords, on their errors. */
function describeError(error: unknown): unknown {
  if (!(error instanceof Error)) return error;
  const { name, message, stack, cause } = error;
  const { code } = error as { code?: unknown };
  return {
    type: name,
    message,
    ...(code === undefined ? {} : { code }),
    stack,
    ...(cause === undefined ? {} : { cause: describeError(cause) }),
  };
}
