// The health of one relay: its circuit, the probes, and what is reported about it in the log, in
// metrics and to other processes. Before: the pool (relay.ts) reports what it reaches and what
// fails or hangs. After: the worker claims nothing while the circuit is open, and sending/accept
// refuses (relay-state.ts).
//
// Refused, closed or a bad greeting: three in a row, the second and third by the probe. No
// greeting: silence of 1 s on a probe or connection while nothing else works. Hanging later: three
// emails, while none completes. If no email proves that the relay works, a probe does so every five
// seconds, and at once if something is odd.
import type { Log } from '../process/log.ts';
import type { Metrics } from '../process/metrics.ts';
import { createNap } from '../process/nap.ts';
import { type CircuitState, createCircuit } from './circuit.ts';
import { BEAT_MS, createPatience, type Patience } from './patience.ts';
import type { RelayFinding } from './relay-state.ts';
import { parseRelayUrl } from './relay-url.ts';
import { DEFAULT_TIMEOUTS, openSession, quitSession } from './session.ts';
import { SmtpFault } from './wire.ts';

const PROVED_EVERY_MS = 5_000;
/** From a fault to the probe that confirms or refutes it. */
const CONFIRMED_AFTER_MS = 150;
/** Something is odd, and nothing has shown for this long that all is well. */
const DOUBT_MS = 300;
/**
 * While open, a probe is abandoned for the next one after this time, so that a lost one does not
 * hide that the relay is back.
 */
const OPEN_PROBE_BEATS = 30;
const GAUGE: Record<CircuitState, number> = { closed: 0, 'half-open': 1, open: 2 };

/** What a pool reports about its relay, and asks. */
export interface RelayPulse {
  isOpen(): boolean;
  isOnTrial(): boolean;
  /** How long the relay may take to greet and log us in, and to answer within an email. */
  openings: Patience;
  answers: Patience;
  reached(silentBeats: number): void;
  worked(): void;
  /** A connection could not be opened, and no other works. The pool opens no more until `goOn`. */
  failed(fault: SmtpFault): void;
  /** An email gets no answer. */
  hung(): void;
  /** Connections get no greeting, and no other works. */
  silent(): void;
  /** Something is odd: worth a probe. */
  doubt(): void;
  countHung(sessions: number): void;
  join(pool: {
    giveUp(fault: SmtpFault): void;
    goOn(): void;
    /** The relay is busy with a large email, which shows that it works. */
    isTakingContent(): boolean;
  }): void;
}

/** The health of this relay alone. */
export type RelayHealthFinding = Omit<RelayFinding, 'relays'>;

export interface RelayHealth extends RelayPulse {
  /**
   * The first probe comes before the first claim, so that the API knows the state from the start.
   */
  start(): Promise<void>;
  close(): Promise<void>;
}

