// sandmartin suppression: addresses an account does not write to any more.
import type { Command } from 'commander';
import type { Suppression } from '../client/operations.ts';
import { Problem } from '../errors.ts';
import { SUPPRESSION_REASONS, type SuppressionReason } from '../suppressions/suppressions.ts';
import { ofAccount, print, readTextFile, table, wholeNumber } from './command.ts';
import { withOperations } from './operations.ts';

interface SuppressionOptions {
  account: number;
  json?: boolean;
}

interface ListOptions extends SuppressionOptions {
  search?: string;
  after?: string;
  limit: number;
}

/** Of the operation that adds many. */
const MOST_AT_ONCE = 1000;

export function registerSuppression(program: Command): void {
  const suppression = program
    .command('suppression')
    .description('addresses that bounced, complained or unsubscribed');
  registerOne(suppression);
  registerMany(suppression);
}

function registerOne(suppression: Command): void {
  ofAccount(suppression.command('list').description('what is suppressed, and why'))
    .option('--search <text>', 'only addresses with this in them')
    .option('--after <address>', 'go on after this address')
    .option('--limit <n>', 'how many', wholeNumber('--limit', 1, MOST_AT_ONCE), 200)
    .action(({ account, json, after, search, limit }: ListOptions) =>
      withOperations(account, async (api) => {
        const { data } = await api.suppressions.list({ search, limit, cursor: after });
        print(json, data, () =>
          table(
            ['ADDRESS', 'REASON', 'MESSAGE', 'SINCE'],
            data.map((it) => [it.address, it.reason, it.message_id ?? '', it.created_at]),
          ),
        );
      }),
    );

  ofAccount(suppression.command('add <address>').description('do not write there')).action(
    (address: string, { account, json }: SuppressionOptions) =>
      withOperations(account, async (api) => {
        const added = await api.suppressions.put({ address });
        print(json, added, () => [
          `${added.address} is suppressed for account ${account} (${added.reason}).`,
        ]);
      }),
  );

  ofAccount(suppression.command('remove <address>').description('write there again')).action(
    (address: string, { account, json }: SuppressionOptions) =>
      withOperations(account, async (api) => {
        const removed = await api.suppressions.remove({ address });
        print(json, removed, () => [
          `${removed.address} is no longer suppressed for account ${account}.`,
        ]);
      }),
  );
}

function registerMany(suppression: Command): void {
  ofAccount(
    suppression
      .command('import <file>')
      .description('add many, one address a line or as exported; - is standard input'),
  )
    .option('--reason <reason>', SUPPRESSION_REASONS.join(', '), readReason, 'manual')
    .action((file: string, options: SuppressionOptions & { reason: SuppressionReason }) =>
      withOperations(options.account, async (api) => {
        const addresses = addressesIn(readTextFile('<file>', file));
        const sum = { added: 0, present: 0 };
        for (let from = 0; from < addresses.length; from += MOST_AT_ONCE) {
          const { added, present } = await api.suppressions.add({
            addresses: addresses.slice(from, from + MOST_AT_ONCE),
            reason: options.reason,
          });
          sum.added += added;
          sum.present += present;
        }
        print(options.json, sum, () => [
          `${sum.added} were added; ${sum.present} were there already.`,
        ]);
      }),
    );

  ofAccount(suppression.command('export').description('all of them, as CSV')).action(
    ({ account, json }: SuppressionOptions) =>
      withOperations(account, async (api) => {
        if (!json) process.stdout.write('address,reason,message_id,created_at\n');
        for await (const row of api.suppressions.list({ limit: MOST_AT_ONCE })) {
          print(json, row, () => [csvLine(row)]);
        }
      }),
  );
}

/** No field can hold a comma or a quote: addresses with quoted local parts are refused. */
const csvLine = ({ address, reason, message_id, created_at }: Suppression): string =>
  [address, reason, message_id ?? '', created_at].join(',');

/** What stands before the first comma of a line; the head line of an export is no address. */
const addressesIn = (text: string): string[] =>
  text
    .split(/\r?\n/)
    .map((line) => line.split(',')[0]!.trim())
    .filter((address, index) => address !== '' && !(index === 0 && !address.includes('@')));

function readReason(text: string): SuppressionReason {
  const reason = SUPPRESSION_REASONS.find((it) => it === text);
  if (reason !== undefined) return reason;
  throw new Problem(
    'invalid',
    `--reason must be ${SUPPRESSION_REASONS.join(', ')}, not "${text}".`,
  );
}
