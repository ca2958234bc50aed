// sandmartin key: API keys, shown once.
import type { Command } from 'commander';
import type { AgentLimits } from '../accounts/agent-limits.ts';
import { type ApiKey, createKey, listKeys, revokeKey } from '../accounts/keys.ts';
import { ALL_SCOPES, type Scope } from '../accounts/scopes.ts';
import { systemClock } from '../clock.ts';
import { Problem } from '../errors.ts';
import {
  accountNumber,
  collect,
  print,
  table,
  wholeNumber,
  withDatabase,
  withJson,
} from './command.ts';

interface KeyOptions {
  account?: number;
  scope?: string[];
  name?: string;
  json?: boolean;
}

interface LimitOptions {
  allowRecipient?: string[];
  templatesOnly?: boolean;
  /** False when --no-bcc was given. */
  bcc: boolean;
  dailyCap?: number;
  sandboxOnly?: boolean;
}

interface BoundOptions {
  expires?: Date;
  networks?: string[];
}

export function registerKey(program: Command): void {
  const key = program.command('key').description('API keys');

  withJson(key.command('create').description('make a key; it is shown this once'))
    .requiredOption('--account <id>', 'the account it belongs to', accountNumber)
    .option('--scope <scope>', `${ALL_SCOPES.join(', ')}; repeat for several`, collect)
    .option('--name <name>', 'to recognise it in lists')
    .option('--allow-recipient <who>', 'may only write to this address or domain; repeat', collect)
    .option('--templates-only', 'may only send templates, with no words of its own')
    .option('--no-bcc', 'may not send hidden copies')
    .option('--daily-cap <n>', 'recipients it may write to a day', wholeNumber('--daily-cap', 1))
    .option('--sandbox-only', 'its mail goes to the sandbox and never leaves')
    .option('--expires <when>', 'it ends then: 90d, 12h or a time such as 2030-01-31', readExpiry)
    .option('--networks <list>', 'may only be used from these, comma-separated', readList)
    .action((options: KeyOptions & LimitOptions & BoundOptions & { account: number }) =>
      withDatabase(async (database) => {
        const made = await createKey(database, systemClock, {
          accountId: options.account,
          scopes: (options.scope ?? []).map(readScope),
          limits: wishedLimits(options),
          bounds: { expiresAt: options.expires ?? null, networks: options.networks ?? null },
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
            ['ID', 'ACCOUNT', 'NAME', 'KEY', 'SCOPES', 'LIMITS', 'EXPIRES', 'LAST USED', 'STATE'],
            keys.map((it) => [
              it.id,
              String(it.accountId),
              it.name ?? '',
              `${it.prefix}…`,
              it.scopes.join(' '),
              [showLimits(it.limits), it.networks && `from ${it.networks.join(' ')}`]
                .filter(Boolean)
                .join(', '),
              it.expiresAt ?? 'never',
              it.lastUsedAt ?? 'never',
              stateOf(it),
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

function stateOf({ revokedAt, expiresAt }: ApiKey): string {
  if (revokedAt !== null) return 'revoked';
  return expiresAt !== null && Date.parse(expiresAt) <= systemClock.nowMs() ? 'expired' : 'active';
}

const HOURS: Record<string, number> = { h: 1, d: 24, w: 7 * 24, y: 365 * 24 };

function readExpiry(text: string): Date {
  const [, count, unit] = /^(\d{1,5})([hdwy])$/.exec(text) ?? [];
  const at =
    unit === undefined
      ? new Date(text)
      : new Date(systemClock.nowMs() + Number(count) * HOURS[unit]! * 3_600_000);
  if (!Number.isNaN(at.getTime())) return at;
  throw new Problem(
    'invalid',
    `--expires must be a span such as 90d, 12h or 1y, or a time such as 2030-01-31, not "${text}".`,
  );
}

const readList = (text: string): string[] => text.split(',').map((item) => item.trim());

function wishedLimits(options: LimitOptions): Partial<AgentLimits> {
  return {
    allowedRecipients: options.allowRecipient ?? null,
    templatesOnly: options.templatesOnly ?? false,
    noBcc: !options.bcc,
    dailyCap: options.dailyCap ?? null,
    sandboxOnly: options.sandboxOnly ?? false,
  };
}

function showLimits(limits: AgentLimits | null): string {
  if (limits === null) return '';
  const parts = [
    limits.allowedRecipients && `to ${limits.allowedRecipients.join(' ')}`,
    limits.templatesOnly && 'templates only',
    limits.noBcc && 'no bcc',
    limits.dailyCap !== null && `${limits.dailyCap} a day`,
    limits.sandboxOnly && 'sandbox only',
  ];
  return parts.filter(Boolean).join(', ');
}

function readScope(text: string): Scope {
  const scope = ALL_SCOPES.find((known) => known === text);
  if (scope === undefined) {
    throw new Problem('invalid', `--scope must be one of ${ALL_SCOPES.join(', ')}, not "${text}".`);
  }
  return scope;
}
