// The log: pino JSON lines on standard error, so that standard output stays for answers and the banner.
// Ids of request, account and message go in; bodies and keys never do.
import { destination, type Logger, pino } from 'pino';

export type Log = Logger;

export function createLog(level: string): Log {
  return pino({ level, base: null, timestamp: pino.stdTimeFunctions.isoTime }, destination(2));
}
