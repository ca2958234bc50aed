// The overview: today's quota, figures over time, what needs an action, and whether there is anything to show yet.
import { getAccount } from '../accounts/accounts.ts';
import { listDomains } from '../accounts/domains.ts';
import { listKeys } from '../accounts/keys.ts';
import { listPauses } from '../accounts/pause.ts';
import { PLANS } from '../accounts/plans.ts';
import { asSentence, listSuspensions } from '../accounts/suspension.ts';
import { readQuota } from '../accounts/usage.ts';
import { hasSent } from '../messages/message.ts';
import { readVolume, type StatusCounts } from '../messages/volume.ts';
import { ownSender } from '../notices/own-sender.ts';
import { listEndpoints } from '../webhooks/endpoint.ts';
import { DISABLED_REASONS } from '../webhooks/health.ts';
import type { DashboardDeps } from './deps.ts';
import type { ActionNeeded, Overview, Quota, Volume, VolumePoint } from './views/overview.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/** Where large mailbox providers begin to turn mail away. */
const MOST_BOUNCED = 0.05;
const MOST_COMPLAINED = 0.001;
/** Below so many sends, a rate says little. */
const FEWEST_FOR_RATES = 100;
const QUOTA_NEARLY_USED = 0.9;

export async function readOverview(
  deps: DashboardDeps,
  accountId: number,
  days: number,
): Promise<Overview> {
  const { database } = deps;
  const account = await getAccount(database, accountId);
  const [quota, figures, sent, sender, keys] = await Promise.all([
    readQuota(deps, account),
    readFigures(deps, accountId, days),
    hasSent(database, accountId),
    ownSender(database, accountId),
    listKeys(database, accountId),
  ]);
  const { totals } = figures;
  return {
    quota,
    ...figures,
    rates: {
      delivered: share(totals.delivered, totals.sends),
      opened: share(totals.opened, totals.sends),
      bounced: share(totals.bounced, totals.sends),
      complained: share(totals.complained, totals.sends),
    },
    problems: [
      ...accountProblems(account.plan, {
        suspended: (await listSuspensions(database, accountId)).get(accountId),
        paused: (await listPauses(database, accountId)).get(accountId),
      }),
      ...quotaProblems(quota),
      ...(await senderProblems(deps, accountId)),
      ...relayProblems(deps),
      ...rateProblems(totals),
      ...(await webhookProblems(deps, accountId)),
    ],
    quickstart: {
      waiting: !sent,
      from: sender ?? null,
      keys: keys.filter(({ revokedAt }) => revokedAt === null).length,
    },
  };
}

// ---- Figures ------------------------------------------------------------------------------------------------------

async function readFigures(
  { database, clock }: DashboardDeps,
  accountId: number,
  days: number,
): Promise<Pick<Overview, 'series' | 'totals'>> {
  const bucket = days === 1 ? 'hour' : 'day';
  const bucketMs = bucket === 'hour' ? HOUR_MS : DAY_MS;
  const nowMs = clock.nowMs();
  const untilMs = (Math.floor(nowMs / bucketMs) + 1) * bucketMs;
  const fromMs = untilMs - days * DAY_MS;
  const { hours, complete } = await readVolume(database, accountId, { fromMs, untilMs }, nowMs);
  const points: VolumePoint[] = [];
  for (let atMs = fromMs; atMs < untilMs; atMs += bucketMs) {
    const within = hours.filter(({ hourMs }) => hourMs >= atMs && hourMs < atMs + bucketMs);
    points.push({
      at: new Date(atMs).toISOString(),
      ...sum(within.map(({ counts }) => toVolume(counts))),
    });
  }
  return { series: { bucket, points, complete }, totals: sum(points) };
}

/** A status stands for all that came before it: who complained had the mail delivered. */
function toVolume(counts: StatusCounts): Volume {
  const { delivered, opened, clicked, bounced, complained } = counts;
  return {
    sends: Object.values(counts).reduce((total, count) => total + count, 0),
    delivered: delivered + opened + clicked + complained,
    opened: opened + clicked,
    clicked,
    bounced,
    complained,
  };
}

function sum(volumes: readonly Volume[]): Volume {
  const total = { sends: 0, delivered: 0, opened: 0, clicked: 0, bounced: 0, complained: 0 };
  for (const volume of volumes) {
    for (const key of Object.keys(total) as (keyof Volume)[]) total[key] += volume[key];
  }
  return total;
}

const share = (part: number, whole: number): number | null => (whole === 0 ? null : part / whole);

// ---- Problems -----------------------------------------------------------------------------------------------------

