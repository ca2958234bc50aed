// The relay: a pool of SMTP sessions that takes one mail after another. Before: attempt.ts composed and signed a mail.
// After: the outcome of each recipient, as a value. The circuit (circuit.ts) is told by the caller.
import { isIP } from 'node:net';
import type { Envelope } from './smtp-envelope.ts';
import {
  DEFAULT_TIMEOUTS,
  openSession,
  quitSession,
  type RelayEndpoint,
  type SmtpSession,
  type SmtpTimeouts,
} from './smtp-session.ts';
import { brokenOff, type HandOver, sendMail } from './smtp-transaction.ts';
import { SmtpFault } from './smtp-wire.ts';

export type { Envelope } from './smtp-envelope.ts';
export type { HandOver, RecipientOutcome } from './smtp-transaction.ts';

export interface RelayConfig {
  /** See parseRelayUrl. */
  url: string;
  /** Our name in EHLO. */
  name: string;
  /** Default 10. */
  maxConnections?: number;
  /** Default 1000; then a fresh connection, so that load balancers and certificates get their turn. */
  maxMailsPerConnection?: number;
  /** Default 30 s. */
  idleMs?: number;
  timeouts?: Partial<SmtpTimeouts>;
}

export interface Relay {
  /**
   * Hands one mail over. Never rejects because of the relay; a fault is an outcome. `stillWanted` is asked when a session takes
   * the mail, right before MAIL: false drops it, and it was as if nobody had asked.
   */
  hand(
    envelope: Envelope,
    chunks: readonly Buffer[],
    stillWanted?: () => boolean,
  ): Promise<HandOver>;
  /** Connects, greets, logs in and says goodbye: is the relay there for us? */
  probe(): Promise<
    { connection: 'ok' } | { connection: 'unreachable'; fault: { stage: string; text: string } }
  >;
  /** Finishes what is in hand; what is not done after `graceMs` ends as lost (deferred). */
  close(graceMs?: number): Promise<void>;
}

interface Job {
  envelope: Envelope;
  chunks: readonly Buffer[];
  stillWanted: () => boolean;
  settle: (handOver: HandOver) => void;
  reject: (bug: unknown) => void;
}

// A relay that refuses one connection more while others work has a limit: ask again after this, not at every mail.
const LIMIT_HOLD_MS = 5_000;

