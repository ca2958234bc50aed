// A meter of growth: fails when the time of some work grows faster than its input. For every parser
// of strangers' text; generated texts come from repeatedText(), the family in which super-linear
// readers are nearly always found.
import fc from 'fast-check';
import { draw, LONGER } from './longer.ts';

export interface GrowthOptions {
  /**
   * Sizes to measure; each is four times the one before. The work ends at the first that takes
   * `enoughMs`.
   */
  from?: number;
  to?: number;
  /** Below this nothing is judged: noise of a shared machine is of this order. */
  enoughMs?: number;
  /** How much longer four times the input may take: 4 is linear, 16 quadratic. */
  ratio?: number;
}

/**
 * Between linear (4) and quadratic (16), nearer to the latter: a busy machine must not fail a test.
 */
const RATIO = 10;
const ENOUGH_MS = 20;

export interface Growth {
  /** Size of the input and the time it took, from small to large. */
  steps: { size: number; ms: number }[];
  /** Of the last two steps. */
  ratio: number;
}

/**
 * Throws with the measured figures when `work` on input of size 4n takes more than `ratio` times
 * the one of size n.
 */
export function expectLinear<T>(
  make: (size: number) => T,
  work: (input: T) => unknown,
  options: GrowthOptions = {},
): Growth {
  const { enoughMs = ENOUGH_MS, ratio: allowed = RATIO } = options;
  let growth = measureGrowth(make, work, options);
  // What is super-linear is so every time; what a neighbour on the machine caused is not.
  for (let again = 0; again < 3 && isTooFast(growth, enoughMs, allowed); again++)
    growth = measureGrowth(make, work, options);
  if (!isTooFast(growth, enoughMs, allowed)) return growth;
  const figures = growth.steps.map(({ size, ms }) => `${size}: ${ms.toFixed(2)} ms`).join(', ');
  throw new Error(`grows faster than its input (×${growth.ratio.toFixed(1)} for ×4): ${figures}`);
}

const isTooFast = ({ steps, ratio }: Growth, enoughMs: number, allowed: number): boolean =>
  steps.at(-1)!.ms > enoughMs && ratio > allowed;

/** Small inputs first, so that even cubic work ends soon after it has become visible. */
export function measureGrowth<T>(
  make: (size: number) => T,
  work: (input: T) => unknown,
  {
    from = 1_000,
    to = 256_000,
    enoughMs = ENOUGH_MS,
    runs = 5,
  }: GrowthOptions & { runs?: number } = {},
): Growth {
  const steps: Growth['steps'] = [];
  for (let size = from; size <= to; size *= 4) {
    const input = make(size);
    steps.push({ size, ms: bestMs(() => work(input), enoughMs, runs) });
    if (steps.length > 1 && steps.at(-1)!.ms > enoughMs) break;
  }
  const [before, last] = [steps.at(-2), steps.at(-1)!];
  return { steps, ratio: before === undefined ? 0 : last.ms / Math.max(before.ms, 0.01) };
}

/**
 * The best of several runs. Processor time counts the threads of compiler and collector too, the
 * clock what a busy machine gave to others: the work itself took less than either.
 */
export function bestMs(run: () => unknown, enoughMs = ENOUGH_MS, runs = 5): number {
  let best = Number.POSITIVE_INFINITY;
  for (let i = 0; i < runs; i++) {
    const started = { cpu: cpuMs(), wall: performance.now() };
    run();
    best = Math.min(best, cpuMs() - started.cpu, performance.now() - started.wall);
    // Of something slow two runs are enough to tell, of something quick the first few only warm it
    // up.
    if (i > 0 && best > 10 * enoughMs) break;
  }
  return best;
}

function cpuMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

/** A text of any size from a few generated pieces. */
export interface Family {
  before: string;
  repeated: string;
  after: string;
}

/**
 * Texts that repeat a small seed made of `pieces`, the marks of the format, with something before
 * and after.
 */
export function repeatedText(pieces: readonly string[]): fc.Arbitrary<Family> {
  const some = (minLength: number, maxLength: number) =>
    fc.array(fc.constantFrom(...pieces), { minLength, maxLength }).map((found) => found.join(''));
  return fc.record({ before: some(0, 2), repeated: some(1, 3), after: some(0, 1) });
}

export const ofSize = ({ before, repeated, after }: Family, size: number): string =>
  before + repeated.repeat(Math.max(1, Math.ceil(size / Math.max(1, repeated.length)))) + after;

/**
 * Many families against one reader, for as long as `searchMs` allows; a failing one is shown with
 * its figures.
 */
export function expectLinearFor(
  pieces: readonly string[],
  read: (text: string) => unknown,
  {
    searchMs = 1_000,
    within = [],
    ...options
  }: GrowthOptions & { searchMs?: number; within?: readonly string[] } = {},
): void {
  const { enoughMs = ENOUGH_MS, ratio = RATIO } = options;
  const timeMs = searchMs * LONGER;
  const check = (family: Family, to: number): void => {
    const make = (size: number) => ofSize(family, size);
    // One run of each size is enough to let most pass, so that thousands can be tried; the rest is
    // looked at with care.
    const once = measureGrowth(make, read, { to, ...options, runs: 1 });
    if (isTooFast(once, enoughMs / 2, ratio)) expectLinear(make, read, options);
  };
  const started = performance.now();
  // Each piece by itself comes first, and larger: some arrays turn slow only beyond 16,000
  // elements.
  for (const repeated of pieces) check({ before: '', repeated, after: 'x' }, 256_000);
  // Then each inside every part of the format.
  const pairs = within.flatMap((before) => pieces.map((repeated) => ({ before, repeated })));
  for (const pair of shuffled(pairs)) {
    if (performance.now() - started > timeMs) break;
    check({ ...pair, after: 'x' }, 16_000);
  }
  const any = fc.property(repeatedText(pieces), (family) => check(family, 64_000));
  // A few at least: fast-check's own time limit fails a test that a busy machine lets try none.
  do fc.assert(any, { numRuns: 20, endOnFailure: true, includeErrorInReport: true });
  while (LONGER > 1 && performance.now() - started < timeMs);
}

/** Far apart at least: in `npm test` there is time for some of them only, and always the same. */
function shuffled<T>(items: T[]): T[] {
  const keyed = items.map((item, at) => [draw(2 ** 31) || (at * 7919) % 1009, item] as const);
  return keyed.sort(([a], [b]) => a - b).map(([, item]) => item);
}
