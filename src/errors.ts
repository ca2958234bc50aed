// Problems: the only errors features throw on purpose. They know nothing about HTTP;
// operations/refusal.ts maps code to status.

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

/** A distinction within a code, for doors that word it differently. */
export type ProblemKind = 'scope' | 'missing-field' | 'bad-key' | 'reused-key';

export interface ProblemExtras {
  kind?: ProblemKind;
  /** Seconds to wait before trying again. */
  retryAfterSeconds?: number;
  /** The one field that the detail is about, such as `to[2]`: short for `faults` of one. */
  at?: string;
  /** What is wrong where, for programs and editors; `detail` says it in a sentence. */
  faults?: readonly Fault[];
  /** What to try next, such as `list_keys`; each door says it in its own words, or not at all. */
  see?: string;
  /** The limit that was reached, for doors that show it. */
  limit?: LimitState;
  /** For a batch: what is wrong with which of its emails. */
  errors?: readonly PartError[];
  /** What really happened; logged, never shown. */
  cause?: unknown;
}

/** What is wrong with one part of a request, counted from 0. */
export interface PartError {
  index: number;
  detail: string;
  code: string;
  faults: readonly Fault[];
}

/** One thing that is wrong with the input. */
export interface Fault {
  /** Where, such as `to[2]` or `html`. */
  path: string;
  message: string;
  /** In the text of that field, if it is a template. */
  line?: number;
  column?: number;
}

/** The state of a limit: what it is, what is left of it, and when it resets. */
export interface LimitState {
  limit: number;
  remaining: number;
  resetSeconds: number;
  windowSeconds: number;
}

const LONGEST_DETAIL = 4000;

/**
 * Details quote what strangers wrote: nothing in them may control a terminal, break a log or
 * mislead a reader.
 */
const readable = (detail: string): string =>
  detail
    .slice(0, LONGEST_DETAIL)
    .replace(/[^\P{Cc}\n]|[\p{Cs}\u2028\u2029\u202a-\u202e\u2066-\u2069]/gu, '\ufffd');

function faultsOf(detail: string, { at, faults = [] }: ProblemExtras): readonly Fault[] {
  const all = at === undefined ? faults : [{ path: at, message: detail }];
  return all.map(({ path, message, ...place }) => ({
    path: readable(path),
    message: readable(message),
    ...place,
  }));
}

/**
 * A refusal with a `detail` written for the person who reads it: it says what is wrong and what to
 * do.
 */
export class Problem extends Error {
  readonly code: ProblemCode;
  readonly kind: ProblemKind | undefined;
  readonly detail: string;
  readonly retryAfterSeconds: number | undefined;
  readonly limit: LimitState | undefined;
  readonly faults: readonly Fault[];
  readonly see: string | undefined;
  readonly errors: readonly PartError[] | undefined;

  constructor(code: ProblemCode, detail: string, extras: ProblemExtras = {}) {
    const shown = readable(detail);
    super(shown, { cause: extras.cause });
    this.name = 'Problem';
    this.code = code;
    this.kind = extras.kind;
    this.detail = shown;
    this.retryAfterSeconds = extras.retryAfterSeconds;
    this.limit = extras.limit;
    this.faults = faultsOf(shown, extras);
    this.see = extras.see;
    this.errors = extras.errors;
  }
}

/** What the reader returns, or the Problem that it throws. */
export function orProblem<Given extends unknown[], Result>(
  reader: (...given: Given) => Result,
  ...given: Given
): Result | Problem {
  try {
    return reader(...given);
  } catch (error) {
    if (error instanceof Problem) return error;
    throw error;
  }
}

/** Reads a part: calls the reader with what was given. */
type ReadPart = <Given extends unknown[], Part>(
  reader: (...given: Given) => Part,
  ...given: Given
) => Part;

const atOnce: ReadPart = (reader, ...given) => reader(...given);

/**
 * Reads independent parts and refuses all wrong ones together: the detail is that of the first, the
 * faults are those of all.
 */
export function readTogether<Whole>(readWhole: (read: ReadPart) => Whole): Whole {
  // Nearly always nothing is wrong: only then is it read again, part by part.
  const whole = orProblem(readWhole, atOnce);
  if (!(whole instanceof Problem)) return whole;
  const refused: Problem[] = [];
  readWhole((reader, ...given) => {
    const part = orProblem(reader, ...given);
    if (!(part instanceof Problem)) return part;
    refused.push(part);
    return undefined as never;
  });
  const { code, detail, kind } = refused[0]!;
  throw new Problem(code, detail, {
    ...(kind === undefined ? {} : { kind }),
    faults: refused.flatMap(({ faults }) => faults),
  });
}
