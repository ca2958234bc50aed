// All accounts, for operators of the service: create, change, pause, suspend and resume. No key of
// an account may call these.
import { z } from 'zod';
import {
  type Account,
  type AccountChange,
  changeAccount,
  createAccount,
  getAccount,
  listAccounts,
  UNKNOWN_OUTCOMES,
} from '../accounts/accounts.ts';
import { listPauses, pauseAccount } from '../accounts/pause.ts';
import { listSuspensions, resumeAccount, suspendAccount } from '../accounts/suspension.ts';
import { readUsage } from '../accounts/usage.ts';
import { inviteAsOperator } from '../notices/invitation-email.ts';
import { countMembers, readEmail } from '../people/users.ts';
import {
  difference,
  halt,
  name,
  plan,
  thingOf,
  tracking,
  trackingChange,
  trackingOf,
} from './account-fields.ts';
import type { OperationDeps } from './deps.ts';
import { listOf, page, pageOf, wrongCursor } from './lists.ts';
import { operation } from './operation.ts';
import { invitation, showInvitation } from './team.ts';

const figures = {
  daily_quota: z
    .number()
    .int()
    .min(0)
    .max(2_000_000_000)
    .describe('Recipients per UTC day: to, cc and bcc together.'),
  rate_per_second: z.number().int().min(1).max(1_000_000).describe('Send calls per second.'),
  delivery_limit: z
    .number()
    .int()
    .min(0)
    .max(100_000)
    .describe('Emails handed over at a time, across all processes; 0: no limit.'),
  ramp_start: z
    .number()
    .int()
    .min(0)
    .max(2_000_000_000)
    .describe('Its quota on the first day, doubled every day; 0: no ramp.'),
  unknown_outcome: z
    .enum(UNKNOWN_OUTCOMES)
    .describe('When the connection broke after an email: whether it is sent again.'),
};

const change = {
  daily_quota: figures.daily_quota.optional(),
  rate_per_second: figures.rate_per_second.optional(),
  delivery_limit: figures.delivery_limit.optional(),
  ramp_start: figures.ramp_start.optional(),
  unknown_outcome: figures.unknown_outcome.optional(),
  ...trackingChange,
};

const account = z
  .object({
    id: z.number().int().describe('Number of the account.'),
    name: z.string().describe('Its name.'),
    plan,
    ...figures,
    ...tracking,
    used_today: z.number().int().describe('Recipients it has sent to today.'),
    members: z.number().int().describe('How many people belong to it.'),
    created_at: z.string().describe('When it was created: ISO 8601, UTC.'),
    suspended: halt.describe('Its keys are refused; null: they are not.'),
    paused: halt.describe('It may not send, and what is queued waits; null: it may.'),
  })
  .meta({ id: 'OperatedAccount' });

type OperatedAccount = z.output<typeof account>;

const id = z
  .number()
  .int()
  .min(1)
  .max(2 ** 53 - 1)
  .describe('Number of the account.');
const reason = z
  .string()
  .trim()
  .min(1, 'say why: it is shown to the people in the account')
  .max(500)
  .describe('The reason, shown to the people in the account.');

