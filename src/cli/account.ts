// sandmartin account: who sends, on which plan, with which limits.
import type { Command } from 'commander';
import {
  type Account,
  type AccountChange,
  changeAccount,
  createAccount,
  getAccount,
  listAccounts,
  UNKNOWN_OUTCOMES,
  type UnknownOutcome,
} from '../accounts/accounts.ts';
import { listPauses, pauseAccount } from '../accounts/pause.ts';
import { PLANS, type Plan } from '../accounts/plans.ts';
import { listSuspensions, resumeAccount } from '../accounts/suspension.ts';
import { Problem } from '../errors.ts';
import { accountNumber, print, table, wholeNumber, withDatabase, withJson } from './command.ts';

interface AccountOptions {
  name?: string;
  plan?: Plan;
  dailyQuota?: number;
  rate?: number;
  trackOpens?: boolean;
  trackClicks?: boolean;
  oneClickUnsubscribe?: boolean;
  unknownOutcome?: UnknownOutcome;
  deliveryLimit?: number;
  rampStart?: number;
  json?: boolean;
}

export function registerAccount(program: Command): void {
  const account = program.command('account').description('accounts: who sends, and how much');

  withJson(limits(account.command('create').description('make an account')))
    .requiredOption('--name <name>', 'what people call it', readName)
    .requiredOption('--plan <plan>', 'paid or free', readPlan)
    .action((options: AccountOptions & { name: string; plan: Plan }) =>
      withDatabase(async (database, { rampStart }) => {
        const made = await createAccount(database, {
          ...(rampStart === undefined ? {} : { rampStart }),
          ...changeOf(options),
          name: options.name,
          plan: options.plan,
        });
        print(options.json, made, () => [
          `Account ${made.id} (${made.name}) is made.`,
          `Next: npx sandmartin identity add example.com --account ${made.id} --verified`,
          `      npx sandmartin key create --account ${made.id} --scope email:send --scope email:read`,
        ]);
      }),
    );

  withJson(limits(account.command('set <id>').description('change an account')))
    .option('--name <name>', 'what people call it', readName)
    .option('--plan <plan>', 'paid or free', readPlan)
    .action((id: string, options: AccountOptions) =>
      withDatabase(async (database) => {
        const changed = await changeAccount(database, accountNumber(id), changeOf(options));
        print(options.json, changed, () => describe(changed));
      }),
    );

  withJson(account.command('show <id>').description('one account')).action(
    (id: string, options: AccountOptions) =>
      withDatabase(async (database) => {
        const found = await getAccount(database, accountNumber(id));
        print(options.json, found, () => describe(found));
      }),
  );

  registerPauses(account);

  withJson(account.command('list').description('all accounts')).action((options: AccountOptions) =>
    withDatabase(async (database) => {
      const accounts = await listAccounts(database);
      const suspensions = await listSuspensions(database);
      const pauses = await listPauses(database);
      const stateOf = (id: number) =>
        suspensions.has(id) ? 'suspended' : pauses.has(id) ? 'paused' : 'active';
      print(options.json, accounts, () =>
        table(
          ['ID', 'NAME', 'PLAN', 'DAILY QUOTA', 'RATE/S', 'STATE'],
          accounts.map((it) => [
            String(it.id),
            it.name,
            it.plan,
            String(it.dailyQuota),
            String(it.ratePerSecond),
            stateOf(it.id),
          ]),
        ),
      );
    }),
  );
}

function registerPauses(account: Command): void {
  withJson(account.command('pause <id>').description('refuse its sends; reading goes on'))
    .requiredOption('--reason <text>', "why; the account's people read it")
    .action((id: string, options: AccountOptions & { reason: string }) =>
      withDatabase(async (database) => {
        const number = accountNumber(id);
        await pauseAccount(database, number, options.reason);
        print(options.json, { id: number, paused: options.reason }, () => [
          `Account ${number} is paused. Resume it with: npx sandmartin account resume ${number}`,
        ]);
      }),
    );

  withJson(
    account.command('resume <id>').description('end a pause or a suspension; old figures are void'),
  ).action((id: string, options: AccountOptions) =>
    withDatabase(async (database) => {
      const number = accountNumber(id);
      await resumeAccount(database, number);
      print(options.json, { id: number, resumed: true }, () => [
        `Account ${number} may send again.`,
      ]);
    }),
  );
}

