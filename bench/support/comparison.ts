// What got worse between two runs of all benchmarks, beyond noise. scripts/bench.ts asks, with
// --against.
import type { Result, Skipped } from './results.ts';

/** A run of all benchmarks: bench/results.json. */
export interface Run {
  at: string;
  version: string;
  commit: string;
  node: string;
  machine: string;
  /** Of what the figures depend on besides; the first runs did not keep them. */
  versions?: Record<string, string>;
  /** How long each benchmark took. */
  seconds?: Record<string, number>;
  results: Result[];
  skipped?: Skipped[];
  /** The last long run of each benchmark that has one; a run of all keeps them. */
  long?: Record<string, Run>;
}

/** Rounds that took turns disagree by less than this when nothing changed. */
const NOISE = 0.05;
/** A figure that was taken once says nothing about its own noise. */
const NOISE_OF_ONE = 0.25;

/**
 * Sentences, one for each figure that is worse. Only ratios are compared with those of another
 * machine: everything else says as much about the machine. With names, only these benchmarks.
 */
export function whatGotWorse(before: Run, now: Run, names?: readonly string[]): string[] {
  const sameMachine = before.machine === now.machine;
  return before.results
    .filter(({ bench, unit }) => (names?.includes(bench) ?? true) && (sameMachine || unit === '×'))
    .flatMap((then) => {
      const found = now.results.find((it) => it.bench === then.bench && it.what === then.what);
      if (found !== undefined) {
        return isWorse(then, found) ? [`${nameOf(then)}: ${shown(found)}, was ${shown(then)}`] : [];
      }
      return isSkipped(then, now)
        ? []
        : [`${nameOf(then)}: no longer measured, was ${shown(then)}`];
    });
}

/** Sentences about what could not be compared, because this machine lacks something. */
export const notMeasured = (before: Run, { skipped = [] }: Run): string[] =>
  skipped
    .filter((it) => before.results.some((then) => concerns(it, then)))
    .map(({ bench, figures, why }) => `${[bench, figures].filter(Boolean).join(', ')}: ${why}`);

const isSkipped = (result: Result, { skipped = [] }: Run): boolean =>
  skipped.some((it) => concerns(it, result));

const concerns = ({ bench, figures }: Skipped, result: Result): boolean =>
  bench === result.bench && (figures === null || result.what.includes(figures));

/** Not even the best round of now reaches the worst of then, and the medians are apart. */
function isWorse(then: Result, now: Result): boolean {
  const once = then.low === then.high || now.low === now.high;
  const noise = once ? NOISE_OF_ONE : NOISE;
  return then.better === 'higher'
    ? now.high < then.low && now.median < then.median * (1 - noise)
    : now.low > then.high && now.median > then.median * (1 + noise);
}

/** Sentences about the goals that a run did not reach. */
export const missedGoals = ({ results }: Run): string[] =>
  results
    .filter(({ goal, better, median }) => {
      if (goal === null) return false;
      return better === 'higher' ? median < goal : median > goal;
    })
    .map(
      (it) => `${nameOf(it)}: ${shown(it)}, goal ${it.better === 'higher' ? '≥' : '≤'} ${it.goal}`,
    );

const nameOf = ({ bench, what }: Result): string => `${bench}, ${what}`;

/** With as many digits as tell something: 0.85, 1.42, 37.1, 1480. */
export const figure = (value: number): string =>
  value.toFixed(Math.abs(value) < 10 ? 2 : Math.abs(value) < 100 ? 1 : 0);

const shown = ({ median, low, high, unit }: Result): string =>
  low === high
    ? `${figure(median)} ${unit}`
    : `${figure(median)} (${figure(low)}–${figure(high)}) ${unit}`;
