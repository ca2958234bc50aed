// The log: pino JSON lines on standard error, so that standard output is free for answers and the
// banner. It contains ids of requests, accounts and messages, never bodies or keys.
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

/** The known fields only: drivers attach connections, and with them passwords, to their errors. */
function describeError(error: unknown): unknown {
  if (!(error instanceof Error)) return error;
  const { name, stack, cause } = error;
  const { code } = error as { code?: unknown };
  return {
    type: name,
    message: messageOf(error),
    ...(code === undefined ? {} : { code }),
    // The place in the code where a server was missed says nothing.
    ...(isConnectionFault(error) ? {} : { stack }),
    ...(cause === undefined ? {} : { cause: describeError(cause) }),
  };
}

/**
 * A host with several addresses fails with an error for each, and an empty message for all of them.
 */
function messageOf(error: Error): string {
  if (error.message !== '' || !(error instanceof AggregateError)) return error.message;
  return error.errors.map((each) => String((each as Error).message)).join('; ');
}
