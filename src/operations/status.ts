// Problems as statuses: the one table. REST answers with them; MCP names them in its tool errors.
import type { ProblemCode } from '../errors.ts';

export const STATUS_OF: Record<ProblemCode, number> = {
  invalid: 400,
  unauthenticated: 401,
  'not-paying': 402,
  forbidden: 403,
  'not-found': 404,
  'over-limit': 429,
  'relay-down': 502,
  unavailable: 503,
  'too-slow': 408,
};

/** What is said when the fault is ours. The cause is only logged. */
export const OUR_FAULT = {
  status: 500,
  detail: 'Something went wrong on our side. It was logged; try again shortly.',
};
