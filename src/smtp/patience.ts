// How long a relay may be silent before that means something: learned from the relay itself,
// counted in beats. Before: relay.ts and relay-health.ts count the silent beats of each dialogue.
// After: relay-health.ts doubts, then the circuit opens.

/**
 * Silence is counted in beats, not read off a clock: a process that was frozen or busy for seconds
 * counts one beat, because the answers may all have arrived unread.
 */
export const BEAT_MS = 100;

const LEAST_BEATS = 10;
const LEAST_DOUBT_BEATS = 3;
/** No relay is normally slower than this. */
const LONGEST_HABIT_BEATS = 50;

export interface Patience {
  /** A silence of this length is a hang. */
  beats(): number;
  /** A silence of this length is worth a probe. */
  doubtBeats(): number;
  /** The relay answered after a silence of this length. */
  learn(beats: number): void;
}

/**
 * A relay gets three times what it usually needs, 1 s at least and 15 s at most. Usual is what it
 * needed twice in a row (or the first time): a relay that makes everyone wait is not considered
 * dead, and one long outage teaches nothing.
 */
export function createPatience(): Patience {
  let last: number | undefined;
  let usual = 0;
  return {
    beats: () => Math.max(LEAST_BEATS, 3 * usual),
    doubtBeats: () => Math.max(LEAST_DOUBT_BEATS, usual + 1),
    learn(beats) {
      usual = Math.min(beats, last ?? beats, LONGEST_HABIT_BEATS);
      last = beats;
    },
  };
}
