// Noise here is at the scale of seconds, so contenders take turns in short rounds and the median of
// the ratios is reported.

export interface Summary {
  median: number;
  low: number;
  high: number;
}

export function summarise(values: number[]): Summary {
  const sorted = [...values].sort((a, b) => a - b);
  return {
    // Of an even number the mean of the middle two: the upper one would flatter.
    median: (quantile(sorted, 0.5) + (sorted[(sorted.length - 1) >> 1] ?? Number.NaN)) / 2,
    low: sorted[0] ?? Number.NaN,
    high: sorted.at(-1) ?? Number.NaN,
  };
}

/** Of sorted values. */
export function quantile(sorted: number[], q: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * q))] ?? Number.NaN;
}

export const show = (summary: Summary, digits = 2): string =>
  `${summary.median.toFixed(digits)} (${summary.low.toFixed(digits)}–${summary.high.toFixed(digits)})`;
