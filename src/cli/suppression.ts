// sandmartin suppression: addresses an account does not write to any more.
import type { Command } from 'commander';
import { getAccount } from '../accounts/accounts.ts';
import {
  addSuppression,
  listSuppressions,
  removeSuppression,
} from '../suppressions/suppressions.ts';
import { accountNumber, print, table, wholeNumber, withDatabase, withJson } from './command.ts';

interface SuppressionOptions {
  account: number;
  json?: boolean;
}

interface ListOptions extends SuppressionOptions {
  search?: string;
  after?: string;
  limit: number;
}

export function registerSuppression(program: Command): void {
  const suppression = program
    .command('suppression')
    .description('addresses that bounced, complained or unsubscribed');

  ofAccount(suppression.command('list').description('what is suppressed, and why'))
    .option('--search <text>', 'only addresses with this in them')
    .option('--after <address>', 'go on after this address')
    .option('--limit <n>', 'how many', wholeNumber('--limit', 1), 200)
    .action((options: ListOptions) =>
      withDatabase(async (database) => {
        const { account, json, ...page } = options;
        await getAccount(database, account);
        const found = await listSuppressions(database, account, page);
        print(json, found, () =>
          table(
            ['ADDRESS', 'REASON', 'MESSAGE', 'SINCE'],
            found.map((it) => [it.address, it.reason, it.messageId ?? '', it.createdAt]),
          ),
        );
      }),
    );

  ofAccount(suppression.command('add <address>').description('do not write there')).action(
    (address: string, options: SuppressionOptions) =>
      withDatabase(async (database) => {
        await getAccount(database, options.account);
        const added = await addSuppression(database, options.account, address);
        print(options.json, added, () => [
          `${added.address} is suppressed for account ${options.account} (${added.reason}).`,
        ]);
      }),
  );

  ofAccount(suppression.command('remove <address>').description('write there again')).action(
    (address: string, options: SuppressionOptions) =>
      withDatabase(async (database) => {
        const removed = await removeSuppression(database, options.account, address);
        print(options.json, removed, () => [
          `${removed.address} is no longer suppressed for account ${options.account}.`,
        ]);
      }),
  );
}

const ofAccount = (command: Command): Command =>
  withJson(command).requiredOption('--account <id>', 'the account', accountNumber);
