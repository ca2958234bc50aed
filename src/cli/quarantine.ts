// sandmartin quarantine: mails that were set aside, and putting them back when the cause is mended.
import type { Command } from 'commander';
import { Problem } from '../errors.ts';
import { readUuid } from '../ids.ts';
import { listSetAside, releaseSetAside } from '../queue/quarantine.ts';
import { print, table, wholeNumber, withDatabase, withJson } from './command.ts';

interface QuarantineOptions {
  limit: number;
  all?: boolean;
  json?: boolean;
}

export function registerQuarantine(program: Command): void {
  const quarantine = program
    .command('quarantine')
    .description('mails set aside because they could not be read, made or recorded');

  withJson(quarantine.command('list').description('oldest first, with the reason'))
    .option('--limit <n>', 'how many', wholeNumber('--limit', 1), 100)
    .action((options: QuarantineOptions) =>
      withDatabase(async (database) => {
        const found = await listSetAside(database, options.limit);
        print(options.json, found, () =>
          found.length === 0
            ? ['Nothing is set aside.']
            : table(
                ['ID', 'ACCOUNT', 'SINCE', 'REASON'],
                found.map((it) => [it.id, String(it.accountId), it.since, it.reason]),
              ),
        );
      }),
    );

  withJson(quarantine.command('release [id]').description('try it again, or all with --all'))
    .option('--all', 'everything that is set aside')
    .action((id: string | undefined, options: QuarantineOptions) =>
      withDatabase(async (database) => {
        const released = await releaseSetAside(database, wanted(id, options.all));
        print(options.json, { released }, () => [
          `${released} ${released === 1 ? 'mail is' : 'mails are'} due again.`,
        ]);
      }),
    );
}

function wanted(id: string | undefined, all: boolean | undefined): string | 'all' {
  if ((id === undefined) === (all === undefined)) {
    throw new Problem('invalid', 'Name one message, or give --all.');
  }
  if (id === undefined) return 'all';
  const uuid = readUuid('msg_', id);
  if (uuid === undefined) throw new Problem('invalid', `${id} is not the id of a message.`);
  return uuid;
}
