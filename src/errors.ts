// Problems: the only errors features throw on purpose. They know no HTTP; operations/refusal.ts
// maps code to status.

/**
 * Why a request was refused. The doors translate it: REST to a status, MCP to a tool error, the CLI
 * to an exit code.
 */
export const PROBLEM_CODES = [
  'invalid',
  'unauthenticated',
  'not-paying',
  'forbidden',
  'not-found',
  'conflict',
  'stale',
  'over-limit',
  'relay-down',
  'unavailable',
  'too-slow',
] as const;
export type ProblemCode = (typeof PROBLEM_CODES)[number];

export interface ProblemExtras {
  /** Seconds after which trying again makes sense. */
  retryAfterSeconds?: number;
  /** What is wrong where, for programs and editors; `detail` says it in a sentence. */
  faults?: readonly Fault[];
  /** What helps on, such as `list_keys`; each door says it in its own words, or not at all. */
  see?: string;
  /** The limit that was met, for doors that show it. */
  limit?: LimitState;
  /** What really happened; logged, never shown. */
  cause?: unknown;
}

/** One thing that is wrong with what came in. */
export interface Fault {
  /** Where, such as `to[2]` or `html`. */
  path: string;
  message: string;
  /** In the text of that field, where it is a template. */
  line?: number;
  column?: number;
}

/** How a limit stands: what it is, what is left of it, and when it is whole again. */
export interface LimitState {
  limit: number;
  remaining: number;
  resetSeconds: number;
  windowSeconds: number;
}

const LONGEST_DETAIL = 4000;

/**
 * Details quote what strangers wrote: nothing in them may command a terminal, a log or a reader's
 * eye.
 */
const readable = (detail: string): string =>
  detail
    .slice(0, LONGEST_DETAIL)
    .replace(/[^\P{Cc}\n]|[\p{Cs}\u2028\u2029\u202a-\u202e\u2066-\u2069]/gu, '\ufffd');

/**
 * A refusal with a `detail` written for the person who reads it: it says what is wrong and what to
 * do.
 */
export class Problem extends Error {
  readonly code: ProblemCode;
  readonly detail: string;
  readonly retryAfterSeconds: number | undefined;
  readonly limit: LimitState | undefined;
  readonly faults: readonly Fault[];
  readonly see: string | undefined;

  constructor(code: ProblemCode, detail: string, extras: ProblemExtras = {}) {
    const shown = readable(detail);
    super(shown, { cause: extras.cause });
    this.name = 'Problem';
    this.code = code;
    this.detail = shown;
    this.retryAfterSeconds = extras.retryAfterSeconds;
    this.limit = extras.limit;
    this.faults = extras.faults ?? [];
    this.see = extras.see;
  }
}
