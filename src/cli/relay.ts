// sandmartin relay: the ways out of this service. Changes reach running processes by themselves.
import type { Command } from 'commander';
import type { Relay } from '../client/operations.ts';
import { Problem } from '../errors.ts';
import { readRule, ruleInWords } from '../relays/rule-words.ts';
import type { RelayRule } from '../relays/stored-relays.ts';
import { collect, onOrOff, print, table, wholeNumber, withJson } from './command.ts';
import { withOperations } from './operations.ts';

interface RelayOptions {
  json?: boolean;
  url?: string;
  weight?: number;
  connections?: number;
  rate?: number;
  daily?: number;
  enabled?: boolean;
  rule?: string[];
  untested?: boolean;
}

export function registerRelay(program: Command): void {
  const relay = program
    .command('relay')
    .description('relays to hand email to, when one RELAY_URL is not enough');

  withJson(relay.command('list').description('all, with their state')).action(
    ({ json }: RelayOptions) =>
      withOperations(undefined, async (api) => {
        const { data } = await api.relays.list();
        print(json, data, () => (data.length === 0 ? [NONE] : describe(data)));
      }),
  );

  withSettings(relay.command('add <name>').description('test a relay, then use it'))
    .requiredOption('--url <url>', 'smtp://user:password@host:port, or smtps://')
    .action((name: string, options: RelayOptions) =>
      withOperations(undefined, async (api) => {
        const added = await api.relays.add({ name, url: options.url!, ...changeOf(options) });
        print(options.json, added, () => [`${name} is added.`, ...describe([added])]);
      }),
    );

  withSettings(relay.command('set <name>').description('change the fields you give'))
    .option('--url <url>', 'a new address')
    .option('--enabled <on|off>', 'whether email goes through it', onOrOff('--enabled'))
    .option('--no-rules', 'use it for any email')
    .action((name: string, options: RelayOptions & { rules?: boolean }) =>
      withOperations(undefined, async (api) => {
        const rules = options.rules === false ? { rules: [] } : {};
        const { url } = options;
        const changed = await api.relays.update({ name, url, ...changeOf(options), ...rules });
        print(options.json, changed, () => describe([changed]));
      }),
    );

  withJson(relay.command('test <name>').description('connect and log in')).action(
    (name: string, { json }: RelayOptions) =>
      withOperations(undefined, async (api) => {
        const found = await api.relays.test({ name });
        print(json, found, () => [found.detail]);
        if (!found.ok) process.exitCode = 1;
      }),
  );

  withJson(relay.command('remove <name>').description('stop handing email to it'))
    .option('--into-sandbox', 'the last one too: email is then captured and not delivered')
    .action((name: string, { json, intoSandbox }: { json?: boolean; intoSandbox?: boolean }) =>
      withOperations(undefined, async (api) => {
        const removed = await api.relays.remove({ name, into_sandbox: intoSandbox });
        print(json, removed, () => [
          `${name} is removed. Email it had not started on goes to another relay.`,
        ]);
      }),
    );
}

const NONE =
  'There is no relay: the sandbox captures every email. Set RELAY_URL, or use "sandmartin relay add".';

const withSettings = (command: Command): Command =>
  withJson(command)
    .option(
      '--weight <n>',
      'its share; 0: by rule, or as a last resort',
      wholeNumber('--weight', 0),
    )
    .option('--connections <n>', 'of each delivery process', wholeNumber('--connections', 1, 1000))
    .option('--rate <n>', 'emails per second; 0 for no limit', wholeNumber('--rate', 0, 1_000_000))
    .option('--daily <n>', 'emails per UTC day; 0 for no limit', wholeNumber('--daily', 0))
    .option(
      '--rule <conditions>',
      'which email it is for, such as account=4,stream=news; also from=, tag=, to= (a domain); repeat for more',
      collect,
    )
    .option('--untested', 'save the address even if the relay cannot be reached now');

const changeOf = ({ weight, connections, rate, daily, enabled, rule, untested }: RelayOptions) => ({
  ...{ weight, connections, enabled, untested },
  rate_per_second: rate === 0 ? null : rate,
  daily_limit: daily === 0 ? null : daily,
  rules: rule?.map(ruleOf),
});

function ruleOf(text: string): RelayRule {
  try {
    return readRule(text);
  } catch (error) {
    throw new Problem('invalid', `--rule: ${(error as Error).message}`);
  }
}

const describe = (relays: readonly Relay[]): string[] =>
  table(
    ['NAME', 'ADDRESS', 'STATE', 'WEIGHT', 'LIMITS', 'FOR'],
    relays.map((it) => [
      it.name,
      it.url ?? 'RELAY_URL is unset',
      it.detail === null ? it.state : `${it.state}: ${it.detail}`,
      String(it.weight),
      limitsOf(it),
      it.rules.map(ruleInWords).join(' or ') ||
        (it.weight === 0 ? 'what no other can' : 'any email'),
    ]),
  );

function limitsOf({ connections, rate_per_second, daily_limit, used_today }: Relay): string {
  const limits = [
    ...(connections === null ? [] : [`${connections} connections`]),
    ...(rate_per_second === null ? [] : [`${rate_per_second} a second`]),
    ...(daily_limit === null ? [] : [`${used_today} of ${daily_limit} today`]),
  ];
  return limits.join(', ') || 'none';
}
