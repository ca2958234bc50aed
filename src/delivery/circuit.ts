// The relay's circuit: after a row of connection faults sends are refused at once (502) until a probe gets through.
// Before: attempt.ts and the probe report what happened. After: sending/accept asks isOpen().
//
//   closed ──faults in a row──▶ open ──its time is up──▶ half-open ──success──▶ closed
//      ▲                         ▲                          │
//      └────── success ──────────┴──────── fault ───────────┘

export type CircuitState = 'closed' | 'open' | 'half-open';

export interface Circuit {
  state(): CircuitState;
  /** Sends should be refused. True while half-open too: until the probe is back nothing has shown that the relay works. */
  isOpen(): boolean;
  /** Whole seconds until the next probe, at least 1. */
  retryAfterSeconds(): number;
  /** The wait is over and no probe is under way; the caller that is told true makes it. */
  takeProbe(): boolean;
  /** The relay was reached, whatever it said about the mail. */
  recordSuccess(): void;
  /** Connect, TLS, greeting, EHLO or AUTH failed. */
  recordFault(): void;
  /** A probe failed before anything else was known: proof enough without a row of faults. */
  trip(): void;
}

export interface CircuitOptions {
  /** Milliseconds, only ever forward. */
  now: () => number;
  /** Faults in a row, without a success between, that open it. Default 3. */
  faultsToOpen?: number;
  /** First wait; doubles with every failed probe. Default 2 s. */
  firstWaitMs?: number;
  /** Default 60 s. */
  longestWaitMs?: number;
}

export function createCircuit(options: CircuitOptions): Circuit {
  const { now, faultsToOpen = 3, firstWaitMs = 2_000, longestWaitMs = 60_000 } = options;
  let state: CircuitState = 'closed';
  let faults = 0;
  let waitMs = firstWaitMs;
  let probeAt = 0;

  return {
    state: () => state,
    isOpen: () => state !== 'closed',
    retryAfterSeconds: () => Math.max(1, Math.ceil((probeAt - now()) / 1000)),
    takeProbe() {
      if (state !== 'open' || now() < probeAt) return false;
      state = 'half-open';
      return true;
    },
    recordSuccess() {
      state = 'closed';
      faults = 0;
      waitMs = firstWaitMs;
    },
    recordFault() {
      faults++;
      // Mails that were under way when it opened fail too; they say nothing new.
      if (state === 'open' || (state === 'closed' && faults < faultsToOpen)) return;
      if (state === 'half-open') waitMs = Math.min(waitMs * 2, longestWaitMs);
      open();
    },
    trip: open,
  };

  function open(): void {
    state = 'open';
    probeAt = now() + waitMs;
  }
}
