// A fault that recurs until its cause is gone: with the database away, every read and every write
// fails, many times a second. It is logged once a second. For work that retries by itself, and for
// strangers, who could fill the log; what fails for one caller is logged for that caller.
import { isConnectionFault } from './connection-fault.ts';
import type { Constant, Log } from './log.ts';
import type { LogFields } from './log-fields.ts';

const SAID_EVERY_MS = 1000;

/**
 * Returns a handler for `catch` that logs `text`. Kinds of errors are counted separately: one does
 * not hide another.
 */
export function recurringFault<Text extends string>(
  log: Log,
  level: 'info' | 'warn' | 'error',
  text: Constant<Text>,
): (error: unknown, about?: LogFields) => void {
  const kinds = new Map<string, { saidAtMs: number; unsaid: number }>();
  return (error, about = {}) => {
    const kind = kindOf(error);
    const nowMs = performance.now();
    const known = kinds.get(kind);
    if (known !== undefined && nowMs - known.saidAtMs < SAID_EVERY_MS) {
      known.unsaid++;
      return;
    }
    log[level]({ ...about, err: error, ...(known?.unsaid ? { unsaid: known.unsaid } : {}) }, text);
    kinds.set(kind, { saidAtMs: nowMs, unsaid: 0 });
  };
}

/** Few by nature, so that they can be remembered: codes and names of classes, never texts. */
function kindOf(error: unknown): string {
  if (isConnectionFault(error)) return 'connection';
  const { code, name } = error as { code?: unknown; name?: unknown };
  return String(code ?? name);
}
