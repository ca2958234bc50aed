// sandmartin webhook: where events are posted, what became of them, and sending them again.
import type { Command } from 'commander';
import { Agent } from 'undici';
import { systemClock } from '../clock.ts';
import type { Config } from '../config.ts';
import { Problem } from '../errors.ts';
import { openSecret } from '../secrets.ts';
import type { Database } from '../store/pool.ts';
import { type AddressGuard, addressGuard, guardedAgent } from '../webhooks/address-guard.ts';
import { type DeliveryFilter, listDeliveries } from '../webhooks/deliveries.ts';
import {
  accountOfEndpoint,
  changeEndpoint,
  createEndpoint,
  disableEndpoint,
  type Endpoint,
  enableEndpoint,
  listEndpoints,
  readTypes,
  rotateSecret,
} from '../webhooks/endpoint.ts';
import { bodyOf, eventIdOf, HOOK_TYPES } from '../webhooks/event-body.ts';
import { DISABLED_REASONS } from '../webhooks/health.ts';
import { forward, openStream } from '../webhooks/listen.ts';
import { accountOfDelivery, replay, type Selection } from '../webhooks/replay.ts';
import { newSecret } from '../webhooks/sign.ts';
import { sendTestEvent } from '../webhooks/test-event.ts';
import {
  accountNumber,
  collect,
  print,
  table,
  wholeNumber,
  withDatabase,
  withJson,
} from './command.ts';

interface WebhookOptions {
  account?: number;
  url?: string;
  event?: string[];
  fifo?: boolean;
  endpoint?: string;
  state?: DeliveryFilter['state'];
  limit: number;
  abandoned?: boolean;
  from?: Date;
  to?: Date;
  dryRun?: boolean;
  forward: string;
  secret?: string;
  json?: boolean;
}

const types = HOOK_TYPES.join(', ');

export function registerWebhook(program: Command): void {
  const webhook = program.command('webhook').description('signed events to HTTPS endpoints');
  registerSetup(webhook);
  registerLog(webhook);
  registerTrying(webhook);
}

