// sandmartin webhook deliveries, delivery, replay: what was posted, what came back, and sending it
// again.
import type { Command } from 'commander';
import type { WebhookDelivery } from '../client/operations.ts';
import { Problem } from '../errors.ts';
import { DELIVERY_STATES } from '../webhooks/delivery-state.ts';
import { accountOfEndpoint, readTypes } from '../webhooks/endpoint.ts';
import { endpointOfDelivery } from '../webhooks/replay.ts';
import { accountNumber, collect, print, table, wholeNumber, withJson } from './command.ts';
import { type Here, operating } from './operations.ts';
import { onEndpoint, types, type WebhookOptions } from './webhook-endpoints.ts';

export function registerLog(webhook: Command): void {
  withJson(webhook.command('deliveries').description('the log, newest first'))
    .option('--account <id>', 'of this account', accountNumber)
    .option('--endpoint <id>', 'of this endpoint only')
    .option('--state <state>', 'pending, delivered or abandoned', readState)
    .option('--limit <n>', 'how many', wholeNumber('--limit', 1, 100), 50)
    .action((options: WebhookOptions) =>
      operating(async (here) => {
        const deliveries = await deliveriesOf(here, options);
        print(options.json, deliveries, () =>
          table(
            ['ID', 'EVENT', 'MESSAGE', 'STATE', 'ATTEMPTS', 'ANSWER', 'NEXT'],
            deliveries.map((it) => [
              it.id,
              it.event_type,
              it.message_id ?? '',
              it.state,
              String(it.attempts),
              String(it.status ?? it.error ?? ''),
              it.next_attempt_at ?? '',
            ]),
          ),
        );
      }),
    );

  onEndpoint(
    webhook.command('delivery <id>').description('one delivery: the request and the answer'),
  ).action((id: string, options: WebhookOptions) =>
    operating(async (here) => {
      const { account, endpointId } = await endpointOfDelivery(here.database, id);
      const api = await here.as(options.account ?? account);
      const found = await api.webhooks.getDelivery({ id: endpointId, delivery_id: id });
      print(options.json, found, () => [
        `${found.id} is ${found.state} after ${found.attempts} attempts.`,
        found.request?.body ?? 'The event is past its retention.',
        found.response === null
          ? (found.error ?? 'There is no answer yet.')
          : `${found.response.status} ${found.response.body}`,
      ]);
    }),
  );

  onEndpoint(
    webhook
      .command('replay <id>')
      .description('send again: one delivery (whd_…), or what an endpoint (whe_…) missed'),
  )
    .option('--abandoned', 'all abandoned deliveries of the endpoint')
    .option('--from <time>', 'every event since then, such as 2026-11-15T10:00Z', readTime)
    .option('--to <time>', 'until then; by default until now', readTime)
    .option('--event <type>', `only this type; repeat for more (${types})`, collect)
    .option('--dry-run', 'only count')
    .action((id: string, options: WebhookOptions) =>
      operating(async (here) => {
        const { count } = await replay(here, id, options);
        const dry_run = options.dryRun ?? false;
        print(options.json, { count, dry_run }, () => [
          `${count === 1 ? '1 delivery' : `${count} deliveries`} ${dry_run ? 'would be' : count === 1 ? 'is' : 'are'} sent again.`,
        ]);
      }),
    );
}

async function replay(here: Here, id: string, options: WebhookOptions): Promise<{ count: number }> {
  if (id.startsWith('whd_')) {
    const { account, endpointId } = await endpointOfDelivery(here.database, id);
    if (options.dryRun) return { count: 1 };
    const api = await here.as(options.account ?? account);
    await api.webhooks.retryDelivery({ id: endpointId, delivery_id: id });
    return { count: 1 };
  }
  const { abandoned, from, to: until, event, dryRun: dry_run } = options;
  if (!abandoned && from === undefined) {
    throw new Problem(
      'invalid',
      'Say which deliveries of the endpoint: --abandoned, or --from and --to.',
    );
  }
  const api = await here.as(options.account ?? (await accountOfEndpoint(here.database, id)));
  const event_types = readTypes(event) ?? undefined;
  return await api.webhooks.replay({ id, abandoned, from, until, event_types, dry_run });
}

async function deliveriesOf(here: Here, options: WebhookOptions): Promise<WebhookDelivery[]> {
  const { endpoint, limit, state } = options;
  const account =
    options.account ?? (endpoint && (await accountOfEndpoint(here.database, endpoint)));
  if (!account) throw new Problem('invalid', 'Say whose deliveries: --account or --endpoint.');
  const api = await here.as(account);
  const ids = endpoint ? [endpoint] : (await api.webhooks.list()).data.map(({ id }) => id);
  const found = [];
  for (const id of ids) {
    found.push(...(await api.webhooks.listDeliveries({ id, state, limit })).data);
  }
  // Ids sort by time.
  return found.sort((one, other) => (one.id < other.id ? 1 : -1)).slice(0, limit);
}

function readState(text: string): WebhookDelivery['state'] {
  const state = DELIVERY_STATES.find((it) => it === text);
  if (state !== undefined) return state;
  const known = new Intl.ListFormat('en', { type: 'disjunction' }).format(DELIVERY_STATES);
  throw new Problem('invalid', `--state must be ${known}, not "${text}".`);
}

function readTime(text: string): string {
  const time = new Date(text);
  if (!Number.isNaN(time.getTime())) return time.toISOString();
  throw new Problem('invalid', `"${text}" is not a time. Write it like 2026-11-15T10:00Z.`);
}
