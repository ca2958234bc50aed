// sandmartin stream: the kinds of email an account sends, each of which its recipients can leave.
import type { Command } from 'commander';
import type { Stream } from '../client/operations.ts';
import { Problem } from '../errors.ts';
import { STREAM_KINDS, type StreamKind } from '../messages/stream.ts';
import { ofAccount, onOrOff, print, table } from './command.ts';
import { withOperations } from './operations.ts';

interface StreamOptions {
  account: number;
  json?: boolean;
}

interface PutOptions extends StreamOptions {
  kind?: StreamKind;
  title?: string;
  description?: string;
  unsubscribe?: boolean;
}

export function registerStream(program: Command): void {
  const stream = program
    .command('stream')
    .description('kinds of email that recipients can leave one by one');

  ofAccount(stream.command('list').description('all, archived ones too')).action(
    ({ account, json }: StreamOptions) =>
      withOperations(account, async (api) => {
        const { data } = await api.streams.list();
        print(json, data, () =>
          table(
            ['NAME', 'KIND', 'UNSUBSCRIBE', 'TITLE', 'STATE'],
            data.map((it) => [
              it.name,
              it.kind,
              it.unsubscribe ? 'yes' : 'no',
              it.title,
              it.archived_at === null ? 'in use' : 'archived',
            ]),
          ),
        );
      }),
  );

  ofAccount(stream.command('put <name>').description('create one, or change the fields you give'))
    .option('--kind <kind>', STREAM_KINDS.join(' or '), readKind)
    .option('--title <title>', 'its name for recipients')
    .option('--description <text>', 'what its recipients get')
    .option('--unsubscribe <on|off>', 'whether recipients can leave it', onOrOff('--unsubscribe'))
    .action((name: string, { account, json, ...change }: PutOptions) =>
      withOperations(account, async (api) => {
        const put = await api.streams.put({ name, ...change });
        print(json, put, () => [described(put)]);
      }),
    );

  ofAccount(
    stream.command('remove <name>').description('archive it: sends that name it are refused'),
  ).action((name: string, { account, json }: StreamOptions) =>
    withOperations(account, async (api) => {
      const removed = await api.streams.remove({ name });
      print(json, removed, () => [
        `${name} is archived. Recipients who left it stay unsubscribed.`,
      ]);
    }),
  );
}

const described = ({ name, kind, title, unsubscribe }: Stream): string =>
  `${name} is a ${kind} stream, "${title}". Recipients ${unsubscribe ? 'can' : 'cannot'} leave it.`;

function readKind(text: string): StreamKind {
  const kind = STREAM_KINDS.find((it) => it === text);
  if (kind !== undefined) return kind;
  throw new Problem('invalid', `--kind must be ${STREAM_KINDS.join(' or ')}, not "${text}".`);
}