function registerSetup(webhook: Command): void {
  withJson(
    webhook.command('add').description('register an endpoint; its secret is shown this once'),
  )
    .requiredOption('--account <id>', 'the account whose events it gets', accountNumber)
    .requiredOption('--url <url>', 'where to POST, https://')
    .option('--event <type>', `only this type; repeat for more (${types})`, collect)
    .option('--fifo', 'one at a time, in the order of the events')
    .action((options: WebhookOptions & { account: number; url: string }) =>
      withDatabase(async (database, config) => {
        const { vault } = await openSecret(database, config.secretKey);
        const { warning, ...made } = await createEndpoint(
          database,
          options.account,
          { url: options.url, eventTypes: options.event ?? null, fifo: options.fifo ?? false },
          { guard: guardOf(config), clock: systemClock, vault },
        );
        if (warning !== undefined) process.stderr.write(`${warning}\n`);
        print(options.json, made, () => [
          made.secret,
          `This is the signing secret of ${made.id}. Keep it now: it is not shown again.`,
        ]);
      }),
    );

  withJson(webhook.command('list').description('endpoints and how they do'))
    .option('--account <id>', 'of one account only', accountNumber)
    .action((options: WebhookOptions) =>
      withDatabase(async (database) => {
        const endpoints = await listEndpoints(database, options.account);
        print(options.json, endpoints, () =>
          table(
            ['ID', 'ACCOUNT', 'URL', 'EVENTS', 'STATE'],
            endpoints.map((it) => [
              it.id,
              String(it.accountId),
              it.url,
              `${it.eventTypes?.join(' ') ?? 'all'}${it.fifo ? ' in order' : ''}`,
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
      withEndpoint(id, options, async (database, account, config) => {
        const change = {
          ...(options.url === undefined ? {} : { url: options.url }),
          ...(options.event === undefined
            ? {}
            : { eventTypes: options.event.includes('all') ? null : options.event }),
          ...(options.fifo === undefined ? {} : { fifo: options.fifo }),
        };
        const guard = guardOf(config);
        const changed = await changeEndpoint(database, account, id, change, { guard });
        print(options.json, changed, () => [`${changed.id} is changed: ${stateOf(changed)}.`]);
      }),
    );

  onEndpoint(
    webhook
      .command('rotate <id>')
      .description('make a new secret; the old one signs beside it for a day'),
  ).action((id: string, options: WebhookOptions) =>
    withEndpoint(id, options, async (database, account, { secretKey }) => {
      const { vault } = await openSecret(database, secretKey);
      const made = await rotateSecret(database, account, id, { clock: systemClock, vault });
      print(options.json, made, () => [
        made.secret,
        `This is the new secret of ${made.id}. Keep it now: it is not shown again.`,
        `The old one signs too until ${made.previousSecretUntil}.`,
      ]);
    }),
  );

  onEndpoint(
    webhook.command('disable <id>').description('send it nothing; what waits stays'),
  ).action((id: string, options: WebhookOptions) =>
    withEndpoint(id, options, async (database, account) => {
      const endpoint = await disableEndpoint(database, account, id, systemClock);
      print(options.json, endpoint, () => [`${endpoint.id} is ${stateOf(endpoint)}.`]);
    }),
  );

  onEndpoint(webhook.command('enable <id>').description('go on with what waits')).action(
    (id: string, options: WebhookOptions) =>
      withEndpoint(id, options, async (database, account) => {
        const endpoint = await enableEndpoint(database, account, id);
        print(options.json, endpoint, () => [`${endpoint.id} is ${stateOf(endpoint)}.`]);
      }),
  );
}

function registerLog(webhook: Command): void {
  withJson(webhook.command('deliveries').description('the log, newest first'))
    .option('--account <id>', 'of this account', accountNumber)
    .option('--endpoint <id>', 'of this endpoint only')
    .option('--state <state>', 'pending, delivered or abandoned', readState)
    .option('--limit <n>', 'how many', wholeNumber('--limit', 1), 50)
    .action((options: WebhookOptions) =>
      withDatabase(async (database) => {
        const account = await accountFor(database, options);
        const deliveries = await listDeliveries(database, account, {
          limit: options.limit,
          ...(options.endpoint === undefined ? {} : { endpointId: options.endpoint }),
          ...(options.state === undefined ? {} : { state: options.state }),
        });
        print(options.json, deliveries, () =>
          table(
            ['ID', 'EVENT', 'MESSAGE', 'STATE', 'ATTEMPTS', 'ANSWER', 'NEXT'],
            deliveries.map((it) => [
              it.id,
              it.eventType,
              it.messageId,
              it.state,
              String(it.attempts),
              String(it.response?.status ?? it.error ?? ''),
              it.nextAttemptAt ?? '',
            ]),
          ),
        );
      }),
    );

  onEndpoint(
    webhook
      .command('replay <id>')
      .description('send again: one delivery (whd_…), or what an endpoint (whe_…) missed'),
  )
    .option('--abandoned', 'all abandoned deliveries of the endpoint')
    .option('--from <time>', 'every event since then, such as 2026-11-15T10:00Z', readTime)
    .option('--to <time>', 'until then; without it until now', readTime)
    .option('--event <type>', `only this type; repeat for more (${types})`, collect)
    .option('--dry-run', 'only count')
    .action((id: string, options: WebhookOptions) =>
      withDatabase(async (database) => {
        const selection = selectionOf(id, options);
        const account = options.account ?? (await accountBehind(database, id));
        const { count } = await replay(database, account, selection, {
          nowMs: systemClock.nowMs(),
          dryRun: options.dryRun ?? false,
        });
        print(options.json, { count, dryRun: options.dryRun ?? false }, () => [
          options.dryRun ? `${count} would be sent again.` : `${count} are sent again.`,
        ]);
      }),
    );
}

function registerTrying(webhook: Command): void {
  onEndpoint(webhook.command('test <id>').description('send a test event now and show the answer'))
    .option('--event <type>', `its type (${types})`, 'delivery')
    .action((id: string, options: Omit<WebhookOptions, 'event'> & { event: string }) =>
      withEndpoint(id, options, async (database, account, config) => {
        const [type] = readTypes([options.event])!;
        const agent = guardedAgent(guardOf(config));
        const { vault } = await openSecret(database, config.secretKey);
        const deps = { agent, clock: systemClock, vault };
        const result = await sendTestEvent(database, account, id, type!, deps);
        await agent.close();
        print(options.json, result, () => [
          result.ok
            ? `It answered ${result.status} after ${result.durationMs} ms.`
            : `It failed after ${result.durationMs} ms: ${result.error?.detail}`,
          ...(result.responseBody ? [result.responseBody] : []),
        ]);
        if (!result.ok) process.exitCode = 1;
      }),
    );

  withJson(
    webhook.command('listen').description('forward new events to your machine; Ctrl-C ends it'),
  )
    .requiredOption('--account <id>', 'the account whose events to forward', accountNumber)
    .requiredOption('--forward <url>', 'where to POST, such as http://localhost:8000/hook')
    .option('--secret <secret>', 'sign with this one instead of a new one')
    .action((options: WebhookOptions & { account: number }) =>
      withDatabase((database) => listen(database, options)),
    );
}

async function listen(
  database: Database,
  options: WebhookOptions & { account: number },
): Promise<void> {
  if (!/^https?:/.test(options.forward) || !URL.canParse(options.forward)) {
    throw new Problem('invalid', `--forward must be an http(s) URL, not "${options.forward}".`);
  }
  const secret = options.secret ?? newSecret();
  const stopping = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => stopping.abort());
  }
  const events = await openStream(database, options.account, stopping.signal);
  print(options.json, { account: options.account, forward: options.forward, secret }, () => [
    `New events of account ${options.account} go to ${options.forward}. Ctrl-C ends it.`,
    `They are signed with ${secret}`,
  ]);
  const agent = new Agent();
  for await (const event of events) {
    const result = await forward(agent, options.forward, secret, event, systemClock.nowMs());
    const { event_type, payload } = JSON.parse(bodyOf(event).toString());
    const eventId = eventIdOf(event.eventUuid);
    print(options.json, { eventId, event_type, payload, ...result }, () => [
      `${payload.event_timestamp}  ${event_type.padEnd(9)}  ${payload.sm_mail_id}  ${result.error?.detail ?? result.status}`,
    ]);
    if (stopping.signal.aborted) break;
  }
  await agent.close();
}

/** A command on one endpoint. The id is enough; with --account it must be that account's. */
function onEndpoint(command: Command): Command {
  return withJson(command).option('--account <id>', 'the account it belongs to', accountNumber);
}

async function withEndpoint(
  id: string,
  options: { account?: number },
  work: (database: Database, account: number, config: Config) => Promise<void>,
): Promise<void> {
  await withDatabase(async (database, config) =>
    work(database, options.account ?? (await accountOfEndpoint(database, id)), config),
  );
}

async function accountFor(database: Database, options: WebhookOptions): Promise<number> {
  if (options.account !== undefined) return options.account;
  if (options.endpoint !== undefined) return await accountOfEndpoint(database, options.endpoint);
  throw new Problem('invalid', 'Say whose deliveries: --account or --endpoint.');
}

const accountBehind = (database: Database, id: string): Promise<number> =>
  id.startsWith('whd_') ? accountOfDelivery(database, id) : accountOfEndpoint(database, id);

function selectionOf(id: string, options: WebhookOptions): Selection {
  if (id.startsWith('whd_')) return { deliveryId: id };
  if (options.abandoned) return { endpointId: id, abandoned: true };
  if (options.from === undefined) {
    throw new Problem('invalid', 'Say what of the endpoint: --abandoned, or --from and --to.');
  }
  return {
    endpointId: id,
    from: options.from,
    to: options.to ?? new Date(systemClock.nowMs()),
    ...(options.event === undefined ? {} : { types: options.event }),
  };
}

const guardOf = (config: Config): AddressGuard => addressGuard(config.webhookAllow);

function stateOf(endpoint: Endpoint): string {
  if (endpoint.disabledReason !== null) {
    return `disabled since ${endpoint.disabledAt}: ${DISABLED_REASONS[endpoint.disabledReason]}`;
  }
  if (endpoint.pausedUntil !== null) return `paused until ${endpoint.pausedUntil}`;
  return endpoint.failingSince === null ? 'enabled' : `failing since ${endpoint.failingSince}`;
}

function readState(text: string): DeliveryFilter['state'] {
  if (text === 'pending' || text === 'delivered' || text === 'abandoned') return text;
  throw new Problem('invalid', `--state must be pending, delivered or abandoned, not "${text}".`);
}

function readTime(text: string): Date {
  const time = new Date(text);
  if (!Number.isNaN(time.getTime())) return time;
  throw new Problem('invalid', `"${text}" is no time. Write it like 2026-11-15T10:00Z.`);
}
