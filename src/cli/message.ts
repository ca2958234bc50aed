// sandmartin message: what was sent, and what happened to it.
import type { Command } from 'commander';
import type { DeliveryAttempt, MessageDetails, MessageSummary } from '../client/operations.ts';
import { RESOLUTIONS, type Resolution } from '../delivery/resolve.ts';
import { Problem } from '../errors.ts';
import { readUuid } from '../ids.ts';
import { findAccountOfMessage, listMessages } from '../messages/message.ts';
import { showSummary } from '../operations/messages.ts';
import { accountNumber, print, table, wholeNumber, withJson } from './command.ts';
import { type Here, operating } from './operations.ts';

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
    .action(({ account, limit, json }: MessageOptions) =>
      operating(async (here) => {
        const messages = await newest(here, account, limit);
        print(json, messages, () =>
          table(
            ['ID', 'STATUS', 'TO', 'SUBJECT', 'ACCEPTED'],
            messages.map(({ id, status, recipients: [first = '', ...others], ...it }) => [
              id,
              status,
              others.length > 0 ? `${first} +${others.length}` : first,
              it.subject.slice(0, 50),
              it.created_at,
            ]),
          ),
        );
      }),
    );

  withJson(message.command('show <id>').description('one message with its timeline')).action(
    (id: string, { json }: MessageOptions) =>
      operating(async (here) => {
        const { messages } = await here.as(await accountOf(here, id));
        const details = await messages.details({ sm_mail_id: id });
        const { data: attempts } = await messages.listAttempts({ sm_mail_id: id });
        print(json, { ...details, attempts }, () => [
          `${id}  ${details.status}`,
          `From     ${details.from_email}`,
          `To       ${details.recipients.join(', ')}`,
          `Subject  ${details.subject}`,
          `Through  ${details.door}`,
          ...(details.relays.length === 0 ? [] : [`Relay    ${details.relays.join(', ')}`]),
          ...(details.template === null ? [] : [`Template ${templateOf(details)}`]),
          ...(details.scheduled_at === null ? [] : [`Goes out ${details.scheduled_at}`]),
          ...(details.cancelled_at === null ? [] : [`Cancelled ${details.cancelled_at}`]),
          ...(details.delay === null ? [] : [`Delayed  ${JSON.stringify(details.delay)}`]),
          '',
          `${details.created_at.replace('Z', '   ')}  queued`,
          ...[...details.events.map(eventLine), ...attempts.flatMap(attemptLines)].sort(),
          ...(details.pending === null ? [] : [describePending(details.pending)]),
        ]);
      }),
  );

  withJson(
    message
      .command('cancel <id>')
      .description('cancel an email before any of it is handed over; nobody receives it'),
  ).action((id: string, { json }: MessageOptions) =>
    operating(async (here) => {
      const { messages } = await here.as(await accountOf(here, id));
      const cancelled = await messages.cancel({ sm_mail_id: id });
      print(json, cancelled, () => [`Cancelled at ${cancelled.cancelled_at}.`]);
    }),
  );

  withJson(
    message
      .command('reschedule <id> <time>')
      .description(
        'change when an email goes out: a time such as 2026-11-20T09:00:00+01:00, or now',
      ),
  ).action((id: string, time: string, { json }: MessageOptions) =>
    operating(async (here) => {
      const { messages } = await here.as(await accountOf(here, id));
      const moved = await messages.reschedule({ sm_mail_id: id, scheduled_at: time });
      print(json, moved, () => [`It goes out at ${moved.scheduled_at}.`]);
    }),
  );

  withJson(
    message
      .command('resolve <id>')
      .description('decide what happened to an email whose outcome is unknown'),
  )
    .requiredOption('--as <outcome>', 'sent (count it as sent) or again (send it again)', readAs)
    .action((id: string, { as, json }: { as: Resolution; json?: boolean }) =>
      operating(async (here) => {
        const { messages } = await here.as(await accountOf(here, id));
        const { recipients } = await messages.resolve({ sm_mail_id: id, as });
        print(json, { id, recipients, as }, () => [
          as === 'sent'
            ? `Counts as sent: ${recipients.join(', ')}.`
            : `Due again, with the same Message-ID: ${recipients.join(', ')}.`,
        ]);
      }),
    );
}

/** Those of one account come from the operation; only the machine's operator sees those of all. */
async function newest(
  { database, as }: Here,
  account: number | undefined,
  limit: number,
): Promise<(MessageSummary & { account_id?: number })[]> {
  if (account === undefined) {
    const messages = await listMessages(database, { limit });
    return messages.map((message) => ({
      account_id: message.accountId,
      ...showSummary(message),
    }));
  }
  const found: MessageSummary[] = [];
  const pages = (await as(account)).messages.list({ limit: Math.min(limit, 100) });
  for await (const message of pages) {
    found.push(message);
    if (found.length === limit) break;
  }
  return found;
}

/** Operators have the id, but perhaps not the account. */
async function accountOf({ database }: Here, id: string): Promise<number> {
  const uuid = readUuid('msg_', id);
  const account = uuid && (await findAccountOfMessage(database, uuid));
  if (account) return account;
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

const eventLine = ({ type, timestamp, ...rest }: MessageDetails['events'][number]): string =>
  `${timestamp}  ${type}  ${JSON.stringify(rest)}`;

/** With the same timestamp format as events, so that they sort together. */
function attemptLines({ at, attempt, server, recipients }: DeliveryAttempt): string[] {
  const stamp = `${at.replace('Z', '')}000`;
  const what = attempt === null ? 'reported late by' : `attempt ${attempt} at`;
  return recipients.map(
    ({ recipient, result, reply }) =>
      `${stamp}  ${result === 'unknown' ? 'unknown outcome' : 'deferred'}  ${recipient}, ${what} ${server}: ${reply}`,
  );
}

function describePending(pending: NonNullable<MessageDetails['pending']>): string {
  const { attempts, next_at, remaining, unknown, last_response, set_aside } = pending;
  if (set_aside !== null) {
    return `set aside: ${set_aside} ("npx sandmartin quarantine release" tries it again)`;
  }
  if (unknown.length > 0) {
    return `unknown whether the relay has it for ${unknown.join(', ')}: sent again ${next_at}, unless you run "message resolve --as sent"`;
  }
  const after = attempts === 0 ? '' : ` after ${attempts} tries, the last answer: ${last_response}`;
  return `waiting to be handed over to ${remaining.join(', ')}, due ${next_at}${after}`;
}

function templateOf({ template, template_version, branding_version }: MessageDetails): string {
  const version = template_version === null ? 'from the catalogue' : `version ${template_version}`;
  return `${template}, ${version}, branding version ${branding_version ?? 0}`;
}
