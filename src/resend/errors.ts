// Refusals in Resend's format: `{statusCode, name, message}` with the names its libraries know.
// Before it: door.ts, with whatever an operation threw. Status codes are Resend's if it has one for
// the case.
import type { Problem } from '../errors.ts';
import type { Refusal } from '../operations/refusal.ts';

export interface ResendError {
  statusCode: number;
  name: string;
  message: string;
}

/** What this service does not offer; Resend's libraries have no name for that. */
export class NotServed extends Error {}

type Named = [statusCode: number, name: string];

const DAY_SECONDS = 86_400;

export function resendError({ status, body, problem }: Refusal, hasKey: boolean): ResendError {
  const [statusCode, name] = problem === undefined ? OUR_FAULT : nameOf(problem, status, hasKey);
  return { statusCode, name, message: inResendsWords(body.detail) };
}

export const notServed = ({ message }: NotServed): ResendError => ({
  ...{ statusCode: 501, name: 'application_error', message },
});

const OUR_FAULT: Named = [500, 'internal_server_error'];

function nameOf(problem: Problem, status: number, hasKey: boolean): Named {
  switch (problem.code) {
    case 'unauthenticated':
      return hasKey ? [403, 'invalid_api_key'] : [401, 'missing_api_key'];
    case 'forbidden':
      // Resend calls a key without the scope one with sending access.
      return problem.kind === 'scope' ? [401, 'restricted_api_key'] : [403, 'validation_error'];
    case 'not-paying':
      return [status, 'invalid_access'];
    case 'not-found':
      return [404, 'not_found'];
    case 'conflict':
    case 'stale':
      return [422, 'validation_error'];
    case 'over-limit':
      return [
        429,
        problem.limit?.windowSeconds === DAY_SECONDS
          ? 'daily_quota_exceeded'
          : 'rate_limit_exceeded',
      ];
    case 'invalid':
      return invalid(problem);
    default:
      return [status, 'application_error'];
  }
}

function invalid({ faults, kind }: Problem): Named {
  const path = faults[0]?.path ?? '';
  if (kind === 'reused-key') return [409, 'invalid_idempotent_request'];
  if (kind === 'bad-key') return [400, 'invalid_idempotency_key'];
  if (kind === 'missing-field') return [422, 'missing_required_field'];
  if (/(^|\.)from(_email)?$/.test(path)) return [422, 'invalid_from_address'];
  if (/(^|\.)attachments\b/.test(path)) return [422, 'invalid_attachment'];
  return [422, 'validation_error'];
}

/** Our details use our own names of fields. */
const inResendsWords = (detail: string): string =>
  detail.replaceAll('from_email', 'from').replaceAll('content_base64', 'content');
