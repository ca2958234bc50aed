// sandmartin account: who sends, on which plan, with which limits.
import type { Command } from 'commander';
import { UNKNOWN_OUTCOMES, type UnknownOutcome } from '../accounts/accounts.ts';
import { PLANS, type Plan } from '../accounts/plans.ts';
import type { OperatedAccount } from '../client/operations.ts';
import { Problem } from '../errors.ts';
import { accountNumber, onOrOff, print, table, wholeNumber, withJson } from './command.ts';
import { withOperations } from './operations.ts';

interface AccountOptions {
  name?: string;
  plan?: Plan;
  dailyQuota?: number;
  rate?: number;
  trackOpens?: boolean;
  trackClicks?: boolean;
  oneClickUnsubscribe?: boolean;
  refuseUnaligned?: boolean;
  lintSends?: boolean;
  unknownOutcome?: UnknownOutcome;
  deliveryLimit?: number;
  rampStart?: number;
  owner?: string;
  json?: boolean;
}

export function registerAccount(program: Command): void {
  const account = program.command('account').description('accounts: who sends, and how much');

  withJson(limits(account.command('create').description('create an account')))
    .requiredOption('--name <name>', 'its name', readName)
    .requiredOption('--plan <plan>', 'paid or free', readPlan)
    .option('--owner <email>', 'email an invitation to its owner')
    .action((options: AccountOptions & { name: string; plan: Plan }) =>
      withOperations(undefined, async (api) => {
        const { name, plan } = options;
        const { invited, ...made } = await api.accounts.create({
          ...{ ...changeOf(options), name, plan },
          owner_email: options.owner,
        });
        print(options.json, { ...made, invited }, () => [
          `Account ${made.id} (${made.name}) was created.`,
          ...(invited === null
            ? []
            : [invited.link ?? `${invited.email} was invited by email.`, invited.note ?? ''].filter(
                Boolean,
              )),
          `Next: npx sandmartin identity add example.com --account ${made.id} --verified`,
          `      npx sandmartin key create --account ${made.id} --scope email:send --scope email:read`,
        ]);
      }),
    );

  withJson(limits(account.command('set <id>').description('change an account')))
    .option('--name <name>', 'its name', readName)
    .option('--plan <plan>', 'paid or free', readPlan)
    .action((id: string, options: AccountOptions) =>
      withOperations(undefined, async (api) => {
        const changed = await api.accounts.update({ id: accountNumber(id), ...changeOf(options) });
        print(options.json, changed, () => describe(changed));
      }),
    );

  withJson(account.command('show <id>').description('one account')).action(
    (id: string, options: AccountOptions) =>
      withOperations(undefined, async (api) => {
        const found = await api.accounts.get({ id: accountNumber(id) });
        print(options.json, found, () => describe(found));
      }),
  );

  registerHalts(account);

  withJson(account.command('list').description('all accounts')).action((options: AccountOptions) =>
    withOperations(undefined, async (api) => {
      const accounts: OperatedAccount[] = [];
      for await (const it of api.accounts.list({ limit: 100 })) accounts.push(it);
      print(options.json, accounts, () =>
        table(
          ['ID', 'NAME', 'PLAN', 'DAILY QUOTA', 'RATE/S', 'STATE'],
          accounts.map((it) => [
            String(it.id),
            it.name,
            it.plan,
            String(it.daily_quota),
            String(it.rate_per_second),
            it.suspended ? 'suspended' : it.paused ? 'paused' : 'active',
          ]),
        ),
      );
    }),
  );
}

interface HaltOptions {
  reason: string;
  json?: boolean;
}

