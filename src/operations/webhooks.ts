// Webhook endpoints: where the account's events are posted.
import { z } from 'zod';
import type { Caller } from '../accounts/directory.ts';
import type { Queryable } from '../store/pool.ts';
import { checkUrl } from '../webhooks/address-guard.ts';
import {
  changeEndpoint,
  countWaiting,
  createEndpoint,
  disableEndpoint,
  type Endpoint,
  enableEndpoint,
  getEndpoint,
  listEndpoints,
  lockEndpoint,
  removeEndpoint,
  rotateSecret,
} from '../webhooks/endpoint.ts';
import { DISABLED_REASONS, type DisabledReason } from '../webhooks/health.ts';
import { listOf, pageOfFew, pageOutOf, WHOLE_FOR_AGENTS } from './lists.ts';
import { operation } from './operation.ts';
import { eventTypes, endpointId as id } from './webhook-fields.ts';

const text = z.string().nullable();

const endpoint = z
  .object({
    id: z.string().describe('Id of the endpoint.'),
    url: z.string().describe('Where events are posted to.'),
    event_types: eventTypes,
    fifo: z.boolean().describe('Whether events come one at a time and in order.'),
    created_at: z.string().describe('When it was created: ISO 8601, UTC.'),
    enabled: z.boolean().describe('Whether it gets events.'),
    disabled_at: text.describe('Since when it gets nothing; null: it is in use.'),
    disabled_reason: z
      .enum(Object.keys(DISABLED_REASONS) as [DisabledReason])
      .nullable()
      .describe('owner: by hand. gone: it answered 410. failing: it failed for too long.'),
    failures: z.number().int().describe('How often it has failed in a row.'),
    failing_since: text.describe('It has failed without a success since then; null: it works.'),
    paused_until: text.describe('No attempt is made before then, because it keeps failing.'),
    previous_secret_until: text.describe('After a rotation: the old secret signs too until then.'),
    waiting: z.number().int().describe('Deliveries that wait for it; counted up to 10,000.'),
  })
  .meta({ id: 'WebhookEndpoint' });

const show = (one: Endpoint, waiting: Map<string, number>): z.output<typeof endpoint> => ({
  id: one.id,
  url: one.url,
  event_types: one.eventTypes ?? [],
  fifo: one.fifo,
  created_at: one.createdAt,
  enabled: one.disabledAt === null,
  disabled_at: one.disabledAt,
  disabled_reason: one.disabledReason,
  failures: one.failures,
  failing_since: one.failingSince,
  paused_until: one.pausedUntil,
  previous_secret_until: one.previousSecretUntil,
  waiting: waiting.get(one.id) ?? 0,
});

async function read(database: Queryable, accountId: number, wanted: string) {
  const found = await getEndpoint(database, accountId, wanted);
  return show(found, await countWaiting(database, accountId));
}

/** The worker disables endpoints. */
const lock = (database: Queryable, { accountId }: Caller, wanted: { id: string }) =>
  lockEndpoint(database, accountId, wanted.id);

/** For the audit: what people set. */
const settings = ({ url, event_types, fifo, enabled }: z.output<typeof endpoint>) => ({
  ...{ url, event_types, fifo, enabled },
});

const secret = z.string().describe('The signing secret, shown only once.');
const url = z
  .string()
  .max(2048)
  .describe('An https address.')
  .meta({ example: 'https://example.com/hooks' });
const fifo = z.boolean().describe('One at a time and in order, which is slower.');

