// What was posted to webhook endpoints: test events, the log of deliveries, and replays.
import { z } from 'zod';
import { Problem } from '../errors.ts';
import type { HookType } from '../events/kinds.ts';
import {
  type Delivery,
  getDelivery,
  listDeliveries,
  signedRequest,
} from '../webhooks/deliveries.ts';
import { DELIVERY_STATES } from '../webhooks/delivery-state.ts';
import { getEndpoint } from '../webhooks/endpoint.ts';
import { replay, type Selection } from '../webhooks/replay.ts';
import { sendTestEvent } from '../webhooks/test-event.ts';
import { checkCursor, listOf, page, pageOf } from './lists.ts';
import { operation } from './operation.ts';
import { eventTypes, hookType, endpointId as id } from './webhook-fields.ts';

const text = z.string().nullable();
const state = z.enum(DELIVERY_STATES);

export const delivery = z
  .object({
    id: z.string().describe('Id of the delivery.'),
    endpoint_id: z.string().describe('The endpoint it goes to.'),
    message_id: text.describe('The message that the event is about; null: none.'),
    recipients: z
      .array(z.string())
      .describe('The recipients the event is about; empty: it is past its retention.'),
    event_id: z.string().describe('Id of the event, the same in retries and replays.'),
    event_type: hookType.describe('What happened.'),
    state: state.describe('pending: it will be retried. abandoned: the last retry failed.'),
    attempts: z.number().int().describe('How often it was tried.'),
    created_at: z.string().describe('When it happened: ISO 8601, UTC.'),
    attempted_at: text.describe('When it was last tried.'),
    next_attempt_at: text.describe('When it is tried next, while it is pending.'),
    status: z.number().int().nullable().describe('What the endpoint answered last.'),
    error: text.describe('Why the last attempt failed.'),
    duration_ms: z.number().nullable().describe('How long the last attempt took.'),
  })
  .meta({ id: 'WebhookDelivery' });

export const showDelivery = (one: Delivery): z.output<typeof delivery> => ({
  id: one.id,
  endpoint_id: one.endpointId,
  message_id: one.messageId,
  recipients: one.recipients,
  event_id: one.eventId,
  event_type: one.eventType as HookType,
  state: one.state,
  attempts: one.attempts,
  created_at: one.createdAt,
  attempted_at: one.attemptedAt,
  next_attempt_at: one.nextAttemptAt,
  status: one.response?.status ?? null,
  error: one.error,
  duration_ms: one.durationMs,
});

const deliveryId = z.string().max(64).describe('Id of the delivery.');
const instant = z.iso
  .datetime({ offset: true, error: 'must be a time such as 2026-11-15T10:00:00Z' })
  .meta({ example: '2026-11-15T10:00:00Z' });

