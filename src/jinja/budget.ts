// The budget of one render: what a template may use before it is stopped. Every loop, call and
// growing value pays here.
import { readFileSync } from 'node:fs';
import { LimitExceeded, NeedsOwnData, tooDeep } from './errors.ts';
import { hasAstral } from './values/text.ts';

export interface Limits {
  /**
   * Units of work: one per loop turn, call or filter, more in proportion to the size of what is
   * touched.
   */
  steps: number;
  /** Macros, includes, blocks and recursive loops inside one another. */
  depth: number;
  /** Bytes of UTF-8 in the rendered text. */
  outputBytes: number;
  /** Characters in any one string a template builds. */
  stringLength: number;
  /** Elements in any one list, tuple or dictionary a template builds. */
  items: number;
  /** Characters in the source of one template. */
  sourceLength: number;
  /**
   * Milliseconds of wall time; after that, half as many of CPU time, so that a busy machine stops
   * no render.
   */
  timeMs: number;
}

/**
 * Chosen so that any render ends within 100 ms and 64 MB; an order email of 1,000 lines uses under
 * a tenth of each.
 */
export const defaultLimits: Limits = {
  steps: 500_000,
  depth: 200,
  outputBytes: 8 * 1024 * 1024,
  stringLength: 1024 * 1024,
  items: 250_000,
  sourceLength: 256 * 1024,
  timeMs: 40,
};

/** How many steps may pass between two checks of the clock. */
const CLOCK_EVERY = 2_000;

/**
 * CPU milliseconds of this thread; where neither Node (from 24) nor Linux reports them, those of
 * the whole process, so never too few. Read only when a render is late: reading it takes longer
 * than rendering a small email.
 */
function workedMs(): number {
  const { threadCpuUsage } = process as { threadCpuUsage?: typeof process.cpuUsage };
  if (threadCpuUsage === undefined) {
    const ns = linuxThreadNs();
    if (ns > 0) return ns / 1e6;
  }
  const { user, system } = (threadCpuUsage ?? process.cpuUsage).call(process);
  return (user + system) / 1000;
}

function linuxThreadNs(): number {
  try {
    return Number(readFileSync('/proc/thread-self/schedstat', 'latin1').split(' ')[0]);
  } catch {
    return 0;
  }
}

export class Budget {
  /**
   * Text rendered so far in the current capture (the whole page, or a macro's or block's own
   * buffer).
   */
  out = '';
  readonly limits: Limits;
  private left: number;
  private nextClock: number;
  private deadline: number;
  /** CPU time of the thread when the render was late for the first time. */
  private workedBefore: number | null = null;
  private written = 0;
  /** What the captures around the current one had written, and how much, outermost first. */
  private readonly around: string[] = [];
  private readonly countBefore: number[] = [];
  private depth = 0;
  /** True once the context was copied, so that list.append and friends may change it in place. */
  readonly ownsData: boolean;

  constructor(limits: Limits, ownsData = false) {
    this.limits = limits;
    this.left = limits.steps;
    this.nextClock = limits.steps - CLOCK_EVERY;
    this.deadline = performance.now() + limits.timeMs;
    this.ownsData = ownsData;
  }

  /** Steps paid so far. */
  get used(): number {
    return this.limits.steps - this.left;
  }

  /** Pays for work. */
  step(cost: number): void {
    this.left -= cost;
    if (this.left < this.nextClock) this.look();
  }

  private look(): void {
    if (this.left < 0)
      throw new LimitExceeded(
        'steps',
        `render stopped: more than ${this.limits.steps} steps of work`,
      );
    this.lookAtClock();
    this.nextClock = this.left - CLOCK_EVERY;
  }

  /**
   * On an overloaded machine a render of a millisecond may be off the processor for a second,
   * through no fault of its own. Once late by the clock, it gets half of its time again, measured
   * as CPU time of this thread.
   */
  private lookAtClock(): void {
    const now = performance.now();
    if (now <= this.deadline) return;
    const worked = workedMs();
    this.workedBefore ??= worked;
    const leftMs = this.limits.timeMs / 2 - (worked - this.workedBefore);
    if (leftMs <= 0)
      throw new LimitExceeded(
        'timeMs',
        `render stopped: it took longer than ${this.limits.timeMs} ms`,
      );
    this.deadline = now + leftMs;
  }

  /** Pays for a string about to be built, before it is built. */
  text(length: number): void {
    if (length > this.limits.stringLength)
      throw new LimitExceeded(
        'stringLength',
        `string too long: more than ${this.limits.stringLength} characters`,
      );
    if (length > 15) this.step(length >> 4);
  }

  /** Pays for reading or writing a string without keeping a new one. */
  scan(length: number): void {
    if (length > 63) this.step(length >> 6);
  }

  /**
   * Pays for going through a string by its code points, which takes longer if some are beyond 16
   * bits.
   */
  measure(text: string): void {
    if (text.length > 63) this.step(text.length >> (hasAstral(text) ? 3 : 6));
  }

  /**
   * Pays for a string about to be escaped or printed, which may be the caller's own and of any
   * size.
   */
  print(length: number): void {
    if (length > this.limits.outputBytes) this.tooMuchOutput();
    if (length > 63) this.step(length >> 6);
  }

  /** Pays for a collection about to be built. */
  list(length: number): void {
    if (length > this.limits.items)
      throw new LimitExceeded(
        'items',
        `collection too large: more than ${this.limits.items} items`,
      );
    this.step(2 + (length >> 1));
  }

  /** Appends rendered text. */
  write(text: string): void {
    this.out += text;
    this.written += text.length;
    // The cheap count is of UTF-16 units, which never exceeds the bytes; finish() counts those
    // exactly.
    if (this.written > this.limits.outputBytes) this.tooMuchOutput();
    this.step(1 + (text.length >> 6));
  }

  private tooMuchOutput(): never {
    throw new LimitExceeded(
      'outputBytes',
      `output too large: more than ${this.limits.outputBytes} bytes`,
    );
  }

  /** Starts a separate buffer; endCapture() returns what was written since. */
  beginCapture(): void {
    this.around.push(this.out);
    this.out = '';
    this.countBefore.push(this.written);
  }

  endCapture(): string {
    const captured = this.out;
    this.out = this.around.pop()!;
    this.written = this.countBefore.pop()!;
    return captured;
  }

  /** How many captures are open. */
  get captures(): number {
    return this.around.length;
  }

  /** Writes past the captures opened after the first `captures`. */
  writeAround(text: string, captures: number): void {
    if (captures === this.around.length) {
      this.write(text);
      return;
    }
    this.around[captures] += text;
    this.countBefore[captures]! += text.length;
    if (this.countBefore[captures]! > this.limits.outputBytes) this.tooMuchOutput();
    this.step(1 + (text.length >> 6));
  }

  /** One level deeper: a macro, include, block or recursive loop. Pair with leave(). */
  enter(): void {
    if (++this.depth > this.limits.depth) throw tooDeep(`limit: depth ${this.limits.depth}`);
    this.step(4);
  }

  leave(): void {
    this.depth--;
  }

  /**
   * Called before a list or dict is changed in place. The caller's own data must never be changed.
   */
  mutate(): void {
    if (!this.ownsData) throw new NeedsOwnData();
    this.step(2);
  }

  finish(): string {
    const text = this.out;
    if (
      text.length * 3 > this.limits.outputBytes &&
      Buffer.byteLength(text) > this.limits.outputBytes
    )
      this.tooMuchOutput();
    return text;
  }
}