export const webhookOperations = [
  operation({
    name: 'list_webhook_endpoints',
    title: 'List webhook endpoints',
    summary: 'Where the account’s events are posted, and the state of each endpoint.',
    effect: 'reads',
    scope: 'webhooks:read',
    input: z.strictObject(pageOfFew),
    output: listOf('endpoints', endpoint),
    rest: { method: 'GET', path: '/v1/webhooks' },
    client: 'webhooks.list',
    tool: {
      brief: 'Where events are posted, and the state of each endpoint.',
      without: WHOLE_FOR_AGENTS,
    },
    async run({ database }, { accountId }, wanted) {
      const waiting = await countWaiting(database, accountId);
      const endpoints = await listEndpoints(database, accountId);
      const shown = endpoints.map((one) => show(one, waiting));
      return pageOutOf(shown, wanted, ({ id }) => id);
    },
  }),

  operation({
    name: 'get_webhook_endpoint',
    title: 'Read a webhook endpoint',
    summary: 'One endpoint: where it is, what it gets, and its state.',
    effect: 'reads',
    scope: 'webhooks:read',
    input: z.strictObject({ id }),
    output: endpoint,
    rest: { method: 'GET', path: '/v1/webhooks/{id}' },
    client: 'webhooks.get',
    run: ({ database }, { accountId }, wanted) => read(database, accountId, wanted.id),
  }),

  operation({
    name: 'create_webhook_endpoint',
    title: 'Add a webhook endpoint',
    summary:
      'From now on the account’s events are posted there, signed. The answer contains the signing secret, which is shown only once.',
    effect: 'talks',
    scope: 'webhooks:write',
    ofAllEmails: true,
    input: z.strictObject({ url, event_types: eventTypes.optional(), fifo: fifo.optional() }),
    output: endpoint.extend({
      secret,
      warning: z.string().optional().describe('A warning about the address, if there is one.'),
    }),
    rest: { method: 'POST', path: '/v1/webhooks', status: 201 },
    client: 'webhooks.create',
    tool: {
      brief: 'Posts the account’s events there. Shows the signing secret once: pass it on.',
      destructive: false,
    },
    async run({ database, webhooks }, { accountId }, { url, event_types, fifo = false }, via) {
      const wanted = { url, eventTypes: event_types ?? null, fifo };
      const { id, secret, warning } = await createEndpoint(database, accountId, wanted, webhooks);
      const made = await read(database, accountId, id);
      via.note({ target: id, after: settings(made) });
      return { ...made, secret, ...(warning === undefined ? {} : { warning }) };
    },
  }),

  operation({
    name: 'update_webhook_endpoint',
    title: 'Change a webhook endpoint',
    summary: 'Changes the fields you give; `enabled` turns it off and on. What is waiting is kept.',
    effect: 'changes',
    scope: 'webhooks:write',
    ofAllEmails: true,
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
    tool: { brief: 'Changes the fields you give; `enabled` turns it off and on.' },
    async before({ webhooks }, _, { url }) {
      if (url !== undefined) await checkUrl(webhooks.guard, url);
    },
    lock,
    async run({ database, clock }, { accountId }, { id, enabled, event_types, ...change }, via) {
      const before = await read(database, accountId, id);
      const wanted = {
        ...change,
        ...(event_types === undefined ? {} : { eventTypes: event_types }),
      };
      await changeEndpoint(database, accountId, id, wanted);
      const isWell = before.enabled && before.failures === 0;
      if (enabled === true && !isWell) await enableEndpoint(database, accountId, id);
      if (enabled === false) await disableEndpoint(database, accountId, id, clock);
      const after = await read(database, accountId, id);
      via.note({ target: id, before: settings(before), after: settings(after) });
      return after;
    },
  }),

  operation({
    name: 'remove_webhook_endpoint',
    title: 'Remove a webhook endpoint',
    summary:
      'It receives nothing more, and what is waiting for it is deleted. To keep that, turn it off instead.',
    effect: 'changes',
    scope: 'webhooks:write',
    input: z.strictObject({ id }),
    output: endpoint,
    rest: { method: 'DELETE', path: '/v1/webhooks/{id}' },
    client: 'webhooks.remove',
    tool: {
      brief: 'It receives nothing more; what is waiting for it is deleted.',
      idempotent: false,
    },
    lock,
    async run({ database }, { accountId }, { id }, via) {
      const removed = await read(database, accountId, id);
      await removeEndpoint(database, accountId, id);
      via.note({ target: id, before: settings(removed) });
      return removed;
    },
  }),

  operation({
    name: 'rotate_webhook_secret',
    title: 'Replace a signing secret',
    summary:
      'Creates a new signing secret, which is shown only once. For a day both sign, so that receivers can switch over.',
    effect: 'changes',
    scope: 'webhooks:write',
    input: z.strictObject({ id }),
    output: endpoint.extend({ secret }),
    rest: { method: 'POST', path: '/v1/webhooks/{id}/rotate' },
    client: 'webhooks.rotate',
    async run({ database, webhooks }, { accountId }, { id }, via) {
      const { secret } = await rotateSecret(database, accountId, id, webhooks);
      const rotated = await read(database, accountId, id);
      via.note({ target: id, after: { previous_secret_until: rotated.previous_secret_until } });
      return { ...rotated, secret };
    },
  }),
];
