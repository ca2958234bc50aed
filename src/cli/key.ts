// sandmartin key: API keys, shown once.
import type { Command } from 'commander';
import { createKey, listKeys, revokeKey, SCOPES, type Scope } from '../accounts/keys.ts';
import { systemClock } from '../clock.ts';
import { Problem } from '../errors.ts';
import { accountNumber, collect, print, table, withDatabase, withJson } from './command.ts';

interface KeyOptions {
  account?: number;
  scope?: string[];
  name?: string;
  json?: boolean;
}

export function registerKey(program: Command): void {
  const key = program.command('key').description('API keys');

  withJson(key.command('create').description('make a key; it is shown this once'))
    .requiredOption('--account <id>', 'the account it belongs to', accountNumber)
    .option('--scope <scope>', `${SCOPES.join(' or ')}; repeat for both`, collect)
    .option('--name <name>', 'to recognise it in lists')
    .action((options: KeyOptions & { account: number }) =>
      withDatabase(async (database) => {
        const made = await createKey(database, systemClock, {
          accountId: options.account,
          scopes: (options.scope ?? []).map(readScope),
          ...(options.name === undefined ? {} : { name: options.name }),
        });
        print(options.json, made, () => [
          made.key,
          `This is ${made.id}. Keep it now: it is not shown again.`,
        ]);
      }),
    );

  withJson(key.command('list').description('keys, without their secret part'))
    .option('--account <id>', 'of one account only', accountNumber)
    .action((options: KeyOptions) =>
      withDatabase(async (database) => {
        const keys = await listKeys(database, options.account);
        print(options.json, keys, () =>
          table(
            ['ID', 'ACCOUNT', 'NAME', 'KEY', 'SCOPES', 'LAST USED', 'STATE'],
            keys.map((it) => [
              it.id,
              String(it.accountId),
              it.name ?? '',
              `${it.prefix}…`,
              it.scopes.join(' '),
              it.lastUsedAt ?? 'never',
              it.revokedAt ? 'revoked' : 'active',
            ]),
          ),
        );
      }),
    );

  withJson(key.command('revoke <id>').description('end a key for good, within a second')).action(
    (id: string, options: KeyOptions) =>
      withDatabase(async (database) => {
        await revokeKey(database, id);
        print(options.json, { id, revoked: true }, () => [`${id} is revoked.`]);
      }),
  );
}

function readScope(text: string): Scope {
  const scope = SCOPES.find((known) => known === text);
  if (scope === undefined) {
    throw new Problem('invalid', `--scope must be ${SCOPES.join(' or ')}, not "${text}".`);
  }
  return scope;
}
