// Figures that cost the database more to read the larger they are, such as the length of a queue:
// read again only as often as their cost allows, however often they are asked for.

/** Counting a million rows takes the server a quarter of a second. */
const MOST_OF_THE_TIME = 0.02;
/**
 * What took seconds mostly waited for a machine that stood still: a figure of ten minutes ago would
 * be worth less than the time it saves.
 */
const LONGEST_PAUSE_MS = 30_000;

/** How long to leave the database alone after a reading that took this long. */
export const pauseAfter = (tookMs: number): number =>
  Math.min(tookMs / MOST_OF_THE_TIME, LONGEST_PAUSE_MS);

/** The last figure until its pause is over; who asks while it is being read gets the same reading. */
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
