// The log: pino JSON lines on standard error, so that standard output stays for answers and the
// banner. Ids of request, account and message go in; bodies and keys never do.
import { destination, type Logger, pino } from 'pino';
import { isConnectionFault } from './connection-fault.ts';

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
  const { name, stack, cause } = error;
  const { code } = error as { code?: unknown };
  return {
    type: name,
    message: messageOf(error),
    ...(code === undefined ? {} : { code }),
    // Where in the code a server was missed says nothing; that it was, does.
    ...(isConnectionFault(error) ? {} : { stack }),
    ...(cause === undefined ? {} : { cause: describeError(cause) }),
  };
}

/** A host with several addresses fails with an error for each, and an empty text over them. */
function messageOf(error: Error): string {
  if (error.message !== '' || !(error instanceof AggregateError)) return error.message;
  return error.errors.map((each) => String((each as Error).message)).join('; ');
}
