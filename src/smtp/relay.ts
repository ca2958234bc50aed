// The relay: a pool of SMTP sessions that takes one email after another. Before: attempt.ts
// composed and signed an email. After: the outcome of each recipient, as a value. relay-health.ts
// learns what is reached, fails and hangs, and decides.
//
// A session that is silent for a second keeps its email (the relay may be about to take it: RFC
// 5321 4.5.3.2 gives it ten minutes) but no longer a place: the next email gets a new connection.
// Sockets are at most four times the places.

import type { Chunk } from '../bytes/chunks.ts';
import type { Envelope } from './envelope.ts';
import { keepPlaces } from './kept-places.ts';
import { type Job, type Line, newLine, type Opening, watchForHangs } from './relay-hangs.ts';
import type { RelayPulse } from './relay-health.ts';
import { parseRelayUrl } from './relay-url.ts';
import { DEFAULT_TIMEOUTS, openSession, quitSession, type SmtpTimeouts } from './session.ts';
import { brokenOff, type HandOver, sendEmail } from './transaction.ts';
import { SmtpFault } from './wire.ts';

export type { Envelope } from './envelope.ts';
export type { HandOver, RecipientOutcome } from './transaction.ts';

export interface RelayConfig {
  /** See parseRelayUrl. */
  url: string;
  /** Our name in EHLO. */
  name: string;
  /** Default 10. */
  maxConnections?: number;
  /**
   * Default 1000; then a new connection, so that load balancing and new certificates take effect.
   */
  maxEmailsPerConnection?: number;
  /** Default 30 s. */
  idleMs?: number;
  timeouts?: Partial<SmtpTimeouts>;
  /** Judges the relay. Without it, waiting emails are given up if no connection can be opened. */
  health?: RelayPulse;
  /** Another relay can take what this one leaves without an answer. */
  hasOther?: () => boolean;
}

export interface Relay {
  /**
   * Hands one email over. Never rejects because of the relay; a fault is an outcome. `stillWanted`
   * is asked when a session takes the email, right before MAIL: false drops it, as if it had never
   * been given. `lane` says whose it is: one lane never has all places (kept-places.ts).
   */
  hand(
    envelope: Envelope,
    chunks: readonly Chunk[],
    wish?: { lane?: number; stillWanted?: () => boolean },
  ): Promise<HandOver>;
  /** Connects, greets, logs in and quits: does the relay accept us? */
  probe(): Promise<
    { connection: 'ok' } | { connection: 'unreachable'; fault: { stage: string; text: string } }
  >;
  /** Whether it reports deliveries (RFC 3461), by its latest session; null: none was opened. */
  offersDsn(): boolean | null;
  /** Gives back what has not started or hangs before it was fully sent, and takes nothing new. */
  stopTaking(): void;
  /** Finishes what is in hand; what is not done after `graceMs` counts as lost (deferred). */
  close(graceMs?: number): Promise<void>;
}

// A relay that refuses one connection more while others work has a limit: try again after this
// time, not at every email.
const LIMIT_HOLD_MS = 5_000;
/** Emails at a time while the relay is on trial. */
const TRIAL_MAILS = 3;

