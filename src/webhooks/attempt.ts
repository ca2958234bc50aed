// One attempt of a delivery: body, signature, POST, and what follows from the answer. Before:
// worker.ts took the row. After: outcomes.ts records it. No database connection is held during the
// POST.
import type { Dispatcher } from 'undici';
import type { Clock } from '../process/clock.ts';
import type { DeliveryState } from './delivery-state.ts';
import { type OpenSecret, secretsOf } from './endpoint-secrets.ts';
import { bodyOf, eventIdOf, type StoredEvent } from './event-body.ts';
import type { DueDelivery, LeasedEndpoint } from './leases.ts';
import { type PostResult, postWebhook } from './post.ts';
import { nextAttemptDelayMs } from './retry.ts';
import { attemptHeaders } from './sign.ts';

export interface AttemptDeps {
  clock: Clock;
  openSecret: OpenSecret;
  /** Made by address-guard.ts. */
  agent: Dispatcher;
  /** For all of a POST; 15 s by default. */
  timeoutMs?: number;
}

export interface HookOutcome {
  delivery: DueDelivery;
  state: DeliveryState;
  /** Including this one. */
  attempts: number;
  /** When it is tried again, while pending. */
  dueAtMs: number | null;
  endedAtMs: number;
  /** Null: nothing was sent. */
  result: PostResult | null;
  /** A sentence for the owner of the endpoint. */
  error: string | null;
}

export async function attempt(
  deps: AttemptDeps,
  endpoint: LeasedEndpoint,
  delivery: DueDelivery,
  event: StoredEvent,
): Promise<HookOutcome> {
  const body = bodyOf(event);
  const headers = attemptHeaders({
    eventId: eventIdOf(event.eventUuid),
    attempt: delivery.attempts + 1,
    body,
    secrets: secretsOf(deps.openSecret, endpoint, deps.clock.nowMs()),
    nowMs: deps.clock.nowMs(),
  });
  const { timeoutMs } = deps;
  const result = await postWebhook(deps.agent, {
    url: endpoint.url,
    body,
    headers,
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
  });
  return outcomeOf(delivery, result, deps.clock.nowMs());
}

function outcomeOf(delivery: DueDelivery, result: PostResult, nowMs: number): HookOutcome {
  const attempts = delivery.attempts + 1;
  const waitMs = result.ok ? undefined : nextAttemptDelayMs(attempts);
  return {
    delivery,
    state: result.ok ? 'delivered' : waitMs === undefined ? 'abandoned' : 'pending',
    attempts,
    dueAtMs: waitMs === undefined ? null : nowMs + waitMs,
    endedAtMs: nowMs,
    result,
    error: result.error?.detail ?? null,
  };
}

/** Its event is past its retention: there is nothing left to send. */
export function eventGone(delivery: DueDelivery, nowMs: number): HookOutcome {
  return {
    delivery,
    state: 'abandoned',
    attempts: delivery.attempts,
    dueAtMs: null,
    endedAtMs: nowMs,
    result: null,
    error: 'Not sent: the event is past its retention.',
  };
}

const AFTER_OUR_FAULT_MS = 30_000;

/** A fault of ours is not the endpoint's: no attempt is counted. */
export function failedHere(delivery: DueDelivery, fault: Error, nowMs: number): HookOutcome {
  return {
    delivery,
    state: 'pending',
    attempts: delivery.attempts,
    dueAtMs: nowMs + AFTER_OUR_FAULT_MS,
    endedAtMs: nowMs,
    result: null,
    error: `Not sent: a fault inside the service (${fault.message}).`,
  };
}
