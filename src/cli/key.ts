// sandmartin key: API keys, shown once.
import type { Command } from 'commander';
import { APPROVAL_RULES, type ApprovalRule } from '../accounts/agent-limits.ts';
import { accountOfKeyId, listKeys } from '../accounts/keys.ts';
import { ALL_SCOPES, TEST_SCOPES } from '../accounts/scopes.ts';
import type { ApiKey } from '../client/operations.ts';
import { Problem } from '../errors.ts';
import { systemClock } from '../process/clock.ts';
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
  approval?: ApprovalRule;
  allMessages?: boolean;
  sender?: string[];
  replyTo?: string[];
  linkHost?: string[];
  test?: boolean;
}

interface BoundOptions {
  expires?: Date;
  networks?: string[];
}

export function registerKey(program: Command): void {
  const key = program.command('key').description('API keys');

  withJson(key.command('create').description('create a key; it is shown only once'))
    .requiredOption('--account <id>', 'the account it belongs to', accountNumber)
    .option('--scope <scope>', `${ALL_SCOPES.join(', ')}; repeat for several`, collect)
    .option('--name <name>', 'a name to recognise it by')
    .option('--allow-recipient <who>', 'may only send to this address or domain; repeat', collect)
    .option('--templates-only', 'may only send templates, without its own content')
    .option('--no-bcc', 'may not send hidden copies')
    .option('--daily-cap <n>', 'recipients it may send to per day', wholeNumber('--daily-cap', 1))
    .option('--sandbox-only', 'its email goes to the sandbox and is never delivered')
    .option(
      '--approval <when>',
      `a person must approve: ${APPROVAL_RULES.join(', ')}`,
      readApproval,
    )
    .option('--all-messages', 'with rules: may also read what other keys sent')
    .option('--sender <mailbox>', 'may only send from this mailbox; repeat', collect)
    .option('--reply-to <who>', 'replies may also go to this address or domain; repeat', collect)
    .option('--link-host <host>', 'may only link to this host and its subdomains; repeat', collect)
    .option('--test', `for tests: sandbox only; scopes by default ${TEST_SCOPES.join(', ')}`)
    .option(
      '--expires <when>',
      'when it expires: 90d, 12h or a time such as 2030-01-31',
      readExpiry,
    )
    .option('--networks <list>', 'may only be used from these, comma-separated', readList)
    .action((options: KeyOptions & LimitOptions & BoundOptions & { account: number }) =>
      withOperations(options.account, async (api) => {
        const { secret: key, ...made } = await api.keys.create({
          scopes: (options.scope ?? (options.test ? TEST_SCOPES : [])).map(readScope),
          rules: wishedRules(options),
          expires_at: options.expires?.toISOString(),
          networks: options.networks,
          name: options.name,
        });
        print(options.json, { ...made, key }, () => [
          key,
          `This is ${made.id}. Save it now: it is not shown again.`,
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

  withJson(
    key.command('revoke <id>').description('revoke a key permanently, within a second'),
  ).action((id: string, options: KeyOptions) =>
    operating(async (here) => {
      const api = await here.as(await accountOfKeyId(here.database, id));
      const revoked = await api.keys.revoke({ id });
      print(options.json, revoked, () => [`${id} is revoked.`]);
    }),
  );
}

/** Those of one account or, for the operator, of all; oldest first. */
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
  sandbox_only: options.sandboxOnly ?? options.test ?? false,
  approval: options.approval ?? ('never' as const),
  ...(options.allMessages ? { own_messages: false } : {}),
  senders: options.sender ?? null,
  reply_to: options.replyTo ?? null,
  link_hosts: options.linkHost ?? null,
});

function readApproval(text: string): ApprovalRule {
  const rule = APPROVAL_RULES.find((known) => known === text);
  if (rule !== undefined) return rule;
  const detail = `--approval must be one of ${APPROVAL_RULES.join(', ')}, not "${text}".`;
  throw new Problem('invalid', detail);
}

function showRules(rules: ApiKey['rules']): string {
  if (rules === null) return '';
  const parts = [
    rules.allowed_recipients && `to ${rules.allowed_recipients.join(' ')}`,
    rules.templates_only && 'templates only',
    rules.no_bcc && 'no bcc',
    rules.daily_cap !== null && `${rules.daily_cap} a day`,
    rules.sandbox_only && 'sandbox only',
    rules.approval !== 'never' && `approval ${rules.approval}`,
    rules.own_messages && 'own messages',
    rules.senders && `from ${rules.senders.join(' ')}`,
    rules.reply_to && `replies to ${rules.reply_to.join(' ')}`,
    rules.link_hosts && `links to ${rules.link_hosts.join(' ')}`,
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