export function createRelay(config: RelayConfig): Relay {
  const endpoint = parseRelayUrl(config.url);
  const timeouts = { ...DEFAULT_TIMEOUTS, ...config.timeouts };
  const { name, maxConnections = 10, maxMailsPerConnection = 1000, idleMs = 30_000 } = config;
  const waiting: Job[] = [];
  const idle: SmtpSession[] = [];
  const live = new Set<SmtpSession>();
  let opening = 0;
  let holdUntil = 0;
  let closing = false;
  let graceOver = false;
  let finish = () => {};
  const done = new Promise<void>((resolve) => {
    finish = resolve;
  });

  /** Gives waiting mails to idle sessions and opens more sessions while both are short. */
  function pump(): void {
    while (waiting.length > 0 && idle.length > 0) {
      const job = waiting.shift()!;
      if (job.stillWanted()) void run(takeIdle(), job);
      else job.settle(stopping(job.envelope));
    }
    const mayOpen = () => live.size + opening < maxConnections && opening < waiting.length;
    while (mayOpen() && (live.size === 0 || Date.now() >= holdUntil)) void open();
    if (closing && waiting.length === 0 && live.size === idle.length) {
      for (const session of [...idle]) drop(session, true);
      if (opening === 0 || graceOver) finish();
    }
  }

  async function open(): Promise<void> {
    opening++;
    try {
      const session = await openSession(endpoint, name, timeouts);
      opening--;
      live.add(session);
      rest(session);
    } catch (fault) {
      opening--;
      if (!(fault instanceof SmtpFault)) throw fault;
      holdUntil = Date.now() + LIMIT_HOLD_MS;
      // As long as one session lives the mails wait for it. Otherwise every further try would fail like this one.
      if (live.size === 0 && opening === 0) {
        for (const job of waiting.splice(0))
          job.settle(brokenOff('unreachable', job.envelope, [], fault, false));
      }
    }
    pump();
  }

  async function run(session: SmtpSession, job: Job): Promise<void> {
    try {
      const { handOver, stale } = await sendMail(session, job.envelope, job.chunks, timeouts);
      if (stale) waiting.unshift(job);
      else job.settle(handOver);
    } catch (bug) {
      session.wire.destroy();
      job.reject(bug);
    }
    if (!session.wire.isQuiet()) drop(session, false);
    else if (session.mails >= maxMailsPerConnection) drop(session, true);
    else rest(session);
    pump();
  }

  const idleTimers = new Map<SmtpSession, NodeJS.Timeout>();
  function rest(session: SmtpSession): void {
    idle.push(session);
    session.wire.onDisturbed = () => drop(session, false);
    if (waiting.length === 0) idleTimers.set(session, setTimeout(drop, idleMs, session, true));
  }
  function takeIdle(): SmtpSession {
    const session = idle.pop()!;
    session.wire.onDisturbed = undefined;
    stopTimer(session);
    return session;
  }
  function drop(session: SmtpSession, politely: boolean): void {
    stopTimer(session);
    live.delete(session);
    const place = idle.indexOf(session);
    if (place >= 0) idle.splice(place, 1);
    session.wire.onDisturbed = undefined;
    if (politely) quitSession(session);
    else session.wire.destroy();
  }
  function stopTimer(session: SmtpSession): void {
    clearTimeout(idleTimers.get(session));
    idleTimers.delete(session);
  }

  return {
    hand(envelope, chunks, stillWanted = () => true) {
      if (closing) return Promise.resolve(stopping(envelope));
      return new Promise((settle, reject) => {
        waiting.push({ envelope, chunks, stillWanted, settle, reject });
        pump();
      });
    },
    async probe() {
      try {
        quitSession(await openSession(endpoint, name, timeouts));
        return { connection: 'ok' };
      } catch (fault) {
        if (!(fault instanceof SmtpFault)) throw fault;
        return { connection: 'unreachable', fault: { stage: fault.stage, text: fault.message } };
      }
    },
    async close(graceMs = 10_000) {
      closing = true;
      const timer = setTimeout(() => {
        graceOver = true;
        for (const job of waiting.splice(0)) job.settle(stopping(job.envelope));
        for (const session of live) session.wire.destroy();
        pump();
      }, graceMs);
      pump();
      await done;
      clearTimeout(timer);
    },
  };
}

function stopping(envelope: Envelope): HandOver {
  return brokenOff(
    'lost',
    envelope,
    [],
    new SmtpFault('connect', 'the service is stopping'),
    false,
  );
}

/**
 * `smtp://user:password@host:port?tls=required|opportunistic|off&insecure`, or `smtps://` for TLS from the first byte.
 * Ports default to 465 (smtps), 587 (smtp with a login) and 25. TLS is required where a login goes to another machine,
 * else used when offered. `insecure` takes any certificate and lets the login go without TLS.
 */
export function parseRelayUrl(text: string): RelayEndpoint {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !/^smtps?:$/.test(url.protocol) || url.hostname === '') {
    throw new Error('the relay must be given as smtp://host:port or smtps://host:port');
  }
  const unknown = [...url.searchParams.keys()].find((key) => key !== 'tls' && key !== 'insecure');
  if (unknown !== undefined)
    throw new Error(`the relay's address has an unknown option "${unknown}"`);
  const host = decodeURIComponent(url.hostname).replace(/^\[(.*)\]$/, '$1');
  const loopback =
    host === 'localhost' || host === '::1' || (isIP(host) === 4 && host.startsWith('127.'));
  const insecure = url.searchParams.has('insecure');
  const credentials =
    url.username === ''
      ? undefined
      : { user: decodeURIComponent(url.username), password: decodeURIComponent(url.password) };
  const implicitTls = url.protocol === 'smtps:';
  const tls =
    url.searchParams.get('tls') ??
    (credentials && !loopback && !insecure ? 'required' : 'opportunistic');
  if (tls !== 'required' && tls !== 'opportunistic' && tls !== 'off') {
    throw new Error(`the relay's option tls is "${tls}": use required, opportunistic or off`);
  }
  const usualPort = implicitTls ? 465 : credentials ? 587 : 25;
  return {
    host,
    port: url.port === '' ? usualPort : Number(url.port),
    implicitTls,
    tls,
    // Without the demand for TLS anybody in between could remove it, so a check of the certificate would protect nothing.
    verify: !insecure && (implicitTls || tls === 'required'),
    credentials,
    plaintextAuth: loopback || insecure,
  };
}