function accountProblems(
  plan: keyof typeof PLANS,
  {
    suspended,
    paused,
  }: { suspended: { reason: string } | undefined; paused: { reason: string } | undefined },
): ActionNeeded[] {
  const problems: ActionNeeded[] = [];
  if (suspended !== undefined) {
    problems.push({
      kind: 'suspended',
      severity: 'critical',
      title: 'The account is suspended',
      detail: `${asSentence(suspended.reason)} Nothing can be sent. Write to the operator of this service.`,
      page: 'account',
      subject: null,
    });
  }
  if (paused !== undefined) {
    problems.push({
      kind: 'paused',
      severity: 'critical',
      title: 'The account is paused',
      detail: `${asSentence(paused.reason)} Nothing can be sent until the operator of this service resumes it.`,
      page: 'account',
      subject: null,
    });
  }
  if (!PLANS[plan].paying) {
    problems.push({
      kind: 'free-plan',
      severity: 'warning',
      title: 'The free plan cannot send',
      detail: 'Keys of this account answer 402. The operator can move it to the paid plan.',
      page: 'account',
      subject: null,
    });
  }
  return problems;
}

function quotaProblems({ limit, used, left, resetsAt }: Quota): ActionNeeded[] {
  if (limit === 0 || used < limit * QUOTA_NEARLY_USED) return [];
  return [
    {
      kind: 'quota',
      severity: left === 0 ? 'critical' : 'warning',
      title: left === 0 ? 'Today’s quota is used up' : 'Today’s quota is nearly used up',
      detail: `${used} of ${limit} recipients; it starts anew at ${resetsAt.slice(11, 16)} UTC.`,
      page: 'account',
      subject: null,
    },
  ];
}

/** More domains than somebody reads about. */
const ALL = { limit: 1000 };

async function senderProblems(deps: DashboardDeps, accountId: number): Promise<ActionNeeded[]> {
  const problems: ActionNeeded[] = [];
  if ((await ownSender(deps.database, accountId)) === undefined) {
    problems.push({
      kind: 'no-sender',
      severity: 'critical',
      title: 'No sender is verified',
      detail: 'Add a domain or an address to send from.',
      page: 'senders',
      subject: null,
    });
  }
  for (const { domain, verified, findings } of await listDomains(deps, accountId, ALL)) {
    const missing = (findings ?? []).filter(({ ok, unknown }) => !ok && !unknown);
    if (missing.length === 0) continue;
    problems.push({
      kind: 'domain',
      severity: verified ? 'warning' : 'critical',
      title: `${domain} lacks DNS records`,
      detail: `Missing or different: ${missing.map(({ purpose }) => purpose).join(', ')}. Publish them and check again.`,
      page: 'senders',
      subject: domain,
    });
  }
  return problems;
}

function relayProblems(deps: DashboardDeps): ActionNeeded[] {
  if (!deps.relayIsDown()) return [];
  return [
    {
      kind: 'relay-down',
      severity: 'critical',
      title: 'The relay cannot be reached',
      detail:
        'New mail is refused or waits until it is back. Accepted mail is kept and delivered then.',
      page: null,
      subject: null,
    },
  ];
}

function rateProblems({ sends, bounced, complained }: Volume): ActionNeeded[] {
  if (sends < FEWEST_FOR_RATES) return [];
  const problems: ActionNeeded[] = [];
  if (bounced / sends > MOST_BOUNCED) {
    problems.push({
      kind: 'bounce-rate',
      severity: 'warning',
      title: `${percent(bounced / sends)} of the mail bounced`,
      detail: `Above ${percent(MOST_BOUNCED)}, mailbox providers begin to turn mail away. Look at where the addresses come from.`,
      page: 'messages',
      subject: 'bounced',
    });
  }
  if (complained / sends > MOST_COMPLAINED) {
    problems.push({
      kind: 'complaint-rate',
      severity: 'warning',
      title: `${percent(complained / sends)} of the mail was reported as unwanted`,
      detail: `Above ${percent(MOST_COMPLAINED)}, mailbox providers begin to turn mail away. Write only to people who expect it.`,
      page: 'messages',
      subject: 'complained',
    });
  }
  return problems;
}

const percent = (rate: number): string => `${Math.round(rate * 1000) / 10} %`;

async function webhookProblems(
  { database }: DashboardDeps,
  accountId: number,
): Promise<ActionNeeded[]> {
  const endpoints = await listEndpoints(database, accountId);
  return endpoints.flatMap((endpoint): ActionNeeded[] => {
    const { disabledReason, failingSince, url, id } = endpoint;
    const about = { kind: 'webhook', page: 'webhooks', subject: id } as const;
    if (disabledReason !== null && disabledReason !== 'owner') {
      const detail = `${url}: ${DISABLED_REASONS[disabledReason]}. Mend it, enable it, and replay what it missed.`;
      return [{ ...about, severity: 'critical', title: 'A webhook endpoint was disabled', detail }];
    }
    if (disabledReason === null && failingSince !== null) {
      const detail = `${url} has answered nothing but failures since ${failingSince.slice(0, 16).replace('T', ' ')} UTC.`;
      return [{ ...about, severity: 'warning', title: 'A webhook endpoint fails', detail }];
    }
    return [];
  });
}
