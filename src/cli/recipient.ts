// sandmartin recipient: what an account holds about one person, given out or erased.
import type { Command } from 'commander';
import { ofAccount, print } from './command.ts';
import { withOperations } from './operations.ts';

interface RecipientOptions {
  account: number;
  json?: boolean;
}

export function registerRecipient(program: Command): void {
  const recipient = program
    .command('recipient')
    .description('what is held about one person: export it, erase it');

  ofAccount(recipient.command('export <address>').description('everything, as JSON')).action(
    (address: string, { account }: RecipientOptions) =>
      withOperations(account, async (api) => {
        const { next, has_more: _, ...all } = await api.recipients.export({ address, limit: 100 });
        for (let cursor = next; cursor !== null; ) {
          const page = await api.recipients.export({ address, cursor, limit: 100 });
          all.data.push(...page.data);
          cursor = page.next;
        }
        print(true, all, () => []);
      }),
  );

  ofAccount(
    recipient
      .command('erase <address>')
      .description('erase the person everywhere, permanently; a suppression is kept as a hash'),
  ).action((address: string, { account, json }: RecipientOptions) =>
    withOperations(account, async (api) => {
      const erased = await api.recipients.erase({ address });
      print(json, erased, () => [
        `Erased: ${Object.entries(erased)
          .map(([what, count]) => `${count} ${what.replaceAll('_', ' ')}`)
          .join(', ')}.`,
        'Backups are not changed: erase again after restoring one.',
      ]);
    }),
  );
}
