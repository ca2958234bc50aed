// What an email says differently from the last one of the same template: what someone who approves
// looks at first. Line by line over the plain text, as a set: a line that moved is not a
// difference.

export interface Comparison {
  /** Lines that the last one did not have. */
  added: string[];
  /** Lines that only the last one had. */
  removed: string[];
}

const MOST_LINES = 100;
const LONGEST_LINE = 400;

export function compareTexts(now: string, last: string): Comparison {
  const [ofNow, ofLast] = [linesOf(now), linesOf(last)];
  return { added: without(ofNow, ofLast), removed: without(ofLast, ofNow) };
}

const linesOf = (text: string): Set<string> =>
  new Set(
    text
      .split('\n')
      .map((line) => line.trim())
      .filter((line) => line !== ''),
  );

const without = (lines: ReadonlySet<string>, others: ReadonlySet<string>): string[] =>
  [...lines]
    .filter((line) => !others.has(line))
    .slice(0, MOST_LINES)
    .map((line) => (line.length > LONGEST_LINE ? `${line.slice(0, LONGEST_LINE)}…` : line));
