// The account itself: its plan and quota, what is held back and why, and what its owners can set.
import { z } from 'zod';
import { type Account, changeAccount, getAccount } from '../accounts/accounts.ts';
import { listPauses, type Pause } from '../accounts/pause.ts';
import { PLANS } from '../accounts/plans.ts';
import { asSentence, listSuspensions, type Suspension } from '../accounts/suspension.ts';
import { type Quota, readQuota } from '../accounts/usage.ts';
import { ownSender } from '../notices/own-sender.ts';
import {
  difference,
  halt,
  locale,
  localeChange,
  localeOf,
  name,
  plan,
  thingOf,
  tracking,
  trackingChange,
  trackingOf,
} from './account-fields.ts';
import type { OperationDeps } from './deps.ts';
import { operation } from './operation.ts';

const account = z
  .object({
    id: z.number().int().describe('Number of the account.'),
    name: z.string().describe('Its name.'),
    plan,
    created_at: z.string().describe('When it was created: ISO 8601, UTC.'),
    quota: z
      .object({
        limit: z.number().int().describe('Recipients today, to, cc and bcc together.'),
        used: z.number().int().describe('How many of them are used.'),
        left: z.number().int().describe('How many are left.'),
        resets_at: z.string().describe('When the count resets: ISO 8601, UTC.'),
        rate_per_second: z.number().int().describe('Send calls per second.'),
      })
      .describe('How much it may send.'),
    suspended: halt.describe('The operator stopped it; null: no.'),
    paused: halt.describe('It may not send for now, and what is queued waits; null: it may.'),
    ...tracking,
    locale: locale.nullable(),
    blocked: z
      .array(
        z.object({
          what: z.string().describe('What does not work now.'),
          why: z.string().describe('Why, and who can change it.'),
        }),
      )
      .describe('What is held back; empty: nothing.'),
  })
  .meta({ id: 'Account' });

export const accountOperations = [
  operation({
    name: 'get_account',
    title: 'Read the account',
    summary: 'The account’s plan, quota and switches, and what is held back and why.',
    effect: 'reads',
    scope: 'account:read',
    input: z.strictObject({}),
    output: account,
    rest: { method: 'GET', path: '/v1/account' },
    client: 'account.get',
    tool: {},
    run: (deps, { accountId }) => read(deps, accountId),
  }),

  operation({
    name: 'update_account',
    title: 'Change the account',
    summary: 'Changes the fields you give. Tracking applies to emails sent from now on.',
    effect: 'changes',
    scope: 'account:write',
    input: z.strictObject({ name: name.optional(), ...trackingChange, locale: localeChange }),
    output: account,
    rest: { method: 'PATCH', path: '/v1/account' },
    client: 'account.update',
    thing: ({ accountId }) => thingOf(accountId),
    async run(deps, { accountId }, { name, locale, ...switches }, via) {
      const before = await read(deps, accountId);
      await changeAccount(deps.database, accountId, {
        ...(name === undefined ? {} : { name }),
        ...trackingOf(switches),
        ...localeOf(locale),
      });
      const after = await read(deps, accountId);
      via.note({ target: after.name, ...difference(settings(before), settings(after)) });
      return after;
    },
  }),
];

const settings = ({ name, ...one }: z.output<typeof account>) => ({
  name,
  track_opens: one.track_opens,
  track_clicks: one.track_clicks,
  one_click_unsubscribe: one.one_click_unsubscribe,
  refuse_unaligned: one.refuse_unaligned,
  lint_sends: one.lint_sends,
  locale: one.locale,
});

async function read(deps: OperationDeps, id: number): Promise<z.output<typeof account>> {
  const { database } = deps;
  const found = await getAccount(database, id);
  const suspended = (await listSuspensions(database, id)).get(id) ?? null;
  const paused = (await listPauses(database, id)).get(id) ?? null;
  const quota = await readQuota(deps, found);
  return {
    id,
    name: found.name,
    plan: found.plan,
    created_at: found.createdAt,
    quota: {
      ...{ limit: quota.limit, used: quota.used, left: quota.left },
      resets_at: quota.resetsAt,
      rate_per_second: quota.ratePerSecond,
    },
    ...{ suspended, paused },
    track_opens: found.trackOpens,
    track_clicks: found.trackClicks,
    one_click_unsubscribe: found.oneClickUnsubscribe,
    refuse_unaligned: found.refuseUnaligned,
    lint_sends: found.lintSends,
    locale: found.locale,
    blocked: blockedIn(found, { suspended, paused }, quota, await ownSender(database, id)),
  };
}

function blockedIn(
  { plan }: Account,
  { suspended, paused }: { suspended: Suspension | null; paused: Pause | null },
  quota: Quota,
  sender: string | undefined,
): { what: string; why: string }[] {
  const blocked = [];
  if (suspended !== null) {
    blocked.push({
      what: 'Sending, and every call with an API key',
      why: `The account is suspended: ${asSentence(suspended.reason)} The operator of this service can lift it.`,
    });
  }
  if (paused !== null) {
    blocked.push({
      what: 'Sending, and delivering what is queued',
      why: `The account is paused: ${asSentence(paused.reason)} The operator of this service can resume it.`,
    });
  }
  if (!PLANS[plan].paying) {
    blocked.push({
      what: 'Sending, and every call with an API key',
      why: 'The free plan cannot send: every call with a key is refused with 402. The operator of this service can move the account to the paid plan.',
    });
  } else if (quota.left === 0) {
    blocked.push({
      what: 'Sending until 00:00 UTC',
      why: `Today’s quota of ${quota.limit} recipients is used up.`,
    });
  }
  if (sender === undefined) {
    blocked.push({
      what: 'Sending',
      why: 'No sender is verified yet. Add a domain or an address under Senders.',
    });
  }
  return blocked;
}
