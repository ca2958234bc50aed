// Webhooks: endpoints with secrets shown once, test events, the log of deliveries, sending again.
import { z } from 'zod';
import { Problem } from '../../errors.ts';
import { getDelivery, listDeliveries } from '../../webhooks/deliveries.ts';
import {
  changeEndpoint,
  createEndpoint,
  disableEndpoint,
  enableEndpoint,
  getEndpoint,
  removeEndpoint,
  rotateSecret,
} from '../../webhooks/endpoint.ts';
import { HOOK_TYPES } from '../../webhooks/event-body.ts';
import { replay } from '../../webhooks/replay.ts';
import { sendTestEvent } from '../../webhooks/test-event.ts';
import { PAGE_SIZE, pageQuery, type Works } from '../route.ts';
import {
  listEndpointViews,
  readDeliveryDetail,
  readEndpointView,
  toDeliveryRow,
} from '../webhook-views.ts';

const hookType = z.enum(HOOK_TYPES as [(typeof HOOK_TYPES)[number]]);
const eventTypes = z.array(hookType).nullable().optional();
const url = z.string().max(2048);
const instant = z.iso.datetime({ offset: true });

type Names =
  | 'listWebhooks'
  | 'createWebhook'
  | 'changeWebhook'
  | 'removeWebhook'
  | 'rotateWebhook'
  | 'testWebhook'
  | 'listDeliveries'
  | 'getDelivery'
  | 'retryDelivery'
  | 'replayWebhook';

export const webhookRoutes: Works<Names> = {
  listWebhooks: {
    async run({ database }, { accountId }) {
      return { endpoints: await listEndpointViews(database, accountId) };
    },
  },

  createWebhook: {
    body: z.strictObject({ url, eventTypes, fifo: z.boolean().optional() }),
    async run(deps, { accountId, body }) {
      const made = await createEndpoint(deps.database, accountId, body, deps.webhooks);
      const endpoint = await readEndpointView(deps.database, accountId, made.id);
      return { endpoint, secret: made.secret, warning: made.warning ?? null };
    },
  },

  changeWebhook: {
    body: z.strictObject({
      url: url.optional(),
      eventTypes,
      fifo: z.boolean().optional(),
      disabled: z.boolean().optional(),
    }),
    async run({ database, webhooks, clock }, { accountId, params, body }) {
      const { disabled, ...change } = body;
      await changeEndpoint(database, accountId, params.id, change, webhooks);
      if (disabled === true) await disableEndpoint(database, accountId, params.id, clock);
      if (disabled === false) await enableEndpoint(database, accountId, params.id);
      return await readEndpointView(database, accountId, params.id);
    },
  },

  removeWebhook: {
    async run({ database }, { accountId, params }) {
      await removeEndpoint(database, accountId, params.id);
      return {};
    },
  },

  rotateWebhook: {
    async run({ database, webhooks }, { accountId, params }) {
      const { secret } = await rotateSecret(database, accountId, params.id, webhooks);
      const endpoint = await readEndpointView(database, accountId, params.id);
      return { endpoint, secret, warning: null };
    },
  },

  testWebhook: {
    body: z.strictObject({ eventType: hookType.optional() }),
    async run(deps, { accountId, params, body }) {
      const type = body.eventType ?? 'delivery';
      const result = await sendTestEvent(deps.database, accountId, params.id, type, deps.webhooks);
      return {
        ok: result.ok,
        status: result.status ?? null,
        error: result.error?.detail ?? null,
        durationMs: Math.round(result.durationMs),
        response: result.responseBody ?? '',
      };
    },
  },

  listDeliveries: {
    query: z.strictObject({
      state: z.enum(['pending', 'delivered', 'abandoned']).optional(),
      ...pageQuery,
    }),
    async run({ database }, { accountId, params, query }) {
      const { url } = await getEndpoint(database, accountId, params.id);
      const limit = query.limit ?? PAGE_SIZE;
      const deliveries = await listDeliveries(database, accountId, {
        endpointId: params.id,
        ...(query.state === undefined ? {} : { state: query.state }),
        ...(query.before === undefined ? {} : { before: query.before }),
        limit,
      });
      return {
        items: deliveries.map((delivery) => toDeliveryRow(delivery, url)),
        next: deliveries.length === limit ? (deliveries.at(-1)?.id ?? null) : null,
      };
    },
  },

  getDelivery: {
    run: (deps, { accountId, params }) =>
      readDeliveryDetail(deps, accountId, params.id, params.deliveryId),
  },

  retryDelivery: {
    async run({ database, clock }, { accountId, params }) {
      const { id, deliveryId } = params;
      const { url } = await getEndpoint(database, accountId, id);
      await getDelivery(database, accountId, id, deliveryId);
      await replay(database, accountId, { deliveryId }, { nowMs: clock.nowMs() });
      return toDeliveryRow(await getDelivery(database, accountId, id, deliveryId), url);
    },
  },

  replayWebhook: {
    body: z.strictObject({
      from: instant,
      until: instant,
      eventTypes: z.array(hookType).optional(),
      onlyFailed: z.boolean().optional(),
      dryRun: z.boolean(),
    }),
    async run({ database, clock }, { accountId, params, body }) {
      const { dryRun, onlyFailed, eventTypes: types } = body;
      const options = { nowMs: clock.nowMs(), dryRun };
      const endpointId = params.id;
      if (onlyFailed) {
        return await replay(database, accountId, { endpointId, abandoned: true }, options);
      }
      const [from, to] = [new Date(body.from), new Date(body.until)];
      if (to <= from) throw new Problem('invalid', 'until: it must be later than from.');
      const selection = { endpointId, from, to, ...(types === undefined ? {} : { types }) };
      return await replay(database, accountId, selection, options);
    },
  },
};
