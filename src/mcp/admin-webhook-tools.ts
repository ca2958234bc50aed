// Webhook endpoints for keys with the scope `admin`: where the account's events are posted to.
import { z } from 'zod';
import type { Clock } from '../clock.ts';
import type { Database } from '../store/pool.ts';
import type { Vault } from '../store/vault.ts';
import type { AddressGuard } from '../webhooks/address-guard.ts';
import {
  changeEndpoint,
  createEndpoint,
  disableEndpoint,
  type Endpoint,
  enableEndpoint,
  listEndpoints,
} from '../webhooks/endpoint.ts';
import { HOOK_TYPES } from '../webhooks/event-body.ts';
import { defineTool, READS, type Tool } from './tool.ts';

export interface WebhookToolDeps {
  database: Database;
  clock: Clock;
  webhookGuard: AddressGuard;
  vault: Vault;
}

const text = z.union([z.string(), z.null()]);

const endpoint = z.strictObject({
  id: z.string().describe('Id of the endpoint.'),
  url: z.string().describe('Where events are posted to.'),
  event_types: z.array(z.string()).describe('Which events; empty: all.'),
  fifo: z.boolean().describe('Whether events come one at a time and in order.'),
  created_at: z.string().describe('When it was made, ISO 8601.'),
  disabled_at: text.describe('Since when it gets nothing; null: it is in use.'),
  disabled_reason: text.describe(
    'owner: by hand. gone: it answered 410. failing: it failed too long.',
  ),
  failing_since: text.describe('Nothing but failures since then; null: it works.'),
});

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

const url = z.string().describe('An https address.').meta({ example: 'https://example.com/hooks' });
const eventTypes = z.array(z.enum(HOOK_TYPES as [string])).describe('Which events; empty: all.');
const fifo = z.boolean().describe('One at a time and in order, at the price of speed.');

const listEndpointsTool = defineTool({
  name: 'list_webhook_endpoints',
  title: 'List webhook endpoints',
  description: 'Where the account’s events are posted to, and how each endpoint does.',
  scope: 'admin',
  input: z.strictObject({}),
  output: z.strictObject({ endpoints: z.array(endpoint).describe('The account’s endpoints.') }),
  annotations: READS,
  async run(deps: WebhookToolDeps, caller) {
    return { endpoints: (await listEndpoints(deps.database, caller.accountId)).map(show) };
  },
});

const createEndpointTool = defineTool({
  name: 'create_webhook_endpoint',
  title: 'Add a webhook endpoint',
  description:
    'From now on the account’s events are posted there, signed. The answer holds the signing secret, which is shown this once: pass it on to whoever runs the receiver, and keep it nowhere else.',
  scope: 'admin',
  input: z.strictObject({ url, event_types: eventTypes.optional(), fifo: fifo.optional() }),
  output: z.strictObject({
    id: z.string().describe('Id of the endpoint.'),
    secret: z.string().describe('The signing secret, shown this once.'),
    warning: z.string().optional().describe('What is odd about the address, when something is.'),
  }),
  annotations: {
    readOnlyHint: false,
    destructiveHint: false,
    idempotentHint: false,
    openWorldHint: true,
  },
  run: (deps: WebhookToolDeps, caller, wanted) =>
    createEndpoint(
      deps.database,
      caller.accountId,
      { url: wanted.url, eventTypes: wanted.event_types ?? null, fifo: wanted.fifo ?? false },
      { guard: deps.webhookGuard, clock: deps.clock, vault: deps.vault },
    ),
});

const updateEndpointTool = defineTool({
  name: 'update_webhook_endpoint',
  title: 'Change a webhook endpoint',
  description:
    'Changes what is given; `enabled` turns it off and on. What waits is kept meanwhile.',
  scope: 'admin',
  input: z.strictObject({
    id: z.string().describe('Id of the endpoint, from list_webhook_endpoints.'),
    url: url.optional(),
    event_types: eventTypes.optional(),
    fifo: fifo.optional(),
    enabled: z.boolean().optional().describe('Whether it gets events.'),
  }),
  output: endpoint,
  annotations: {
    readOnlyHint: false,
    destructiveHint: true,
    idempotentHint: true,
    openWorldHint: true,
  },
  async run(deps: WebhookToolDeps, caller, { id, enabled, event_types, ...change }) {
    const { database, clock } = deps;
    const wanted = { ...change, ...(event_types === undefined ? {} : { eventTypes: event_types }) };
    const changed = await changeEndpoint(database, caller.accountId, id, wanted, {
      guard: deps.webhookGuard,
    });
    if (enabled === undefined) return show(changed);
    return show(
      enabled
        ? await enableEndpoint(database, caller.accountId, id)
        : await disableEndpoint(database, caller.accountId, id, clock),
    );
  },
});

export const ADMIN_WEBHOOK_TOOLS: readonly Tool<WebhookToolDeps>[] = [
  listEndpointsTool,
  createEndpointTool,
  updateEndpointTool,
];