export const webhookDeliveryOperations = [
  operation({
    name: 'test_webhook_endpoint',
    title: 'Test a webhook endpoint',
    summary:
      'Posts an example event to the endpoint now, signed like a real one, and returns the answer. It is not logged.',
    effect: 'talks',
    scope: 'webhooks:write',
    input: z.strictObject({
      id,
      event_type: hookType.default('delivery').describe('What it is about; delivery by default.'),
    }),
    output: z.object({
      ok: z.boolean().describe('Whether the endpoint accepted it.'),
      status: z.number().int().nullable().describe('What it answered; null: nothing.'),
      error: text.describe('Why it failed.'),
      duration_ms: z.number().int().describe('How long it took.'),
      request_body: z.string().describe('What was posted.'),
      response_body: z.string().describe('What the endpoint wrote back, cut off if long.'),
    }),
    rest: { method: 'POST', path: '/v1/webhooks/{id}/test' },
    client: 'webhooks.test',
    tool: { brief: 'Posts an example event now and returns the answer.', destructive: false },
    async run({ database, webhooks }, { accountId }, { id, event_type }) {
      const result = await sendTestEvent(database, accountId, id, event_type, webhooks);
      return {
        ok: result.ok,
        status: result.status ?? null,
        error: result.error?.detail ?? null,
        duration_ms: Math.round(result.durationMs),
        request_body: result.request.body,
        response_body: result.responseBody ?? '',
      };
    },
  }),

  operation({
    name: 'list_webhook_deliveries',
    title: 'List webhook deliveries',
    summary: 'What was posted to an endpoint or waits for it, newest first.',
    effect: 'reads',
    scope: 'webhooks:read',
    ofAllEmails: true,
    input: z.strictObject({
      id,
      state: state.optional().describe('Only those in this state.'),
      failed: z
        .boolean()
        .optional()
        .describe('Only those whose last attempt failed: abandoned, or waiting for the next one.'),
      ...page,
    }),
    output: listOf('deliveries', delivery),
    rest: { method: 'GET', path: '/v1/webhooks/{id}/deliveries' },
    client: 'webhooks.listDeliveries',
    tool: {},
    async run({ database }, { accountId }, { id, state, failed, limit, cursor }) {
      checkCursor('whd_', cursor);
      await getEndpoint(database, accountId, id);
      const rows = await listDeliveries(database, accountId, {
        ...{ endpointId: id, limit },
        ...(state === undefined ? {} : { state }),
        ...(failed === undefined ? {} : { failed }),
        ...(cursor === undefined ? {} : { before: cursor }),
      });
      return pageOf(rows, limit, (last) => last.id, showDelivery);
    },
  }),

  operation({
    name: 'get_webhook_delivery',
    title: 'Read a webhook delivery',
    summary:
      'One delivery: the request that was posted last, or will be posted first, and the answer. Signatures are made with the current secret.',
    effect: 'reads',
    scope: 'webhooks:read',
    ofAllEmails: true,
    input: z.strictObject({ id, delivery_id: deliveryId }),
    output: delivery.extend({
      request: z
        .object({
          url: z.string().describe('Where it is posted to.'),
          headers: z.record(z.string(), z.string()).describe('The header fields, by name.'),
          body: z.string().describe('The same bytes in every attempt.'),
        })
        .nullable()
        .describe('Null when the event is past its retention.'),
      response: z
        .object({
          status: z.number().int().describe('The status of the answer.'),
          body: z.string().describe('Its beginning.'),
          truncated: z.boolean().describe('Whether there was more.'),
        })
        .nullable()
        .describe('The last answer; null: there was none.'),
    }),
    rest: { method: 'GET', path: '/v1/webhooks/{id}/deliveries/{delivery_id}' },
    client: 'webhooks.getDelivery',
    async run(deps, { accountId }, { id, delivery_id }) {
      const endpoint = await getEndpoint(deps.database, accountId, id);
      const found = await getDelivery(deps.database, accountId, id, delivery_id);
      const request = await signedRequest(deps, endpoint, found);
      return { ...showDelivery(found), request, response: found.response };
    },
  }),

  operation({
    name: 'retry_webhook_delivery',
    title: 'Try a webhook delivery again',
    summary:
      'Posts it now: a waiting delivery is brought forward, a delivered or abandoned one starts again.',
    effect: 'changes',
    scope: 'webhooks:write',
    ofAllEmails: true,
    input: z.strictObject({ id, delivery_id: deliveryId }),
    output: delivery,
    rest: { method: 'POST', path: '/v1/webhooks/{id}/deliveries/{delivery_id}/retry' },
    client: 'webhooks.retryDelivery',
    async run({ database, clock }, { accountId }, { id, delivery_id: deliveryId }, via) {
      await getDelivery(database, accountId, id, deliveryId);
      await replay(database, accountId, { deliveryId }, { nowMs: clock.nowMs() });
      via.note({ target: id, after: { delivery: deliveryId } });
      return showDelivery(await getDelivery(database, accountId, id, deliveryId));
    },
  }),

  operation({
    name: 'replay_webhook_events',
    title: 'Replay webhook events',
    summary:
      'Posts what the endpoint missed: everything that was abandoned, or every event in a period, even from before it was added. Events keep their ids. With `dry_run` they are only counted.',
    effect: 'changes',
    scope: 'webhooks:write',
    ofAllEmails: true,
    input: z.strictObject({
      id,
      abandoned: z
        .boolean()
        .default(false)
        .describe('Only deliveries that were abandoned, whenever that was.'),
      from: instant.optional().describe('Events since then; needed unless `abandoned` is given.'),
      until: instant.optional().describe('Events before then; now by default.'),
      event_types: eventTypes.optional(),
      dry_run: z.boolean().default(false).describe('Only count.'),
    }),
    output: z.object({ count: z.number().int().describe('How many events it is about.') }),
    rest: { method: 'POST', path: '/v1/webhooks/{id}/replay' },
    client: 'webhooks.replay',
    tool: {
      brief: 'Posts what the endpoint missed. Count with dry_run first.',
      destructive: false,
    },
    async run({ database, clock }, { accountId }, { id, dry_run: dryRun, ...wish }, via) {
      const nowMs = clock.nowMs();
      const done = await replay(database, accountId, selectionOf(id, wish, nowMs), {
        ...{ nowMs, dryRun },
      });
      if (!dryRun) via.note({ target: id, after: { ...wish, ...done } });
      return done;
    },
  }),
];

function selectionOf(
  endpointId: string,
  wish: {
    abandoned: boolean;
    from?: string | undefined;
    until?: string | undefined;
    event_types?: HookType[] | undefined;
  },
  nowMs: number,
): Selection {
  if (wish.abandoned) {
    const other = wish.from ?? wish.until ?? wish.event_types;
    if (other === undefined) return { endpointId, abandoned: true };
    throw new Problem(
      'invalid',
      'abandoned means every abandoned delivery, so it cannot be combined with from, until or event_types. Leave out one or the other.',
      { at: 'abandoned' },
    );
  }
  if (wish.from === undefined) {
    throw new Problem('invalid', 'Say which events: give from (and until), or abandoned.', {
      at: 'from',
    });
  }
  const [from, to] = [new Date(wish.from), new Date(wish.until ?? nowMs)];
  if (to <= from) {
    throw new Problem('invalid', 'until: it must be later than from.', { at: 'until' });
  }
  return {
    ...{ endpointId, from, to },
    ...(wish.event_types === undefined ? {} : { types: wish.event_types }),
  };
}
