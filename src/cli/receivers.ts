// sandmartin receivers: what happened to an account's email at Gmail, Outlook, Yahoo and the
// others.
import type { Command } from 'commander';
import { ofAccount, print, table, wholeNumber } from './command.ts';
import { withOperations } from './operations.ts';

interface ReceiversOptions {
  account: number;
  days: number;
  json?: boolean;
}

export function registerReceivers(program: Command): void {
  ofAccount(
    program.command('receivers').description('delivered, deferred and bounced by mailbox provider'),
  )
    .option('--days <n>', 'how many days, up to 90', wholeNumber('--days', 1, 90), 7)
    .action(({ account, days, json }: ReceiversOptions) =>
      withOperations(account, async (api) => {
        const read = await api.usage.receivers({ days });
        const refusals = read.receivers.flatMap(({ receiver, refusals }) =>
          refusals.map(({ words, count }) => [receiver, String(count), words]),
        );
        print(json, read, () => [
          ...table(
            ['RECEIVER', 'DELIVERED', 'DEFERRED', 'BOUNCED', 'COMPLAINED', 'COMPLAINT RATE'],
            read.receivers.map((it) => [
              it.receiver,
              ...[it.delivered, it.deferred, it.bounced, it.complained].map(String),
              it.complaint_rate === null ? '' : `${(it.complaint_rate * 100).toFixed(2)} %`,
            ]),
          ),
          ...(refusals.length === 0 ? [] : ['', ...table(['RECEIVER', 'TIMES', 'SAID'], refusals)]),
          ...(read.complete ? [] : ['', 'Still counting; try again in a few seconds.']),
        ]);
      }),
    );
}
