// Figures that cost the database more to read the larger they are, such as the length of a queue:
// read again only as often as their cost allows, however often they are asked for.

/** Counting a million rows takes the server a quarter of a second. */
const MOST_OF_THE_TIME = 0.02;

/** One that took a minute because the machine stood still must not be the last for an hour. */
const LONGEST_PAUSE_MS = 10_000;

/** How long to leave the database alone after a reading that took this long, or times as long. */
export const pauseAfter = (tookMs: number, times = 1): number =>
  Math.min(LONGEST_PAUSE_MS, (tookMs / MOST_OF_THE_TIME) * times);

/**
 * The last figure until its pause is over; who asks while it is being read gets the same reading.
 */
export function sparingly<Figure>(read: () => Promise<Figure>): () => Promise<Figure> {
  let last: Promise<Figure> | undefined;
  return () => {
    if (last !== undefined) return last;
    const startedAtMs = performance.now();
    const reading = read();
    last = reading;
    const forget = () => {
      if (last === reading) last = undefined;
    };
    reading.then(
      () => setTimeout(forget, pauseAfter(performance.now() - startedAtMs)).unref(),
      forget,
    );
    return reading;
  };
}
