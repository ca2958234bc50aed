// Tool results: what a tool answered, or why it refused, in a form that an agent can act on.
import type { CallToolResult } from '@modelcontextprotocol/server';
import type { ProblemCode } from '../errors.ts';
import type { Refusal } from '../operations/refusal.ts';
import { fence } from './fence.ts';

/** Structured content plus the same JSON as text, for clients that read only one of the two. */
export function success(content: Record<string, unknown>): CallToolResult {
  return {
    content: [{ type: 'text', text: JSON.stringify(content) }],
    structuredContent: content,
  };
}

/**
 * A refusal: the same status and detail as REST, and what to do next. Text only: clients check
 * structured content against the tool's output schema, even that of an error.
 */
export function refusal(
  { status, headers, body }: Refusal,
  advice: Record<string, unknown>,
  said: unknown,
): CallToolResult {
  const wait = headers['retry-after'];
  const content = {
    status,
    ...body,
    ...(wait === undefined ? {} : { retry_after_seconds: Number(wait) }),
    next: NEXT[body.code],
    ...advice,
  };
  const parts = (body.faults ?? []).map(({ message }) => message);
  const told = fence(content, { said, listed: PLAIN, parts });
  return { content: [{ type: 'text', text: JSON.stringify(told) }], isError: true };
}

/**
 * The place in the arguments, in the caller's own names; and slugs, which contain no one else's
 * words.
 */
const PLAIN: ReadonlySet<string> = new Set(['path', 'did_you_mean']);

const NEXT: Record<ProblemCode | 'internal', string> = {
  internal: 'Try again once; when it fails again, tell the person you work for.',
  invalid: 'Nothing was done. Correct the arguments as the detail says and call again.',
  unauthenticated: 'Nothing was done. Ask for a valid API key.',
  'not-paying': 'Nothing was done. Ask the owner of the account to move it to a paid plan.',
  forbidden:
    'Nothing was done, and trying again will not help. Keep to what the detail allows, or ask the owner of the account.',
  'not-found': 'Nothing was done. Check the identifier.',
  conflict: 'Nothing was done. Read what is there now, then decide whether to call again.',
  stale:
    'Nothing was done: someone else changed it in the meantime. Read the newest version, apply your change to it and call again.',
  'over-limit':
    'Nothing was done. Wait for retry_after_seconds, then call again with the same arguments.',
  'relay-down':
    'Nothing was queued. Wait for retry_after_seconds, then call again with the same arguments.',
  unavailable:
    'The call may or may not have taken effect. Wait for retry_after_seconds, then call again with the same arguments and the same idempotency_key.',
  'too-slow': 'Nothing was done. The request arrived too slowly. Send it again.',
};
