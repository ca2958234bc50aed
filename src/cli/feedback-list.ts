// sandmartin feedback list, show: email to the feedback listener that made no event, kept for 7
// days.
import type { Command } from 'commander';
import { getKept, listKept } from '../feedback/kept.ts';
import { print, table, wholeNumber, withDatabase, withJson } from './command.ts';

interface ListOptions {
  limit: number;
  forPeople?: boolean;
  json?: boolean;
}

export function registerFeedbackList(feedback: Command): void {
  withJson(
    feedback
      .command('list')
      .description(
        'auto-replies, complaints that prove nothing and other email that led to no event',
      ),
  )
    .option('--limit <n>', 'how many, newest first', wholeNumber('--limit', 1), 50)
    .option('--for-people', 'only what was written to postmaster@ and abuse@')
    .action((options: ListOptions) =>
      withDatabase(async (database) => {
        const { limit, forPeople = false } = options;
        const emails = await listKept(database, { limit, forPeople });
        print(options.json, emails, () =>
          table(
            ['ID', 'KIND', 'WHY', 'FROM', 'SUBJECT', 'MESSAGE', 'RECEIVED'],
            emails.map((it) => [
              it.id,
              it.feedbackType ? `${it.kind} ${it.feedbackType}` : it.kind,
              it.why,
              it.from.slice(0, 40) || '<>',
              it.subject.slice(0, 50),
              it.messageId ?? '',
              it.receivedAt,
            ]),
          ),
        );
      }),
    );

  withJson(feedback.command('show <id>').description('one of them, as received')).action(
    (id: string, options: ListOptions) =>
      withDatabase(async (database) => {
        const { email, raw } = await getKept(database, id);
        print(options.json, { ...email, raw: raw.toString('utf8') }, () => [raw.toString('utf8')]);
      }),
  );
}