function limits(command: Command): Command {
  return command
    .option('--daily-quota <recipients>', 'recipients a day', wholeNumber('--daily-quota', 0))
    .option('--rate <calls>', 'send calls a second', wholeNumber('--rate', 1, 1_000_000))
    .option(
      '--ramp-start <recipients>',
      'quota of its first day, doubled every day; 0 for none',
      wholeNumber('--ramp-start', 0),
    )
    .option('--track-opens <on|off>', 'a pixel tells of opens', onOrOff('--track-opens'))
    .option('--track-clicks <on|off>', 'links lead through us', onOrOff('--track-clicks'))
    .option(
      '--one-click-unsubscribe <on|off>',
      'List-Unsubscribe in every mail',
      onOrOff('--one-click-unsubscribe'),
    )
    .option(
      '--unknown-outcome <what>',
      'when the line is cut after a mail: send_again or count_as_sent',
      readUnknownOutcome,
    )
    .option(
      '--delivery-limit <mails>',
      'mails handed over at a time, 0 for no limit',
      wholeNumber('--delivery-limit', 0, 100_000),
    );
}

function onOrOff(name: string) {
  return (text: string): boolean => {
    if (text === 'on' || text === 'off') return text === 'on';
    throw new Problem('invalid', `${name} must be on or off, not "${text}".`);
  };
}

function readUnknownOutcome(text: string): UnknownOutcome {
  const found = UNKNOWN_OUTCOMES.find((it) => it === text);
  if (found !== undefined) return found;
  throw new Problem(
    'invalid',
    `--unknown-outcome must be ${UNKNOWN_OUTCOMES.join(' or ')}, not "${text}".`,
  );
}

function changeOf(options: AccountOptions): AccountChange {
  return {
    ...(options.name === undefined ? {} : { name: options.name }),
    ...(options.plan === undefined ? {} : { plan: options.plan }),
    ...(options.dailyQuota === undefined ? {} : { dailyQuota: options.dailyQuota }),
    ...(options.rate === undefined ? {} : { ratePerSecond: options.rate }),
    ...(options.rampStart === undefined ? {} : { rampStart: options.rampStart }),
    ...(options.trackOpens === undefined ? {} : { trackOpens: options.trackOpens }),
    ...(options.trackClicks === undefined ? {} : { trackClicks: options.trackClicks }),
    ...(options.oneClickUnsubscribe === undefined
      ? {}
      : { oneClickUnsubscribe: options.oneClickUnsubscribe }),
    ...(options.unknownOutcome === undefined ? {} : { unknownOutcome: options.unknownOutcome }),
    ...(options.deliveryLimit === undefined ? {} : { deliveryLimit: options.deliveryLimit }),
  };
}

function readName(text: string): string {
  const name = text.trim();
  if (name !== '' && name.length <= 200) return name;
  throw new Problem('invalid', '--name must have 1 to 200 characters.');
}

function readPlan(text: string): Plan {
  if (text in PLANS) return text as Plan;
  throw new Problem('invalid', `--plan must be ${Object.keys(PLANS).join(' or ')}, not "${text}".`);
}

const describe = (account: Account): string[] => [
  `Account ${account.id} (${account.name}): plan ${account.plan}, ${account.dailyQuota} recipients a day, ${account.ratePerSecond} calls a second.`,
  `Opens ${account.trackOpens ? 'on' : 'off'}, clicks ${account.trackClicks ? 'on' : 'off'}, one-click unsubscribe ${account.oneClickUnsubscribe ? 'on' : 'off'}.`,
  `Mails of unknown outcome: ${account.unknownOutcome}. ${account.deliveryLimit === null ? 'No limit' : `At most ${account.deliveryLimit}`} handed over at a time.`,
];
