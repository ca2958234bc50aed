// sandmartin sandbox: the emails that the sandbox relay captured.
import type { Command } from 'commander';
import { clearCaptured, getCaptured, listCaptured } from '../sandbox/inbox.ts';
import { print, table, wholeNumber, withDatabase, withJson } from './command.ts';

interface SandboxOptions {
  limit: number;
  json?: boolean;
}

export function registerSandbox(program: Command): void {
  const sandbox = program
    .command('sandbox')
    .description('email that the sandbox captured instead of delivering');

  withJson(sandbox.command('list').description('newest first'))
    .option('--limit <n>', 'how many', wholeNumber('--limit', 1), 50)
    .action((options: SandboxOptions) =>
      withDatabase(async (database) => {
        const emails = await listCaptured(database, options.limit);
        print(options.json, emails, () =>
          table(
            ['ID', 'MESSAGE', 'TO', 'BYTES', 'CAPTURED'],
            emails.map((it) => [
              it.id,
              it.messageId ?? '',
              it.recipients.join(', ').slice(0, 60),
              String(it.size),
              it.capturedAt,
            ]),
          ),
        );
      }),
    );

  withJson(
    sandbox
      .command('show <id>')
      .description('the email as it was handed over, by its id or its message id'),
  ).action((id: string, options: SandboxOptions) =>
    withDatabase(async (database) => {
      const { raw, ...email } = await getCaptured(database, id);
      print(options.json, { ...email, raw: raw.toString('utf8') }, () => [raw.toString('utf8')]);
    }),
  );

  withJson(sandbox.command('clear').description('delete all of them')).action(
    (options: SandboxOptions) =>
      withDatabase(async (database) => {
        const cleared = await clearCaptured(database);
        print(options.json, { cleared }, () => [
          `${cleared} ${cleared === 1 ? 'email was' : 'emails were'} deleted.`,
        ]);
      }),
  );
}
