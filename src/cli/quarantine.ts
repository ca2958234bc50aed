// sandmartin quarantine: emails that were set aside, and putting them back when the cause is fixed.
import type { Command } from 'commander';
import { Problem } from '../errors.ts';
import { print, table, wholeNumber, withJson } from './command.ts';
import { withOperations } from './operations.ts';

interface QuarantineOptions {
  limit: number;
  all?: boolean;
  json?: boolean;
}

export function registerQuarantine(program: Command): void {
  const quarantine = program
    .command('quarantine')
    .description('emails set aside because they could not be read, composed or recorded');

  withJson(quarantine.command('list').description('oldest first, with the reason'))
    .option('--limit <n>', 'how many', wholeNumber('--limit', 1, 100), 100)
    .action(({ limit, json }: QuarantineOptions) =>
      withOperations(undefined, async (api) => {
        const { data: found } = await api.quarantine.list({ limit });
        print(json, found, () =>
          found.length === 0
            ? ['Nothing is set aside.']
            : table(
                ['ID', 'ACCOUNT', 'SINCE', 'REASON'],
                found.map((it) => [it.id, String(it.account_id), it.since, it.reason]),
              ),
        );
      }),
    );

  withJson(quarantine.command('release [id]').description('try it again, or all with --all'))
    .option('--all', 'everything that is set aside')
    .action((id: string | undefined, options: QuarantineOptions) =>
      withOperations(undefined, async (api) => {
        if ((id === undefined) === (options.all === undefined)) {
          throw new Problem('invalid', 'Name one message, or give --all.');
        }
        const { released } =
          id === undefined
            ? await api.quarantine.releaseAll()
            : await api.quarantine.release({ id });
        print(options.json, { released }, () => [
          `${released} ${released === 1 ? 'email is' : 'emails are'} due again.`,
        ]);
      }),
    );
}
