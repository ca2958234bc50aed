// What a benchmark found: printed for people and, where scripts/bench.ts collects them, kept as a
// line of JSON.
import { appendFileSync } from 'node:fs';
import { type Summary, show } from './rounds.ts';

export interface Result {
  /** File name of the benchmark. */
  bench: string;
  what: string;
  median: number;
  low: number;
  high: number;
  unit: string;
  better: 'higher' | 'lower';
  goal: number | null;
}

/** What is not measured on this machine: the whole benchmark, or its figures with these words. */
export interface Skipped {
  bench: string;
  figures: string | null;
  why: string;
}

interface Judging {
  goal?: number;
  better?: Result['better'];
  unit?: string;
  digits?: number;
}

const bench = /([\w-]+)\.ts$/.exec(process.argv[1] ?? '')?.[1] ?? 'unknown';

/** The run's code when a goal was missed; 1 is a fault. */
export const GOAL_MISSED = 3;
/** What it needs is not on this machine. */
export const SKIPPED = 4;

/** Prints a figure beside its goal. */
export function judge(
  what: string,
  summary: Summary,
  { goal, better = 'higher', unit = '×', digits = 2 }: Judging = {},
): void {
  const met = goal === undefined || isMet(summary.median, goal, better);
  const judged =
    goal === undefined
      ? ''
      : `  goal ${better === 'higher' ? '≥' : '≤'} ${goal}: ${met ? 'met' : 'MISSED'}`;
  process.stdout.write(`${what}: ${show(summary, digits)} ${unit}${judged}\n`);
  if (!met) process.exitCode = GOAL_MISSED;
  keep({ bench, what, ...summary, unit, better, goal: goal ?? null });
}

/** Prints what this machine lacks; a comparison then misses nothing. */
export function skip(why: string, figures: string | null = null): void {
  process.stdout.write(`${figures ?? bench} skipped: ${why}\n`);
  keep({ bench, figures, why });
}

function keep(line: Result | Skipped): void {
  const { BENCH_RESULTS } = process.env;
  if (BENCH_RESULTS !== undefined) appendFileSync(BENCH_RESULTS, `${JSON.stringify(line)}\n`);
}

const isMet = (value: number, goal: number, better: Result['better']): boolean =>
  better === 'higher' ? value >= goal : value <= goal;

/** A figure that was taken once. */
export const single = (value: number): Summary => ({ median: value, low: value, high: value });
