// sandmartin suppression: addresses an account no longer sends to.
import type { Command } from 'commander';
import type { Suppression } from '../client/operations.ts';
import { Problem } from '../errors.ts';
import { CSV_HEAD, csvLine, readCsvField } from '../suppressions/csv.ts';
import { LISTED_REASONS, type ListedReason } from '../suppressions/listing.ts';
import { ofAccount, print, readTextFile, table, wholeNumber } from './command.ts';
import { withOperations } from './operations.ts';

interface SuppressionOptions {
  account: number;
  stream?: string;
  json?: boolean;
}

interface ListOptions extends SuppressionOptions {
  search?: string;
  after?: string;
  limit: number;
}

/** The limit of the operation that adds many. */
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
    .option('--search <text>', 'only addresses that contain this')
    .option('--after <address>', 'continue after this address')
    .option('--stream <name>', 'only those who unsubscribed from this stream')
    .option('--limit <n>', 'how many', wholeNumber('--limit', 1, MOST_AT_ONCE), 200)
    .action(({ account, json, after, ...wanted }: ListOptions) =>
      withOperations(account, async (api) => {
        const { data } = await api.suppressions.list({ ...wanted, cursor: after });
        print(json, data, () =>
          table(
            ['ADDRESS', 'REASON', 'STREAM', 'MESSAGE', 'SINCE'],
            data.map((it) => [
              it.address,
              it.reason,
              it.stream ?? 'all',
              it.message_id ?? '',
              it.created_at,
            ]),
          ),
        );
      }),
    );

  ofAccount(suppression.command('add <address>').description('stop sending to an address'))
    .option('--stream <name>', 'through this stream only, as if it had unsubscribed')
    .action((address: string, { account, json, stream }: SuppressionOptions) =>
      withOperations(account, async (api) => {
        const added = await api.suppressions.put({ address, stream });
        print(json, added, () => [
          `${added.address} is suppressed for ${where(account, added)} (${added.reason}).`,
        ]);
      }),
    );

  ofAccount(suppression.command('remove <address>').description('send to an address again'))
    .option('--stream <name>', 'lift the unsubscribe from this stream only')
    .action((address: string, { account, json, stream }: SuppressionOptions) =>
      withOperations(account, async (api) => {
        const removed = await api.suppressions.remove({ address, stream });
        print(json, removed, () => [
          `${removed.address} is no longer suppressed for ${where(account, removed)}.`,
        ]);
      }),
    );
}

const where = (account: number, { stream }: Suppression): string =>
  stream === null ? `account ${account}` : `the stream ${stream} of account ${account}`;

function registerMany(suppression: Command): void {
  ofAccount(
    suppression
      .command('import <file>')
      .description('add many: one address per line, or an export; - is standard input'),
  )
    .option('--reason <reason>', `${LISTED_REASONS.join(', ')} (manual)`, readReason)
    .option('--stream <name>', 'unsubscribe them from this stream only')
    .action((file: string, options: SuppressionOptions & { reason?: ListedReason }) =>
      withOperations(options.account, async (api) => {
        const { reason, stream } = options;
        const groups = groupsIn(readTextFile('<file>', file), { reason, stream });
        const sum = { added: 0, present: 0 };
        for (const { addresses, ...why } of groups) {
          for (let from = 0; from < addresses.length; from += MOST_AT_ONCE) {
            const { added, present } = await api.suppressions.add({
              addresses: addresses.slice(from, from + MOST_AT_ONCE),
              ...why,
            });
            sum.added += added;
            sum.present += present;
          }
        }
        print(options.json, sum, () => [
          `${sum.added} were added; ${sum.present} were already there.`,
        ]);
      }),
    );

  ofAccount(suppression.command('export').description('all of them, as CSV')).action(
    ({ account, json }: SuppressionOptions) =>
      withOperations(account, async (api) => {
        if (!json) process.stdout.write(`${CSV_HEAD}\n`);
        for await (const row of api.suppressions.list({ limit: MOST_AT_ONCE })) {
          print(json, row, () => [csvLine(row)]);
        }
      }),
  );
}

interface Why {
  reason?: ListedReason | undefined;
  stream?: string | undefined;
}

/**
 * One address per line, or our own export: its columns `reason` and `stream` apply to each line,
 * unless the command gives them. Lines with the same values are added together.
 */
function groupsIn(text: string, said: Why): (Why & { addresses: string[] })[] {
  const lines = text.split(/\r\n?|\n/).map((line) => line.split(',').map(readCsvField));
  const [head] = lines;
  const named = head !== undefined && head[0] !== '' && !head[0]!.includes('@');
  const column = (name: string): number => (named ? head.indexOf(name) : -1);
  const [reasonAt, streamAt] = [column('reason'), column('stream')];
  const isSaid = said.reason !== undefined || said.stream !== undefined;
  const groups = new Map<string, Why & { addresses: string[] }>();
  for (const fields of named ? lines.slice(1) : lines) {
    if (fields[0] === '') continue;
    const reason = fields[reasonAt] ? readReason(fields[reasonAt]) : undefined;
    const why = isSaid ? said : { reason, stream: fields[streamAt] || undefined };
    const key = `${why.reason} ${why.stream}`;
    const group = groups.get(key) ?? { ...why, addresses: [] };
    group.addresses.push(fields[0]!);
    groups.set(key, group);
  }
  return [...groups.values()];
}

function readReason(text: string): ListedReason {
  const reason = LISTED_REASONS.find((it) => it === text);
  if (reason !== undefined) return reason;
  throw new Problem(
    'invalid',
    `A reason must be one of ${LISTED_REASONS.join(', ')}, not "${text.slice(0, 64)}".`,
  );
}
