// The relay's circuit: a state machine that only counts; relay-health.ts feeds it, makes the probes
// and reports changes. After: the worker claims nothing and sending/accept answers 502 while it is
// not closed.
//
//                3 faults or 3 hangs in a row, or silence
//     closed ─────────────────────────────────────────────▶ open ◀──── the probe failed ────┐
//      ▲  ▲                                                 │  │                            │
//      │  └───────────────── reached or worked ─────────────┘  └── its wait is over ──▶ half-open
//      │                                                                     (one probe at a time)
//      └──────────────────────────── reached or worked ─────────────────────────────────────┘
//
// A circuit that opened because emails hung is on trial after a greeting: few emails at a time, and
// one more hang opens it again. Only an email that the relay answered to its end (worked) ends the
// trial and the longer waits.

export type CircuitState = 'closed' | 'open' | 'half-open';

export interface Circuit {
  state(): CircuitState;
  /**
   * Sends should be refused. True while half-open too: nothing has shown yet that the relay works.
   */
  isOpen(): boolean;
  /** Closed, but the last attempt failed: worth a probe soon. */
  isInDoubt(): boolean;
  isOnTrial(): boolean;
  /** Until the next probe while open. */
  probeInMs(): number;
  /** The wait is over; the caller that gets true makes the one probe. */
  takeProbe(): boolean;
  /** The probe failed: if emails hung, it was because the relay is away. */
  probeFailed(): void;
  /** A session is open: connect, TLS, greeting, EHLO and AUTH succeeded. */
  reached(): void;
  /** The relay answered an email to its end, whatever it said about it. */
  worked(): void;
  /** Connect, TLS, greeting, EHLO or AUTH failed, and no other session works. */
  fault(): void;
  /** An email got no answer for longer than the relay usually needs. */
  hang(): void;
  /** Proof enough by itself: there is no sign of the relay at all. */
  trip(): void;
}

export interface CircuitOptions {
  /** Milliseconds of a monotonic clock: a wall clock that was set back would keep it open. */
  now?: () => number;
  random?: () => number;
  /** In a row, without a success in between. Default 3. */
  faultsToOpen?: number;
  /** Default 3. */
  hangsToOpen?: number;
  /** From one probe's start to the next; doubles with every failed one. Default 0.5 s. */
  firstWaitMs?: number;
  /** Default 3 s: a relay that is back is seen within 5 s, even with the longest jitter. */
  longestWaitMs?: number;
}

export function createCircuit(options: CircuitOptions = {}): Circuit {
  const { now = () => performance.now(), random = Math.random } = options;
  const { faultsToOpen = 3, hangsToOpen = 3 } = options;
  const { firstWaitMs = 500, longestWaitMs = 3_000 } = options;
  let state: CircuitState = 'closed';
  let faults = 0;
  let hangs = 0;
  let onTrial = false;
  let waitMs = firstWaitMs;
  let probedAt = 0;
  let probeAt = 0;

  /** By a fifth either way, so that many processes do not probe at the same time. */
  function open(fromMs: number): void {
    state = 'open';
    probeAt = fromMs + waitMs * (0.8 + 0.4 * random());
    waitMs = Math.min(waitMs * 2, longestWaitMs);
  }
  function close(): void {
    if (state !== 'closed') hangs = 0;
    state = 'closed';
    faults = 0;
    if (!onTrial) waitMs = firstWaitMs;
  }

  return {
    state: () => state,
    isOpen: () => state !== 'closed',
    isInDoubt: () => state === 'closed' && faults > 0,
    isOnTrial: () => onTrial,
    probeInMs: () => Math.max(0, probeAt - now()),
    takeProbe() {
      if (state !== 'open' || now() < probeAt) return false;
      state = 'half-open';
      probedAt = now();
      return true;
    },
    probeFailed() {
      if (state !== 'half-open') return;
      onTrial = false;
      open(probedAt);
    },
    reached: close,
    worked() {
      onTrial = false;
      hangs = 0;
      close();
    },
    // What was in progress when it opened fails too and says nothing new: faults and hangs count
    // only while closed.
    fault() {
      if (state === 'closed' && ++faults >= faultsToOpen) open(now());
    },
    hang() {
      if (state !== 'closed' || (++hangs < hangsToOpen && !onTrial)) return;
      onTrial = true;
      open(now());
    },
    trip() {
      if (state === 'closed') open(now());
    },
  };
}
