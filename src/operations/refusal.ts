// A refusal: what a caller gets when a call fails. The only place that creates the status, headers,
// body, log line and metric of a refusal; doors only write it in their protocol.

import type { Fault, LimitState, PartError, Problem, ProblemCode } from '../errors.ts';
import { problemOf } from '../process/connection-fault.ts';
import type { Log } from '../process/log.ts';
import type { Metrics } from '../process/metrics.ts';
import { recurringFault } from '../process/recurring-fault.ts';
import { worded } from './hints.ts';

export const STATUS_OF: Record<ProblemCode, number> = {
  invalid: 400,
  unauthenticated: 401,
  'not-paying': 402,
  forbidden: 403,
  'not-found': 404,
  conflict: 409,
  stale: 412,
  'over-limit': 429,
  'relay-down': 502,
  unavailable: 503,
  'too-slow': 408,
};

export interface Refusal {
  status: number;
  headers: Record<string, string>;
  body: RefusalBody;
  /** Undefined: the fault is ours, and only the log has it. */
  problem: Problem | undefined;
}

export interface RefusalBody {
  /** What is wrong and what to do about it, for people to read. */
  detail: string;
  code: ProblemCode | 'internal';
  faults?: readonly Fault[];
  /** For a batch, in the form of its answer. */
  data?: [];
  errors?: readonly PartError[];
}

export interface RefusalDeps {
  log: Log;
  metrics: Pick<Metrics, 'refused'>;
}

/** Whose request it was, for the log. */
export interface About {
  door: string;
  request?: string | undefined;
  account?: number | undefined;
  operation?: string | undefined;
}

/** Logs and counts it, and returns the answer. `known` says what an error of a framework means. */
export function refuse(
  { log, metrics }: RefusalDeps,
  about: About,
  error: unknown,
  known: (error: unknown) => Problem | undefined = problemOf,
): Refusal {
  const problem = known(error);
  if (problem === undefined) {
    log.error({ ...about, err: error }, 'a request failed');
    return { status: 500, headers: {}, body: OUR_FAULT, problem };
  }
  metrics.refused.inc({ code: problem.code, door: about.door });
  if (about.account === undefined) strangersRefused(log, about.door)(problem, about);
  else log.info({ ...about, code: problem.code, err: problem.cause }, 'refused');
  return refusalOf(problem, about.door);
}

/** It belongs to no account, so it is logged only now and then: strangers could fill the log. */
function strangersRefused(log: Log, door: string): ReturnType<typeof recurringFault> {
  const doors = ofStrangers.get(log) ?? new Map<string, ReturnType<typeof recurringFault>>();
  ofStrangers.set(log, doors);
  const say = doors.get(door) ?? recurringFault(log, 'info', 'refused');
  doors.set(door, say);
  return say;
}

const ofStrangers = new WeakMap<Log, Map<string, ReturnType<typeof recurringFault>>>();

export const OUR_FAULT: RefusalBody = {
  detail: 'Something went wrong on our side. It was logged; try again shortly.',
  code: 'internal',
};

/** Without a log line, for refusals that nobody needs to know of. */
export function refusalOf(problem: Problem, door: string): Refusal {
  const { code, faults, limit, errors } = problem;
  const detail = worded(problem, door);
  const headers: Record<string, string> = {};
  const wait = waitSeconds(problem);
  if (wait !== undefined) headers['retry-after'] = String(wait);
  if (limit) Object.assign(headers, limitHeaders(limit));
  return {
    status: STATUS_OF[code],
    headers,
    body: {
      ...{ detail, code },
      ...(faults.length > 0 ? { faults } : {}),
      ...(errors === undefined ? {} : { data: [], errors }),
    },
    problem,
  };
}

export const waitSeconds = ({ retryAfterSeconds }: Problem): number | undefined =>
  retryAfterSeconds === undefined ? undefined : Math.max(1, Math.ceil(retryAfterSeconds));

const LONGEST_WARNING = 2000;

/** What is wrong with what was accepted, in one line of ASCII: `rule: what | rule: what`. */
export const warningHeader = (warnings: readonly string[]): Record<string, string> => ({
  'x-sm-warning': warnings
    .join(' | ')
    .replace(/[^\x20-\x7e]+/g, '?')
    .slice(0, LONGEST_WARNING),
});

/** IETF draft "RateLimit header fields for HTTP". */
export const limitHeaders = (limit: LimitState): Record<string, string> => ({
  'ratelimit-limit': String(limit.limit),
  'ratelimit-remaining': String(limit.remaining),
  'ratelimit-reset': String(limit.resetSeconds),
  'ratelimit-policy': `${limit.limit};w=${limit.windowSeconds}`,
});
