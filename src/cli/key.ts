// sandmartin key: API keys, shown once.
import type { Command } from 'commander';
import { accountOfKeyId, listKeys } from '../accounts/keys.ts';
import { ALL_SCOPES } from '../accounts/scopes.ts';
import type { ApiKey } from '../client/operations.ts';
import { systemClock } from '../clock.ts';
import { Problem } from '../errors.ts';
import { accountNumber, collect, print, table, wholeNumber, withJson } from './command.ts';
import { type Here, operating, withOperations } from './operations.ts';

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
      withOperations(options.account, async (api) => {
        const { secret: key, ...made } = await api.keys.create({
          scopes: (options.scope ?? []).map(readScope),
          rules: wishedRules(options),
          expires_at: options.expires?.toISOString(),
          networks: options.networks,
          name: options.name,
        });
        print(options.json, { ...made, key }, () => [
          key,
          `This is ${made.id}. Keep it now: it is not shown again.`,
        ]);
      }),
    );

  withJson(key.command('list').description('keys, without their secret part'))
    .option('--account <id>', 'of one account only', accountNumber)
    .action((options: KeyOptions) =>
      operating(async (here) => {
        const keys = await keysOf(here, options.account);
        print(options.json, keys, () =>
          table(
            ['ID', 'ACCOUNT', 'NAME', 'KEY', 'SCOPES', 'LIMITS', 'EXPIRES', 'LAST USED', 'STATE'],
            keys.map((it) => [
              it.id,
              String(it.account),
              it.name ?? '',
              `${it.prefix}…`,
              it.scopes.join(' '),
              [showRules(it.rules), it.networks && `from ${it.networks.join(' ')}`]
                .filter(Boolean)
                .join(', '),
              it.expires_at ?? 'never',
              it.last_used_at ?? 'never',
              stateOf(it),
            ]),
          ),
        );
      }),
    );

  withJson(key.command('revoke <id>').description('end a key for good, within a second')).action(
    (id: string, options: KeyOptions) =>
      operating(async (here) => {
        const api = await here.as(await accountOfKeyId(here.database, id));
        const revoked = await api.keys.revoke({ id });
        print(options.json, revoked, () => [`${id} is revoked.`]);
      }),
  );
}

/** Of one account or, for the operator, of all; oldest first. */
async function keysOf(
  here: Here,
  account: number | undefined,
): Promise<(ApiKey & { account: number })[]> {
  const all = account === undefined ? await listKeys(here.database) : [];
  const accounts = account === undefined ? new Set(all.map((it) => it.accountId)) : [account];
  const found = [];
  for (const account of accounts) {
    const keys = [];
    const api = await here.as(account);
    for await (const key of api.keys.list({ limit: 100 })) keys.push({ account, ...key });
    found.push(...keys.reverse());
  }
  return found;
}

function stateOf({ revoked_at, expires_at }: ApiKey): string {
  if (revoked_at !== null) return 'revoked';
  const ended = expires_at !== null && Date.parse(expires_at) <= systemClock.nowMs();
  return ended ? 'expired' : 'active';
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

const wishedRules = (options: LimitOptions) => ({
  allowed_recipients: options.allowRecipient ?? null,
  templates_only: options.templatesOnly ?? false,
  no_bcc: !options.bcc,
  daily_cap: options.dailyCap ?? null,
  sandbox_only: options.sandboxOnly ?? false,
});

function showRules(rules: ApiKey['rules']): string {
  if (rules === null) return '';
  const parts = [
    rules.allowed_recipients && `to ${rules.allowed_recipients.join(' ')}`,
    rules.templates_only && 'templates only',
    rules.no_bcc && 'no bcc',
    rules.daily_cap !== null && `${rules.daily_cap} a day`,
    rules.sandbox_only && 'sandbox only',
  ];
  return parts.filter(Boolean).join(', ');
}

function readScope(text: string): ApiKey['scopes'][number] {
  const scope = ALL_SCOPES.find((known) => known === text);
  if (scope === undefined) {
    throw new Problem('invalid', `--scope must be one of ${ALL_SCOPES.join(', ')}, not "${text}".`);
  }
  return scope;
}
