// sandmartin message: what was sent, and what became of it.
import type { Command } from 'commander';
import { Problem } from '../errors.ts';
import { readTimeline } from '../events/timeline.ts';
import { readUuid } from '../ids.ts';
import { findMessage, listMessages, type MessageDetail } from '../messages/message.ts';
import { findWaiting, type Waiting } from '../queue/due.ts';
import { accountNumber, print, table, wholeNumber, withDatabase, withJson } from './command.ts';

interface MessageOptions {
  account?: number;
  limit: number;
  json?: boolean;
}

export function registerMessage(program: Command): void {
  const message = program.command('message').description('messages and their timelines');

  withJson(message.command('list').description('newest first'))
    .option('--account <id>', 'of one account only', accountNumber)
    .option('--limit <n>', 'how many', wholeNumber('--limit', 1), 50)
    .action((options: MessageOptions) =>
      withDatabase(async (database) => {
        const messages = await listMessages(database, {
          limit: options.limit,
          ...(options.account === undefined ? {} : { accountId: options.account }),
        });
        print(options.json, messages, () =>
          table(
            ['ID', 'ACCOUNT', 'STATUS', 'TO', 'SUBJECT', 'ACCEPTED'],
            messages.map((it) => [
              it.id,
              String(it.accountId),
              it.status,
              it.recipients.length > 1
                ? `${it.recipients[0]} +${it.recipients.length - 1}`
                : (it.recipients[0] ?? ''),
              it.subject.slice(0, 50),
              it.createdAt,
            ]),
          ),
        );
      }),
    );

  withJson(message.command('show <id>').description('one message with its timeline')).action(
    (id: string, options: MessageOptions) =>
      withDatabase(async (database) => {
        const uuid = readUuid('msg_', id);
        const found = uuid === undefined ? undefined : await findMessage(database, uuid);
        if (uuid === undefined || found === undefined) {
          throw new Problem(
            'not-found',
            `There is no message ${id}. "npx sandmartin message list" shows the newest.`,
          );
        }
        const events = (await readTimeline(database, found.accountId, uuid))?.events ?? [];
        const waiting = (await findWaiting(database, found.accountId, uuid)) ?? null;
        print(options.json, { ...found, events, waiting }, () => [
          `${found.id}  ${found.status}`,
          `From     ${found.from}`,
          `To       ${found.recipients.join(', ')}`,
          `Subject  ${found.subject}`,
          `Account  ${found.accountId}, through ${found.door}`,
          ...(found.template === null ? [] : [`Template ${templateOf(found)}`]),
          ...(found.delay === null ? [] : [`Delayed  ${delayOf(found.delay)}`]),
          '',
          `${found.createdAt.replace('Z', '   ')}  queued`,
          ...events.map(
            ({ type, timestamp, ...rest }) => `${timestamp}  ${type}  ${JSON.stringify(rest)}`,
          ),
          ...(waiting === null ? [] : [describeWaiting(waiting)]),
        ]);
      }),
  );
}

function describeWaiting({ attempts, dueAt, remaining, lastResponse }: Waiting): string {
  const whom = remaining === null ? '' : ` to ${remaining.join(', ')}`;
  const after = attempts === 0 ? '' : ` after ${attempts} tries, the last answer: ${lastResponse}`;
  return `waiting to be handed over${whom}, due ${dueAt}${after}`;
}

function templateOf({ template, templateVersion, brandingVersion }: MessageDetail): string {
  const version = templateVersion === null ? 'of the catalogue' : `version ${templateVersion}`;
  return `${template}, ${version}, branding version ${brandingVersion ?? 0}`;
}

function delayOf({ at, recipients, smtp_response }: NonNullable<MessageDetail['delay']>): string {
  return `${recipients.join(', ')}: ${smtp_response || 'no reason given'} (reported ${at})`;
}