function registerHalts(account: Command): void {
  withJson(
    account
      .command('pause <id>')
      .description('refuse its sends and hold its queue; reading still works'),
  )
    .requiredOption('--reason <text>', 'the reason, shown to the people in the account')
    .action((id: string, { reason, json }: HaltOptions) =>
      withOperations(undefined, async (api) => {
        const paused = await api.accounts.pause({ id: accountNumber(id), reason });
        print(json, paused, () => [
          `Account ${id} is paused. Resume it with: npx sandmartin account resume ${id}`,
        ]);
      }),
    );

  withJson(account.command('suspend <id>').description('refuse its keys; people can still sign in'))
    .requiredOption('--reason <text>', 'the reason, shown to the people in the account')
    .action((id: string, { reason, json }: HaltOptions) =>
      withOperations(undefined, async (api) => {
        const suspended = await api.accounts.suspend({ id: accountNumber(id), reason });
        print(json, suspended, () => [
          `Account ${id} is suspended. Resume it with: npx sandmartin account resume ${id}`,
        ]);
      }),
    );

  withJson(
    account
      .command('resume <id>')
      .description('end a pause or a suspension and reset its bounce and complaint figures'),
  ).action((id: string, { json }: HaltOptions) =>
    withOperations(undefined, async (api) => {
      const resumed = await api.accounts.resume({ id: accountNumber(id) });
      print(json, resumed, () => [`Account ${id} may send again.`]);
    }),
  );
}

function limits(command: Command): Command {
  return command
    .option('--daily-quota <recipients>', 'recipients per day', wholeNumber('--daily-quota', 0))
    .option('--rate <calls>', 'send calls per second', wholeNumber('--rate', 1, 1_000_000))
    .option(
      '--ramp-start <recipients>',
      'its quota on the first day, doubled every day; 0 for none',
      wholeNumber('--ramp-start', 0),
    )
    .option('--track-opens <on|off>', 'track opens with a pixel', onOrOff('--track-opens'))
    .option('--track-clicks <on|off>', 'track clicks by rewriting links', onOrOff('--track-clicks'))
    .option(
      '--one-click-unsubscribe <on|off>',
      'List-Unsubscribe in every email',
      onOrOff('--one-click-unsubscribe'),
    )
    .option(
      '--refuse-unaligned <on|off>',
      'refuse email that cannot pass DMARC',
      onOrOff('--refuse-unaligned'),
    )
    .option('--lint-sends <on|off>', 'include lint findings in answers', onOrOff('--lint-sends'))
    .option(
      '--unknown-outcome <what>',
      'when the connection breaks after an email was handed over: send_again or count_as_sent',
      readUnknownOutcome,
    )
    .option(
      '--delivery-limit <emails>',
      'emails handed over at a time; 0 for no limit',
      wholeNumber('--delivery-limit', 0, 100_000),
    );
}

function readUnknownOutcome(text: string): UnknownOutcome {
  const found = UNKNOWN_OUTCOMES.find((it) => it === text);
  if (found !== undefined) return found;
  throw new Problem(
    'invalid',
    `--unknown-outcome must be ${UNKNOWN_OUTCOMES.join(' or ')}, not "${text}".`,
  );
}

const changeOf = (options: AccountOptions) => ({
  name: options.name,
  plan: options.plan,
  daily_quota: options.dailyQuota,
  rate_per_second: options.rate,
  ramp_start: options.rampStart,
  track_opens: options.trackOpens,
  track_clicks: options.trackClicks,
  one_click_unsubscribe: options.oneClickUnsubscribe,
  refuse_unaligned: options.refuseUnaligned,
  lint_sends: options.lintSends,
  unknown_outcome: options.unknownOutcome,
  delivery_limit: options.deliveryLimit,
});

function readName(text: string): string {
  const name = text.trim();
  if (name !== '' && name.length <= 200) return name;
  throw new Problem('invalid', '--name must have 1 to 200 characters.');
}

function readPlan(text: string): Plan {
  if (text in PLANS) return text as Plan;
  throw new Problem('invalid', `--plan must be ${Object.keys(PLANS).join(' or ')}, not "${text}".`);
}

const describe = (account: OperatedAccount): string[] => [
  `Account ${account.id} (${account.name}): plan ${account.plan}, ${account.daily_quota} recipients a day, ${account.rate_per_second} calls a second.`,
  `Opens ${account.track_opens ? 'on' : 'off'}, clicks ${account.track_clicks ? 'on' : 'off'}, one-click unsubscribe ${account.one_click_unsubscribe ? 'on' : 'off'}, refuse unaligned ${account.refuse_unaligned ? 'on' : 'off'}, lint sends ${account.lint_sends ? 'on' : 'off'}.`,
  `Emails of unknown outcome: ${account.unknown_outcome}. ${account.delivery_limit === 0 ? 'No limit' : `At most ${account.delivery_limit}`} handed over at a time.`,
];
