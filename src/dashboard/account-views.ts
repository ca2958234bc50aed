// Accounts as the pages show them: quota, what is held back and why, and all of them for operators.
import { type Account, getAccount, listAccounts } from '../accounts/accounts.ts';
import { listPauses, type Pause } from '../accounts/pause.ts';
import { PLANS, quotaOn } from '../accounts/plans.ts';
import { asSentence, listSuspensions, type Suspension } from '../accounts/suspension.ts';
import { nextMidnight, readUsage } from '../accounts/usage.ts';
import { ownSender } from '../notices/own-sender.ts';
import { countMembers } from '../people/users.ts';
import type { DashboardDeps } from './deps.ts';
import type { AccountView, OperatorAccount } from './views/account.ts';
import type { Quota } from './views/overview.ts';

type AccountDeps = Pick<DashboardDeps, 'database' | 'clock'>;

export async function readAccountView(deps: AccountDeps, accountId: number): Promise<AccountView> {
  const account = await getAccount(deps.database, accountId);
  const suspended = (await listSuspensions(deps.database, accountId)).get(accountId) ?? null;
  const paused = (await listPauses(deps.database, accountId)).get(accountId) ?? null;
  const sender = await ownSender(deps.database, accountId);
  const quota = await readQuota(deps, account);
  const { id, name, plan, createdAt, trackOpens, trackClicks, oneClickUnsubscribe } = account;
  return {
    ...{ id, name, plan, createdAt, quota, suspended, paused },
    tracking: { trackOpens, trackClicks, oneClickUnsubscribe },
    blocked: blockedIn(account, { suspended, paused }, quota, sender),
  };
}

export async function readQuota(deps: AccountDeps, account: Account): Promise<Quota> {
  const nowMs = deps.clock.nowMs();
  const used = (await readUsage(deps.database, nowMs, account.id)).get(account.id) ?? 0;
  const limit = quotaOn(nowMs, account);
  return {
    limit,
    used,
    left: Math.max(0, limit - used),
    resetsAt: nextMidnight(nowMs).toISOString(),
    ratePerSecond: account.ratePerSecond,
  };
}

function blockedIn(
  account: Account,
  { suspended, paused }: { suspended: Suspension | null; paused: Pause | null },
  quota: Quota,
  sender: string | undefined,
): AccountView['blocked'] {
  const blocked: AccountView['blocked'] = [];
  if (suspended !== null) {
    blocked.push({
      what: 'Sending, and every call with an API key',
      why: `The account is suspended: ${asSentence(suspended.reason)} The operator of this service can lift it.`,
    });
  }
  if (paused !== null) {
    blocked.push({
      what: 'Sending',
      why: `The account is paused: ${asSentence(paused.reason)} The operator of this service can resume it.`,
    });
  }
  if (!PLANS[account.plan].paying) {
    blocked.push({
      what: 'Sending, and every call with an API key',
      why: 'The free plan is for looking around: keys answer 402. The operator of this service can move the account to the paid plan.',
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

// ---- For operators ------------------------------------------------------------------------------------------------

export async function listOperatorAccounts(deps: AccountDeps): Promise<OperatorAccount[]> {
  const { database } = deps;
  const [accounts, usage, suspensions, pauses, members] = await Promise.all([
    listAccounts(database),
    readUsage(database, deps.clock.nowMs()),
    listSuspensions(database),
    listPauses(database),
    countMembers(database),
  ]);
  return accounts.map(({ id, name, plan, dailyQuota, ratePerSecond, createdAt }) => ({
    ...{ id, name, plan, dailyQuota, ratePerSecond, createdAt },
    usedToday: usage.get(id) ?? 0,
    members: members.get(id) ?? 0,
    suspended: suspensions.get(id) ?? null,
    paused: pauses.get(id) ?? null,
  }));
}

export async function readOperatorAccount(deps: AccountDeps, id: number): Promise<OperatorAccount> {
  await getAccount(deps.database, id);
  return (await listOperatorAccounts(deps)).find((account) => account.id === id)!;
}
