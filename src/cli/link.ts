// sandmartin link disable, enable, list: tracked links that are switched off. Readers see a plain
// page instead.
import type { Command } from 'commander';
import { Problem } from '../errors.ts';
import {
  type DisabledTarget,
  disableLink,
  enableLink,
  listDisabled,
} from '../tracking/disabled-links.ts';
import { accountNumber, print, table, withDatabase, withJson } from './command.ts';

interface TargetOptions {
  url?: string;
  host?: string;
  account?: number;
  json?: boolean;
}

export function registerLink(program: Command): void {
  const link = program.command('link').description('switch tracked links off and on');

  withTarget(
    link.command('disable [message]').description('switch off links of a message, or to a host'),
  )
    .option('--reason <text>', 'for other operators', '')
    .action((message: string | undefined, options: TargetOptions & { reason: string }) =>
      withDatabase(async (database) => {
        const target = targetOf(message, options);
        await disableLink(database, target, options.reason.trim());
        print(options.json, target, () => [
          `Switched off: ${shown(target)}. Within seconds, readers see a page that says so.`,
        ]);
      }),
    );

  withTarget(link.command('enable [message]').description('switch them on again')).action(
    (message: string | undefined, options: TargetOptions) =>
      withDatabase(async (database) => {
        const target = targetOf(message, options);
        await enableLink(database, target);
        print(options.json, target, () => [`Switched on again: ${shown(target)}.`]);
      }),
  );

  withJson(link.command('list').description('what is switched off, newest first')).action(
    (options: { json?: boolean }) =>
      withDatabase(async (database) => {
        const links = await listDisabled(database);
        print(options.json, links, () =>
          table(
            ['MESSAGE', 'ACCOUNT', 'TARGET', 'REASON', 'SINCE'],
            links.map((it) => [
              it.messageId ?? 'all',
              it.accountId === null ? 'all' : String(it.accountId),
              it.host ?? it.url ?? 'all links',
              it.reason,
              it.disabledAt,
            ]),
          ),
        );
      }),
  );
}

function withTarget(command: Command): Command {
  return withJson(command)
    .option('--url <url>', 'only the link that leads here, exactly as its sender wrote it')
    .option('--host <name>', 'every link of every account to this host and its subdomains')
    .option(
      '--account <id>',
      'the account of the message, if the message itself has been deleted',
      accountNumber,
    );
}

function targetOf(message: string | undefined, options: TargetOptions): DisabledTarget {
  const { url, host, account } = options;
  if ((message === undefined) === (host === undefined)) {
    throw new Problem('invalid', 'Give a message (msg_…), or --host for links of all messages.');
  }
  if (host !== undefined) {
    if (url === undefined) return { host };
    throw new Problem('invalid', 'Use --url with a message, not with --host.');
  }
  return { messageId: message!, accountId: account, url: url ?? null };
}

const shown = (target: DisabledTarget): string =>
  'host' in target
    ? `links to ${target.host}`
    : `${target.url ?? 'all links'} of ${target.messageId}`;
