// The clock: the seam through which tests move time. Durations of real network traffic do not use
// it.

export interface Clock {
  nowMs(): number;
}

export const systemClock: Clock = { nowMs: () => Date.now() };
