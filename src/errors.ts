// Problems: the only errors features throw on purpose. They know no HTTP; rest/errors.ts maps code to status.

/** Why a request was refused. The doors translate it: REST to a status, MCP to a tool error, the CLI to an exit code. */
export type ProblemCode =
  | 'invalid'
  | 'unauthenticated'
  | 'not-paying'
  | 'forbidden'
  | 'not-found'
  | 'over-limit'
  | 'relay-down'
  | 'unavailable'
  | 'too-slow';

export interface ProblemExtras {
  /** Seconds after which trying again makes sense. */
  retryAfterSeconds?: number;
  /** The limit that was met, for doors that show it. */
  limit?: LimitState;
  /** What really happened; logged, never shown. */
  cause?: unknown;
}

/** How a limit stands: what it is, what is left of it, and when it is whole again. */
export interface LimitState {
  limit: number;
  remaining: number;
  resetSeconds: number;
  windowSeconds: number;
}

const LONGEST_DETAIL = 4000;

/** Details quote what strangers wrote: nothing in them may command a terminal, a log or a reader's eye. */
const readable = (detail: string): string =>
  detail
    .slice(0, LONGEST_DETAIL)
    .replace(/[^\P{Cc}\n]|[\p{Cs}\u2028\u2029\u202a-\u202e\u2066-\u2069]/gu, '\ufffd');

/** A refusal with a `detail` written for the person who reads it: it says what is wrong and what to do. */
export class Problem extends Error {
  readonly code: ProblemCode;
  readonly detail: string;
  readonly retryAfterSeconds: number | undefined;
  readonly limit: LimitState | undefined;

  constructor(code: ProblemCode, detail: string, extras: ProblemExtras = {}) {
    const shown = readable(detail);
    super(shown, { cause: extras.cause });
    this.name = 'Problem';
    this.code = code;
    this.detail = shown;
    this.retryAfterSeconds = extras.retryAfterSeconds;
    this.limit = extras.limit;
  }
}
