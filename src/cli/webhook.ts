// sandmartin webhook: where events are posted, what happened to them, testing an endpoint, and
// listening on your own machine.
import type { Command } from 'commander';
import { Agent } from 'undici';
import { Problem } from '../errors.ts';
import { systemClock } from '../process/clock.ts';
import type { Database } from '../store/pool.ts';
import { readTypes } from '../webhooks/endpoint.ts';
import { bodyOf, eventIdOf } from '../webhooks/event-body.ts';
import { forward, openStream } from '../webhooks/listen.ts';
import { newSecret } from '../webhooks/sign.ts';
import { accountNumber, print, withDatabase, withJson } from './command.ts';
import {
  onEndpoint,
  registerEndpoints,
  types,
  type WebhookOptions,
  withEndpoint,
} from './webhook-endpoints.ts';
import { registerLog } from './webhook-log.ts';

export function registerWebhook(program: Command): void {
  const webhook = program.command('webhook').description('signed events to HTTPS endpoints');
  registerEndpoints(webhook);
  registerLog(webhook);
  registerTrying(webhook);
}

function registerTrying(webhook: Command): void {
  onEndpoint(webhook.command('test <id>').description('send a test event now and show the answer'))
    .option('--event <type>', `its type (${types})`, 'delivery')
    .action((id: string, options: Omit<WebhookOptions, 'event'> & { event: string }) =>
      withEndpoint(id, options, async (api) => {
        const [event_type] = readTypes([options.event])!;
        const result = await api.webhooks.test({ id, event_type });
        print(options.json, result, () => [
          result.ok
            ? `It answered ${result.status} after ${result.duration_ms} ms.`
            : `It failed after ${result.duration_ms} ms: ${result.error}`,
          ...(result.response_body ? [result.response_body] : []),
        ]);
        if (!result.ok) process.exitCode = 1;
      }),
    );

  withJson(
    webhook.command('listen').description('forward new events to your machine; Ctrl-C ends it'),
  )
    .requiredOption('--account <id>', 'the account whose events to forward', accountNumber)
    .requiredOption('--forward <url>', 'where to POST, such as http://localhost:8000/hook')
    .option('--secret <secret>', 'sign with this secret instead of a new one')
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
      `${payload.event_timestamp}  ${event_type.padEnd(9)}  ${payload.sm_mail_id ?? payload.recipients[0]}  ${result.error?.detail ?? result.status}`,
    ]);
    if (stopping.signal.aborted) break;
  }
  await agent.close();
}