export const accountsOperations = [
  operation({
    name: 'list_accounts',
    title: 'List all accounts',
    summary: 'Every account of this service. For operators only.',
    effect: 'reads',
    scope: 'accounts:read',
    input: z.strictObject(page),
    output: listOf('accounts', account),
    rest: { method: 'GET', path: '/v1/accounts' },
    client: 'accounts.list',
    async run(deps, _, { limit, cursor }) {
      if (cursor !== undefined && !/^\d{1,15}$/.test(cursor)) throw wrongCursor();
      const found = await listAccounts(deps.database, { after: Number(cursor ?? 0), limit });
      const show = await readFacts(deps);
      return pageOf(found, limit, (last) => String(last.id), show);
    },
  }),

  operation({
    name: 'get_operated_account',
    title: 'Read any account',
    summary: 'One account with its figures and state. For operators only.',
    effect: 'reads',
    scope: 'accounts:read',
    input: z.strictObject({ id }),
    output: account,
    rest: { method: 'GET', path: '/v1/accounts/{id}' },
    client: 'accounts.get',
    run: (deps, _, wanted) => read(deps, wanted.id),
  }),

  operation({
    name: 'create_account',
    title: 'Create an account',
    summary:
      'Creates an account and, with `owner_email`, invites its owner. If no email can be sent, the answer contains the link: pass it on to the owner only. For operators only.',
    effect: 'talks',
    scope: 'accounts:write',
    input: z.strictObject({
      name,
      plan,
      ...change,
      owner_email: z.string().max(320).optional().describe('Gets an invitation as its owner.'),
    }),
    output: account.extend({
      invited: invitation
        .extend({
          link: z.string().nullable().describe('Only if no email could be sent.'),
          note: z.string().nullable().describe('Why no email was sent.'),
        })
        .nullable()
        .describe('The invitation of its owner; null: nobody was invited.'),
    }),
    rest: { method: 'POST', path: '/v1/accounts', status: 201 },
    client: 'accounts.create',
    async run(deps, _, { owner_email, ...wish }, via) {
      const email = owner_email && readEmail(owner_email, 'owner_email');
      const { database, rampStart } = deps;
      const { id } = await createAccount(database, {
        ...(rampStart === undefined ? {} : { rampStart }),
        ...changeOf(wish),
        ...{ name: wish.name, plan: wish.plan },
      });
      const made = await read(deps, id);
      via.note({ account: id, target: made.name, after: settings(made) });
      if (!email) return { ...made, invited: null };
      const by = via.person ?? { name: 'The operator of this service' };
      const invited = await inviteAsOperator(deps, { accountId: id, email, role: 'owner', by });
      const { link, note } = invited;
      return { ...made, invited: { ...showInvitation(invited.invitation), link, note } };
    },
  }),

  operation({
    name: 'update_operated_account',
    title: 'Change any account',
    summary: 'Changes the plan, limits and settings you give. For operators only.',
    effect: 'changes',
    scope: 'accounts:write',
    input: z.strictObject({ id, name: name.optional(), plan: plan.optional(), ...change }),
    output: account,
    rest: { method: 'PATCH', path: '/v1/accounts/{id}' },
    client: 'accounts.update',
    thing: (_, { id }) => thingOf(id),
    async run(deps, _, { id, ...wish }, via) {
      const before = await read(deps, id);
      await changeAccount(deps.database, id, changeOf(wish));
      const after = await read(deps, id);
      const changed = difference(settings(before), settings(after));
      via.note({ account: id, target: after.name, ...changed });
      return after;
    },
  }),

  operation({
    name: 'suspend_account',
    title: 'Suspend an account',
    summary:
      'Its keys are refused at once; its people can still sign in and read. What it has queued or scheduled is held until it is resumed. For operators only.',
    effect: 'changes',
    scope: 'accounts:write',
    input: z.strictObject({ id, reason }),
    output: account,
    rest: { method: 'POST', path: '/v1/accounts/{id}/suspend' },
    client: 'accounts.suspend',
    async run(deps, _, { id, reason }, via) {
      await suspendAccount(deps.database, id, reason);
      const { name, suspended, ...rest } = await read(deps, id);
      via.note({ account: id, target: name, after: { suspended } });
      return { name, suspended, ...rest };
    },
  }),

  operation({
    name: 'pause_account',
    title: 'Pause an account',
    summary:
      'Its sends are refused at once and what is queued waits; its keys still read. For operators only.',
    effect: 'changes',
    scope: 'accounts:write',
    input: z.strictObject({ id, reason }),
    output: account,
    rest: { method: 'POST', path: '/v1/accounts/{id}/pause' },
    client: 'accounts.pause',
    async run(deps, _, { id, reason }, via) {
      await pauseAccount(deps.database, id, reason);
      const { name, paused, ...rest } = await read(deps, id);
      via.note({ account: id, target: name, after: { paused } });
      return { name, paused, ...rest };
    },
  }),

  operation({
    name: 'resume_account',
    title: 'Resume an account',
    summary:
      'Ends a suspension or a pause: its keys work again, and what waited is delivered. Earlier bounces and complaints no longer count. For operators only.',
    effect: 'changes',
    scope: 'accounts:write',
    input: z.strictObject({ id }),
    output: account,
    rest: { method: 'POST', path: '/v1/accounts/{id}/resume' },
    client: 'accounts.resume',
    async run(deps, _, { id }, via) {
      const { suspended, paused } = await read(deps, id);
      await resumeAccount(deps.database, id);
      const resumed = await read(deps, id);
      via.note({ account: id, target: resumed.name, before: { suspended, paused } });
      return resumed;
    },
  }),
];

async function read(deps: OperationDeps, id: number): Promise<OperatedAccount> {
  const found = await getAccount(deps.database, id);
  return (await readFacts(deps))(found);
}

/** What other tables know about accounts, to show with each of them. */
async function readFacts({ database, clock }: OperationDeps) {
  const usage = await readUsage(database, clock.nowMs());
  const suspensions = await listSuspensions(database);
  const pauses = await listPauses(database);
  const members = await countMembers(database);
  return (one: Account): OperatedAccount => ({
    id: one.id,
    name: one.name,
    plan: one.plan,
    daily_quota: one.dailyQuota,
    rate_per_second: one.ratePerSecond,
    delivery_limit: one.deliveryLimit ?? 0,
    ramp_start: one.rampStart ?? 0,
    unknown_outcome: one.unknownOutcome,
    track_opens: one.trackOpens,
    track_clicks: one.trackClicks,
    one_click_unsubscribe: one.oneClickUnsubscribe,
    refuse_unaligned: one.refuseUnaligned,
    lint_sends: one.lintSends,
    used_today: usage.get(one.id) ?? 0,
    members: members.get(one.id) ?? 0,
    created_at: one.createdAt,
    suspended: suspensions.get(one.id) ?? null,
    paused: pauses.get(one.id) ?? null,
  });
}

/** For the audit: what operators set. */
const settings = ({
  id: _,
  used_today: __,
  members: ___,
  created_at: ____,
  ...rest
}: OperatedAccount) => rest;

type Wish = z.output<z.ZodObject<typeof change>> & Pick<AccountChange, 'name' | 'plan'>;

/** Only the given fields, as accounts/accounts.ts takes them. */
const changeOf = (wish: { [Field in keyof Wish]?: Wish[Field] | undefined }): AccountChange => ({
  ...(wish.name === undefined ? {} : { name: wish.name }),
  ...(wish.plan === undefined ? {} : { plan: wish.plan }),
  ...(wish.daily_quota === undefined ? {} : { dailyQuota: wish.daily_quota }),
  ...(wish.rate_per_second === undefined ? {} : { ratePerSecond: wish.rate_per_second }),
  ...(wish.delivery_limit === undefined ? {} : { deliveryLimit: wish.delivery_limit }),
  ...(wish.ramp_start === undefined ? {} : { rampStart: wish.ramp_start }),
  ...(wish.unknown_outcome === undefined ? {} : { unknownOutcome: wish.unknown_outcome }),
  ...trackingOf(wish),
});