export function createRelayHealth(deps: {
  url: string;
  /** Our name in EHLO. */
  name: string;
  /** Its name in metrics and in the log; default: host and port. */
  label?: string | undefined;
  /** Connections to it at a time: with fewer than three, fewer hangs open the circuit. */
  connections: number;
  tell: (finding: RelayHealthFinding) => void;
  log: Log;
  metrics: Metrics;
}): RelayHealth {
  const { metrics } = deps;
  const endpoint = parseRelayUrl(deps.url);
  const relay = deps.label ?? `${endpoint.host}:${endpoint.port}`;
  const log = deps.log.child({ relay });
  const circuit = createCircuit({ hangsToOpen: Math.min(3, deps.connections) });
  const openings = createPatience();
  const answers = createPatience();
  const { rest, wake } = createNap();
  const probes = new Set<AbortController>();
  let pool: Parameters<RelayPulse['join']>[0] | undefined;
  let provedAt = performance.now();
  let probedAt = 0;
  let doubted = false;
  let downSince = 0;
  let lastFault = noGreeting(0);
  let watching: Promise<void> = Promise.resolve();
  let closed = false;

  metrics.relayState.set({ relay }, GAUGE.closed);
  metrics.relayHung.set({ relay }, 0);

  /** All news goes through here, so that no change of the circuit goes unreported. */
  function hear(news: () => void, fault?: SmtpFault): void {
    const before = circuit.state();
    news();
    const after = circuit.state();
    const isNew = fault?.message !== lastFault.message;
    lastFault = fault ?? lastFault;
    if (before === after) return;
    metrics.relayState.set({ relay }, GAUGE[after]);
    if (after === 'closed') tellUp();
    else if (before === 'closed') tellDown();
    else if (after === 'open') tellStillDown(isNew ? 'warn' : 'debug');
  }
  function tellUp(): void {
    const ms = Math.round(performance.now() - downSince);
    log.info({ ms }, 'the relay can be reached again; the circuit is closed');
    deps.tell({ down: false, retryAfterMs: 0, detail: null });
    wake();
  }
  function tellDown(): void {
    downSince = performance.now();
    log.warn(about(), 'the relay cannot be reached; the circuit is open, new email is held back');
    report();
    pool?.giveUp(lastFault);
    wake();
  }
  function tellStillDown(level: 'warn' | 'debug'): void {
    log[level](about(), 'the relay still cannot be reached');
    report();
    pool?.giveUp(lastFault);
  }
  const about = () => ({ stage: lastFault.stage, detail: lastFault.message });
  const report = (): void =>
    deps.tell({
      down: true,
      retryAfterMs: circuit.probeInMs(),
      detail: lastFault.message,
    });

  function reached(silentBeats: number): void {
    openings.learn(silentBeats);
    provedAt = performance.now();
    hear(circuit.reached);
    pool?.goOn();
  }

  /** Makes the probe when it is due. */
  async function watch(): Promise<void> {
    for (;;) {
      await rest(nextLookInMs());
      if (closed) return;
      if (nextLookInMs() > 0) continue;
      if (circuit.isOpen()) {
        hear(circuit.takeProbe);
        log.debug('the circuit is half-open: probing the relay');
      }
      await probe();
    }
  }
  function nextLookInMs(): number {
    if (circuit.isOpen()) return circuit.probeInMs();
    const now = performance.now();
    if (circuit.isInDoubt()) return probedAt + CONFIRMED_AFTER_MS - now;
    if (doubted) return Math.max(probedAt, provedAt) + DOUBT_MS - now;
    return provedAt + PROVED_EVERY_MS - now;
  }

  /**
   * Connects, greets, logs in and says goodbye; resolves when that is done or takes too long. One
   * probe that took too long keeps listening: the relay may have become slow, and counts as reached
   * when it greets at last.
   */
  async function probe(): Promise<void> {
    probedAt = performance.now();
    doubted = false;
    const wasOpen = circuit.isOpen();
    const limit = wasOpen ? Math.min(OPEN_PROBE_BEATS, openings.beats()) : openings.beats();
    const abort = new AbortController();
    probes.add(abort);
    let beats = 0;
    await new Promise<void>((decided) => {
      const beating = setInterval(() => {
        if (++beats !== limit) return;
        if (probes.size > 1) abort.abort();
        judge('silent', noGreeting(limit));
        decided();
      }, BEAT_MS);
      openSession(endpoint, deps.name, DEFAULT_TIMEOUTS, abort.signal)
        .then(
          (session) => {
            quitSession(session);
            judge('reached');
          },
          (fault) => {
            if (beats < limit) judge('failed', asFault(fault));
          },
        )
        .finally(() => {
          clearInterval(beating);
          probes.delete(abort);
          decided();
        });
    });

    function judge(result: 'reached' | 'failed' | 'silent', fault?: SmtpFault): void {
      if (closed) return;
      metrics.relayProbes.inc({ relay, result });
      if (result === 'reached') reached(beats);
      else if (wasOpen) hear(circuit.probeFailed, fault);
      else if (result === 'silent' && pool?.isTakingContent()) provedAt = performance.now();
      // In the meantime, an email may have shown that the relay works.
      else if (provedAt < probedAt) hear(result === 'silent' ? circuit.trip : circuit.fault, fault);
    }
  }

  return {
    isOpen: circuit.isOpen,
    isOnTrial: circuit.isOnTrial,
    openings,
    answers,
    reached,
    worked() {
      provedAt = performance.now();
      hear(circuit.worked);
      pool?.goOn();
    },
    failed(fault) {
      hear(circuit.fault, fault);
      wake();
    },
    hung: () => hear(circuit.hang, noReply(answers.beats())),
    silent: () => hear(circuit.trip, noGreeting(openings.beats())),
    doubt() {
      doubted = true;
      wake();
    },
    countHung: (sessions) => metrics.relayHung.set({ relay }, sessions),
    join(joining) {
      pool = joining;
    },
    async start() {
      await probe();
      // Before anything else is known, one fault is proof enough.
      if (circuit.isInDoubt()) hear(circuit.trip);
      watching = watch();
    },
    async close() {
      closed = true;
      // At once: another relay may have its name by the time this one has ended.
      metrics.relayState.remove({ relay });
      metrics.relayHung.remove({ relay });
      for (const abort of probes) abort.abort();
      wake();
      await watching;
    },
  };
}

const seconds = (beats: number): number => (beats * BEAT_MS) / 1000;
const noGreeting = (beats: number): SmtpFault =>
  new SmtpFault('greeting', `the relay did not greet us within ${seconds(beats)} s`);
const noReply = (beats: number): SmtpFault =>
  new SmtpFault('mail', `the relay left emails without an answer for ${seconds(beats)} s`);

const asFault = (error: unknown): SmtpFault =>
  error instanceof SmtpFault ? error : new SmtpFault('connect', String(error));
