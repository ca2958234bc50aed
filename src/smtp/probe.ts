// Checks a relay before anything depends on it: connects, logs in, quits. Used by
// operations/relays.ts before a relay is saved, and by `doctor`.
import { parseRelayUrl } from './relay-url.ts';
import { DEFAULT_TIMEOUTS, openSession, quitSession } from './session.ts';
import { SmtpFault } from './wire.ts';

export type RelayProbe =
  | { ok: true /** It reports deliveries (RFC 3461). */; dsn: boolean; tls: boolean }
  | { ok: false; fault: string };

/** Short, because a person is waiting. */
const PATIENCE = { ...DEFAULT_TIMEOUTS, connectMs: 5_000, greetingMs: 10_000 };

export async function probeRelay(url: string, name: string): Promise<RelayProbe> {
  try {
    const session = await openSession(parseRelayUrl(url), name, PATIENCE);
    quitSession(session);
    return { ok: true, dsn: session.capabilities.has('DSN'), tls: session.secure };
  } catch (fault) {
    if (!(fault instanceof SmtpFault)) throw fault;
    return { ok: false, fault: fault.message };
  }
}
