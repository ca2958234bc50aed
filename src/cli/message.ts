// sandmartin message: what was sent, and what became of it.
import type { Command } from 'commander';
import { RESOLUTIONS, type Resolution, resolve } from '../delivery/resolve.ts';
import { Problem } from '../errors.ts';
import { type KeptAttempt, listAttempts } from '../events/attempts.ts';
import { readTimeline, type TimelineEvent } from '../events/timeline.ts';
import { readUuid } from '../ids.ts';
import { findMessage, listMessages, type MessageDetail } from '../messages/message.ts';
import { findWaiting, type Waiting } from '../queue/due.ts';
import type { Database } from '../store/pool.ts';
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
        const { uuid, found } = await find(database, id);
        const events = (await readTimeline(database, found.accountId, uuid))?.events ?? [];
        const waiting = (await findWaiting(database, found.accountId, uuid)) ?? null;
        const attempts = await listAttempts(database, found.accountId, uuid);
        print(options.json, { ...found, events, attempts, waiting }, () => [
          `${found.id}  ${found.status}`,
          `From     ${found.from}`,
          `To       ${found.recipients.join(', ')}`,
          `Subject  ${found.subject}`,
          `Account  ${found.accountId}, through ${found.door}`,
          ...(found.template === null ? [] : [`Template ${templateOf(found)}`]),
          ...(found.delay === null ? [] : [`Delayed  ${delayOf(found.delay)}`]),
          '',
          `${found.createdAt.replace('Z', '   ')}  queued`,
          ...[...events.map(eventLine), ...attempts.flatMap(attemptLines)].sort(),
          ...(waiting === null ? [] : [describeWaiting(waiting)]),
        ]);
      }),
  );

  withJson(
    message
      .command('resolve <id>')
      .description('decide what became of a mail when nobody knows whether the relay has it'),
  )
    .requiredOption('--as <outcome>', 'sent (count it as sent) or again (send it again)', readAs)
    .action((id: string, options: { as: Resolution; json?: boolean }) =>
      withDatabase(async (database) => {
        const { uuid, found } = await find(database, id);
        const recipients = await resolve(database, found, uuid, options.as);
        print(options.json, { id, recipients, as: options.as }, () => [
          options.as === 'sent'
            ? `Counts as sent: ${recipients.join(', ')}.`
            : `Due again, with the same Message-ID: ${recipients.join(', ')}.`,
        ]);
      }),
    );
}

async function find(
  database: Database,
  id: string,
): Promise<{ uuid: string; found: MessageDetail }> {
  const uuid = readUuid('msg_', id);
  const found = uuid === undefined ? undefined : await findMessage(database, uuid);
  if (uuid !== undefined && found !== undefined) return { uuid, found };
  throw new Problem(
    'not-found',
    `There is no message ${id}. "npx sandmartin message list" shows the newest.`,
  );
}

function readAs(text: string): Resolution {
  const found = RESOLUTIONS.find((it) => it === text);
  if (found !== undefined) return found;
  throw new Problem('invalid', `--as must be ${RESOLUTIONS.join(' or ')}, not "${text}".`);
}

const eventLine = ({ type, timestamp, ...rest }: TimelineEvent): string =>
  `${timestamp}  ${type}  ${JSON.stringify(rest)}`;

/** With the same stamp as events, so that they sort among them. */
function attemptLines({ at, attempt, server, recipients }: KeptAttempt & { at: string }): string[] {
  const stamp = `${at.replace('Z', '')}000`;
  const what = attempt === null ? 'reported late by' : `attempt ${attempt} at`;
  return recipients.map(
    ({ recipient, result, reply }) =>
      `${stamp}  ${result === 'unknown' ? 'unknown outcome' : 'deferred'}  ${recipient}, ${what} ${server}: ${reply}`,
  );
}

function describeWaiting(waiting: Waiting): string {
  const { state, attempts, dueAt, remaining, unknown, lastResponse, reason } = waiting;
  if (state === 'set aside') {
    return `set aside: ${reason} ("npx sandmartin quarantine release" tries it again)`;
  }
  if (unknown !== null) {
    return `unknown whether the relay has it for ${unknown.join(', ')}: sent again ${dueAt}, unless you say "message resolve --as sent"`;
  }
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
