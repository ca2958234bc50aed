// The log: pino JSON lines on standard error, so that standard output is free for answers and the
// banner. It contains ids of requests, accounts and messages, never bodies or keys.
import { destination, pino } from 'pino';
import { isConnectionFault } from './connection-fault.ts';
import type { LogFields } from './log-fields.ts';

export type Level = 'trace' | 'debug' | 'info' | 'warn' | 'error' | 'fatal';

export type Log = Record<Level, Say> & {
  isLevelEnabled(level: Level): boolean;
  /** Says the fields on each of its lines. */
  child(fields: LogFields): Log;
};

interface Say {
  <Fields extends object, Text extends string>(about: Known<Fields>, msg: Constant<Text>): void;
  <Text extends string>(msg: Constant<Text>): void;
}

/** Fields of the one list only, also where they come from elsewhere. */
export type Known<Fields extends object> = Fields &
  LogFields & { [Name in Exclude<keyof Fields, keyof LogFields>]: never };

/**
 * A text that is written out, so that lines can be counted by it: what varies belongs in a field.
 */
export type Constant<Text extends string> =
  Record<never, never> extends Record<Text, 1> ? never : Text;

export function createLog(level: string): Log {
  const log = pino(
    {
      level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      serializers: { err: describeError },
    },
    destination(2),
  );
  return log as unknown as Log;
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
