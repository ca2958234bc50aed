// Webhook endpoints: where the account's events are posted to.
import { z } from 'zod';
import {
  changeEndpoint,
  createEndpoint,
  disableEndpoint,
  type Endpoint,
  enableEndpoint,
  getEndpoint,
  listEndpoints,
} from '../webhooks/endpoint.ts';
import { HOOK_TYPES } from '../webhooks/event-body.ts';
import { listed, listOf } from './lists.ts';
import { operation } from './operation.ts';

const text = z.string().nullable();

const endpoint = z
  .object({
    id: z.string().describe('Id of the endpoint.'),
    url: z.string().describe('Where events are posted to.'),
    event_types: z.array(z.string()).describe('Which events; empty: all.'),
    fifo: z.boolean().describe('Whether events come one at a time and in order.'),
    created_at: z.string().describe('When it was made: ISO 8601, UTC.'),
    disabled_at: text.describe('Since when it gets nothing; null: it is in use.'),
    disabled_reason: text.describe(
      'owner: by hand. gone: it answered 410. failing: it failed too long.',
    ),
    failing_since: text.describe('Nothing but failures since then; null: it works.'),
  })
  .meta({ id: 'WebhookEndpoint' });

const show = (one: Endpoint): z.output<typeof endpoint> => ({
  id: one.id,
  url: one.url,
  event_types: one.eventTypes ?? [],
  fifo: one.fifo,
  created_at: one.createdAt,
  disabled_at: one.disabledAt,
  disabled_reason: one.disabledReason,
  failing_since: one.failingSince,
});

const id = z.string().max(64).describe('Id of the endpoint.');
const url = z
  .string()
  .max(2048)
  .describe('An https address.')
  .meta({ example: 'https://example.com/hooks' });
const eventTypes = z.array(z.enum(HOOK_TYPES as [string])).describe('Which events; empty: all.');
const fifo = z.boolean().describe('One at a time and in order, at the price of speed.');

export const webhookOperations = [
  operation({
    name: 'list_webhook_endpoints',
    title: 'List webhook endpoints',
    summary: 'Where the account’s events are posted to, and how each endpoint does.',
    effect: 'reads',
    scope: 'webhooks:read',
    input: z.strictObject({}),
    output: listOf('endpoints', endpoint),
    rest: { method: 'GET', path: '/v1/webhooks' },
    client: 'webhooks.list',
    tool: {},
    run: async ({ database }, { accountId }) =>
      listed((await listEndpoints(database, accountId)).map(show), null),
  }),

  operation({
    name: 'create_webhook_endpoint',
    title: 'Add a webhook endpoint',
    summary:
      'From now on the account’s events are posted there, signed. The answer holds the signing secret, which is shown this once.',
    effect: 'talks',
    scope: 'webhooks:write',
    input: z.strictObject({ url, event_types: eventTypes.optional(), fifo: fifo.optional() }),
    output: z.object({
      id,
      secret: z.string().describe('The signing secret, shown this once.'),
      warning: z.string().optional().describe('What is odd about the address, when something is.'),
    }),
    rest: { method: 'POST', path: '/v1/webhooks', status: 201 },
    client: 'webhooks.create',
    tool: {
      destructive: false,
      advice: 'Pass the secret on to whoever runs the receiver, and keep it nowhere else.',
    },
    async run({ database, webhooks }, { accountId }, { url, event_types, fifo = false }, via) {
      const wanted = { url, eventTypes: event_types ?? null, fifo };
      const made = await createEndpoint(database, accountId, wanted, webhooks);
      via.note({ target: made.id, after: { url, event_types: event_types ?? [], fifo } });
      return made;
    },
  }),

  operation({
    name: 'update_webhook_endpoint',
    title: 'Change a webhook endpoint',
    summary: 'Changes what is given; `enabled` turns it off and on. What waits is kept meanwhile.',
    effect: 'talks',
    scope: 'webhooks:write',
    input: z.strictObject({
      id,
      url: url.optional(),
      event_types: eventTypes.optional(),
      fifo: fifo.optional(),
      enabled: z.boolean().optional().describe('Whether it gets events.'),
    }),
    output: endpoint,
    rest: { method: 'PATCH', path: '/v1/webhooks/{id}' },
    client: 'webhooks.update',
    tool: {},
    async run(deps, { accountId }, { id, enabled, event_types, ...change }, via) {
      const { database, clock, webhooks } = deps;
      const before = show(await getEndpoint(database, accountId, id));
      const wanted = {
        ...change,
        ...(event_types === undefined ? {} : { eventTypes: event_types }),
      };
      let changed = await changeEndpoint(database, accountId, id, wanted, webhooks);
      if (enabled === true) changed = await enableEndpoint(database, accountId, id);
      if (enabled === false) changed = await disableEndpoint(database, accountId, id, clock);
      const after = show(changed);
      via.note({ target: id, before, after });
      return after;
    },
  }),
];