export function createRelay(config: RelayConfig): Relay {
  const endpoint = parseRelayUrl(config.url);
  const timeouts = { ...DEFAULT_TIMEOUTS, ...config.timeouts };
  const { name, maxConnections = 10, maxEmailsPerConnection = 1000, idleMs = 30_000 } = config;
  const { health } = config;
  const waiting: Job[] = [];
  const idle: Line[] = [];
  const lines = new Set<Line>();
  const openings = new Set<Opening>();
  const hangs = watchForHangs(
    {
      ...{ lines, openings, places: maxConnections, onPlaceFree: pump, onSilent },
      hasOther: () => config.hasOther?.() === true,
    },
    health,
  );
  const sharing = keepPlaces(lines);
  /** No session works and opening one failed: only the probe connects now. */
  let blocked = false;
  let holdUntil = 0;
  /**
   * Whether it answers the commands that come behind the content of an email, and in order, as RFC
   * 2920 wants it. Undefined: one session at a time tries.
   */
  let readsOn: boolean | undefined;
  let offersDsn: boolean | null = null;
  let taking = true;
  let closing = false;
  let finish = () => {};
  const done = new Promise<void>((resolve) => {
    finish = resolve;
  });
  health?.join({
    giveUp,
    goOn() {
      blocked = false;
      pump();
    },
    isTakingContent: hangs.isTakingContent,
  });

  /** Gives waiting emails to idle sessions and opens more sessions while there are too few. */
  function pump(): void {
    while (waiting.length > 0 && idle.length > 0 && hasRoom(openings.size + 1)) {
      const job = nextJob();
      if (job === undefined) break;
      if (job.stillWanted()) void run(takeIdle(), job);
      else job.settle(stopping(job.envelope));
    }
    while (mayOpen()) void open();
    for (const line of idle) startTimer(line);
    if (!closing || waiting.length > 0 || lines.size > idle.length) return;
    for (const line of [...idle]) drop(line, true);
    for (const { abort } of openings) abort.abort();
    finish();
  }
  /** On trial the relay gets few emails at a time; `more` are about to be added. */
  const hasRoom = (more: number): boolean =>
    !health?.isOnTrial() || lines.size - idle.length - hangs.inVain() + more <= TRIAL_MAILS;
  const mayOpen = (): boolean =>
    !blocked &&
    idle.length === 0 &&
    openings.size < waiting.length &&
    lines.size - hangs.count() + openings.size < maxConnections &&
    hasRoom(openings.size + 1) &&
    (performance.now() >= holdUntil || !hangs.anyWorks());
  /** On trial the newest that fits, because the oldest are those that hung before. */
  function nextJob(freed = 0): Job | undefined {
    const talking = lines.size - idle.length - hangs.count();
    const places = sharing.look(maxConnections - talking + freed);
    const mayHang = hangs.count() === 0 ? undefined : hangs.whoFits(waiting);
    const fits = (job: Job) => places.mayBegin(job) && (mayHang?.(job) ?? true);
    const at = health?.isOnTrial() ? waiting.findLastIndex(fits) : places.next(waiting, fits);
    return at < 0 ? undefined : waiting.splice(at, 1)[0];
  }

  async function open(): Promise<void> {
    const opening: Opening = { silent: 0, abort: new AbortController() };
    openings.add(opening);
    hangs.beginToBeat();
    try {
      const session = await openSession(endpoint, name, timeouts, opening.abort.signal);
      openings.delete(opening);
      offersDsn = session.capabilities.has('DSN');
      const line = newLine(session);
      lines.add(line);
      rest(line);
      blocked = false;
      health?.reached(opening.silent);
    } catch (fault) {
      openings.delete(opening);
      if (!(fault instanceof SmtpFault)) throw fault;
      // What we gave up ourselves says nothing about the relay.
      if (!opening.abort.signal.aborted) noteFailure(fault);
    }
    pump();
  }

  /**
   * As long as one session works, emails wait for it. Otherwise every further attempt would fail
   * like this one.
   */
  function noteFailure(fault: SmtpFault): void {
    if (hangs.anyWorks()) {
      holdUntil = performance.now() + LIMIT_HOLD_MS;
      return;
    }
    blocked = true;
    hangs.forget();
    if (health !== undefined) health.failed(fault);
    else if (openings.size === 0) {
      giveUp(fault);
      blocked = false;
    }
  }

  /**
   * Nothing new begins: waiting emails get this outcome, and no connection waits for a greeting.
   */
  function giveUp(fault: SmtpFault): void {
    hangs.forget();
    for (const { abort } of openings) abort.abort();
    for (const job of waiting.splice(0)) job.settle(unreachable(job.envelope, fault));
    // If the relay no longer greets either, an old session has nothing to wait for. If only emails
    // hang, it may be slow: they wait, unless another relay can take them.
    if (!health?.isOnTrial() || config.hasOther?.()) hangs.cutUnsent();
  }

  async function run(line: Line, first: Job): Promise<void> {
    for (let job: Job | undefined = first; job !== undefined; ) {
      const tell = await carry(line, job);
      job = takeNext(line);
      // Before anyone hears of it: the next email may come at once.
      if (job === undefined) leave(line);
      tell();
    }
    pump();
  }

  /** Returns what is to be told when the session is ready for the next one. */
  async function carry(line: Line, job: Job): Promise<() => void> {
    const { session } = line;
    hangs.emailBegins(line, job);
    sharing.emailBegins(job);
    try {
      const next = () => findNext(line);
      const { handOver, stale, inOrder } = await sendEmail(session, job, timeouts, next);
      if (!inOrder) readsOn = false;
      hangs.emailEnds(line, job, handOver.connection === 'ok');
      return () => (stale ? take(job, 'first') : job.settle(handOver));
    } catch (bug) {
      hangs.emailEnds(line, job, false);
      session.wire.destroy();
      return () => job.reject(bug);
    }
  }

  function leave(line: Line): void {
    const { session } = line;
    const tooMany = lines.size - hangs.count() > maxConnections;
    if (!session.wire.isQuiet()) {
      drop(line, false);
      health?.doubt();
    } else if (session.next !== undefined) drop(line, false);
    else if (tooMany || session.emails >= maxEmailsPerConnection) drop(line, true);
    else rest(line);
  }

  /**
   * The email to begin together with the content of the one in hand: only when all places are
   * taken and everything goes well.
   */
  function findNext(line: Line): Job | undefined {
    const isTried = readsOn ?? [...lines].every(({ next }) => next === undefined);
    const goesWell = isTried && taking && hangs.count() === 0 && !health?.isOnTrial();
    if (!goesWell || openings.size > 0 || line.session.emails >= maxEmailsPerConnection) return;
    for (let job = nextJob(1); job !== undefined; job = nextJob(1)) {
      if (job.stillWanted()) {
        line.next = job;
        return job;
      }
      job.settle(stopping(job.envelope));
    }
    return undefined;
  }

  /** That email, if the session goes on with it: nothing but its commands was sent. */
  function takeNext(line: Line): Job | undefined {
    const { next: job, session } = line;
    line.next = undefined;
    if (job === undefined) return undefined;
    if (session.next !== undefined) readsOn = true;
    if (session.next === undefined || !session.wire.isAlive()) take(job, 'first');
    else if (job.stillWanted()) return job;
    else {
      // The relay waits for its content.
      session.wire.destroy();
      job.settle(stopping(job.envelope));
    }
    return undefined;
  }

  /** What hangs holds up no other: the email behind it goes another way. */
  function onSilent(line: Line): void {
    const { session, next } = line;
    if (session.hearsNext) {
      // It has answered the content, and nothing that came behind it.
      readsOn = false;
      session.wire.destroy();
    } else if (next !== undefined) {
      line.next = undefined;
      take(next, 'first');
    }
  }

  const idleTimers = new Map<Line, NodeJS.Timeout>();
  function rest(line: Line): void {
    line.silent = 0;
    idle.push(line);
    line.session.wire.onDisturbed = () => {
      drop(line, false);
      health?.doubt();
      pump();
    };
  }
  function startTimer(line: Line): void {
    if (!idleTimers.has(line)) idleTimers.set(line, setTimeout(drop, idleMs, line, true));
  }
  function takeIdle(): Line {
    const line = idle.pop()!;
    line.session.wire.onDisturbed = undefined;
    stopTimer(line);
    return line;
  }
  function drop(line: Line, politely: boolean): void {
    stopTimer(line);
    lines.delete(line);
    const place = idle.indexOf(line);
    if (place >= 0) idle.splice(place, 1);
    line.session.wire.onDisturbed = undefined;
    if (politely) quitSession(line.session);
    else line.session.wire.destroy();
  }
  function stopTimer(line: Line): void {
    clearTimeout(idleTimers.get(line));
    idleTimers.delete(line);
  }

  function take(job: Job, place: 'first' | 'last'): void {
    if (!taking) job.settle(stopping(job.envelope));
    else if (health?.isOpen()) job.settle(unreachable(job.envelope, HELD_BACK));
    else if (place === 'first') waiting.unshift(job);
    else waiting.push(job);
  }

  return {
    hand: (envelope, chunks, { lane, stillWanted = () => true } = {}) =>
      new Promise((settle, reject) => {
        take({ envelope, chunks, lane, stillWanted, settle, reject }, 'last');
        pump();
      }),
    async probe() {
      try {
        quitSession(await openSession(endpoint, name, timeouts));
        return { connection: 'ok' };
      } catch (fault) {
        if (!(fault instanceof SmtpFault)) throw fault;
        return { connection: 'unreachable', fault: { stage: fault.stage, text: fault.message } };
      }
    },
    offersDsn: () => offersDsn,
    stopTaking() {
      taking = false;
      for (const job of waiting.splice(0)) job.settle(stopping(job.envelope));
      hangs.stop();
      hangs.cutUnsent();
    },
    async close(graceMs = 10_000) {
      taking = false;
      closing = true;
      const timer = setTimeout(() => {
        for (const job of waiting.splice(0)) job.settle(stopping(job.envelope));
        for (const line of lines) line.session.wire.destroy();
        pump();
      }, graceMs);
      pump();
      await done;
      clearTimeout(timer);
      hangs.end();
    },
  };
}

const HELD_BACK = new SmtpFault('connect', 'the relay cannot be reached');

function unreachable(envelope: Envelope, fault: SmtpFault): HandOver {
  return brokenOff('unreachable', envelope, [], fault, false);
}

function stopping(envelope: Envelope): HandOver {
  const fault = new SmtpFault('connect', 'the service is stopping');
  return brokenOff('lost', envelope, [], fault, false);
}
