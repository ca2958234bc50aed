// sandmartin webhook add, list, set, rotate, disable, enable, remove: where events are posted.
import type { Command } from 'commander';
import type { Operations, WebhookDelivery, WebhookEndpoint } from '../client/operations.ts';
import { accountOfEndpoint, listEndpoints, readTypes } from '../webhooks/endpoint.ts';
import { EVERY_HOOK_TYPE } from '../webhooks/event-body.ts';
import { DISABLED_REASONS } from '../webhooks/health.ts';
import { accountNumber, collect, print, table, withJson } from './command.ts';
import { type Here, operating, withOperations } from './operations.ts';

export interface WebhookOptions {
  account?: number;
  url?: string;
  event?: string[];
  fifo?: boolean;
  endpoint?: string;
  state?: WebhookDelivery['state'];
  limit: number;
  abandoned?: boolean;
  from?: string;
  to?: string;
  dryRun?: boolean;
  forward: string;
  secret?: string;
  json?: boolean;
}

export const types = EVERY_HOOK_TYPE.join(', ');

export function registerEndpoints(webhook: Command): void {
  withJson(
    webhook.command('add').description('register an endpoint; its secret is shown only once'),
  )
    .requiredOption('--account <id>', 'the account whose events it gets', accountNumber)
    .requiredOption('--url <url>', 'where to POST, https://')
    .option('--event <type>', `only this type; repeat for more (${types})`, collect)
    .option('--fifo', 'one at a time, in the order of the events')
    .action((options: WebhookOptions & { account: number; url: string }) =>
      withOperations(options.account, async (api) => {
        const { warning, ...made } = await api.webhooks.create({
          url: options.url,
          event_types: readTypes(options.event) ?? [],
          fifo: options.fifo,
        });
        if (warning !== undefined) process.stderr.write(`${warning}\n`);
        print(options.json, made, () => [
          made.secret,
          `This is the signing secret of ${made.id}. Save it now: it is not shown again.`,
        ]);
      }),
    );

  withJson(webhook.command('list').description('endpoints and their state'))
    .option('--account <id>', 'of one account only', accountNumber)
    .action((options: WebhookOptions) =>
      operating(async (here) => {
        const endpoints = await endpointsOf(here, options.account);
        print(options.json, endpoints, () =>
          table(
            ['ID', 'ACCOUNT', 'URL', 'EVENTS', 'STATE'],
            endpoints.map((it) => [
              it.id,
              String(it.account),
              it.url,
              `${it.event_types.join(' ') || 'all'}${it.fifo ? ' in order' : ''}`,
              stateOf(it),
            ]),
          ),
        );
      }),
    );

  onEndpoint(webhook.command('set <id>').description('change an endpoint'))
    .option('--url <url>', 'where to POST, https://')
    .option('--event <type>', `only this type; repeat for more (${types}), or "all"`, collect)
    .option('--fifo', 'one at a time, in the order of the events')
    .option('--no-fifo', 'several at a time')
    .action((id: string, options: WebhookOptions) =>
      withEndpoint(id, options, async (api) => {
        const { url, fifo, event } = options;
        const event_types = event?.includes('all') ? [] : (readTypes(event) ?? undefined);
        const changed = await api.webhooks.update({ id, url, fifo, event_types });
        print(options.json, changed, () => [`${changed.id} is changed: ${stateOf(changed)}.`]);
      }),
    );

  onEndpoint(
    webhook
      .command('rotate <id>')
      .description('create a new secret; the old one also signs for a day'),
  ).action((id: string, options: WebhookOptions) =>
    withEndpoint(id, options, async (api) => {
      const made = await api.webhooks.rotate({ id });
      print(options.json, made, () => [
        made.secret,
        `This is the new secret of ${made.id}. Save it now: it is not shown again.`,
        `The old one signs too until ${made.previous_secret_until}.`,
      ]);
    }),
  );

  onEndpoint(
    webhook.command('disable <id>').description('stop sending to it; what is waiting is kept'),
  ).action((id: string, options: WebhookOptions) => turn(id, options, false));

  onEndpoint(
    webhook.command('enable <id>').description('send to it again, including what was waiting'),
  ).action((id: string, options: WebhookOptions) => turn(id, options, true));

  onEndpoint(
    webhook
      .command('remove <id>')
      .description('delete it permanently, with the deliveries that wait for it'),
  ).action((id: string, options: WebhookOptions) =>
    withEndpoint(id, options, async (api) => {
      const removed = await api.webhooks.remove({ id });
      print(options.json, removed, () => [`${removed.id} is removed.`]);
    }),
  );
}

const turn = (id: string, options: WebhookOptions, enabled: boolean): Promise<void> =>
  withEndpoint(id, options, async (api) => {
    const endpoint = await api.webhooks.update({ id, enabled });
    print(options.json, endpoint, () => [`${endpoint.id} is ${stateOf(endpoint)}.`]);
  });

/** A command on one endpoint. The id is enough; with --account it must be that account's. */
export function onEndpoint(command: Command): Command {
  return withJson(command).option('--account <id>', 'the account it belongs to', accountNumber);
}

export const withEndpoint = (
  id: string,
  { account }: { account?: number },
  work: (api: Operations) => Promise<void>,
): Promise<void> =>
  operating(async (here) =>
    work(await here.as(account ?? (await accountOfEndpoint(here.database, id)))),
  );

/** Those of one account or, for the operator, of all. */
async function endpointsOf(
  here: Here,
  account: number | undefined,
): Promise<(WebhookEndpoint & { account: number })[]> {
  const all = account === undefined ? await listEndpoints(here.database) : [];
  const accounts = account === undefined ? new Set(all.map((it) => it.accountId)) : [account];
  const found = [];
  for (const account of accounts) {
    const { data } = await (await here.as(account)).webhooks.list();
    found.push(...data.map((endpoint) => ({ account, ...endpoint })));
  }
  return found;
}

function stateOf(endpoint: WebhookEndpoint): string {
  if (endpoint.disabled_reason !== null) {
    return `disabled since ${endpoint.disabled_at}: ${DISABLED_REASONS[endpoint.disabled_reason]}`;
  }
  if (endpoint.paused_until !== null) return `paused until ${endpoint.paused_until}`;
  return endpoint.failing_since === null ? 'enabled' : `failing since ${endpoint.failing_since}`;
}
