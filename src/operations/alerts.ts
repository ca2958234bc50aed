// Alerts: what prevents an account from sending or soon will, and what to do about it.
import { z } from 'zod';
import { type Account, getAccount } from '../accounts/accounts.ts';
import { listDomains } from '../accounts/domains.ts';
import { listPauses } from '../accounts/pause.ts';
import { PLANS } from '../accounts/plans.ts';
import { asSentence, listSuspensions } from '../accounts/suspension.ts';
import { type Quota, readQuota } from '../accounts/usage.ts';
import { readReceivers } from '../messages/receivers.ts';
import { type Figures, readStatistics } from '../messages/statistics.ts';
import { ownSender } from '../notices/own-sender.ts';
import { listEndpoints } from '../webhooks/endpoint.ts';
import { DISABLED_REASONS } from '../webhooks/health.ts';
import type { OperationDeps } from './deps.ts';
import { listOf, pageOfFew, pageOutOf, WHOLE_FOR_AGENTS } from './lists.ts';
import { operation } from './operation.ts';

/** Where large mailbox providers begin to reject email. */
const MOST_BOUNCED = 0.05;
const MOST_COMPLAINED = 0.001;
/** "Keep it below 0.1 %, and avoid ever reaching 0.3 %" (Gmail and Yahoo to senders). */
const TURNED_AWAY = 0.003;
/** With fewer sends, a rate says little. */
const FEWEST_FOR_RATES = 100;
/**
 * One person among 100 is 1 %, and says nothing about the other 99: Amazon SES judges a
 * "representative volume", and Gmail shows no rate at all for a few emails. So a rate needs people
 * behind it, and the claim that email is being rejected needs more of them.
 */
const FEWEST_COMPLAINTS = 2;
const FEWEST_COMPLAINTS_TURNED_AWAY = 5;
const RATES_OVER_DAYS = 7;
const QUOTA_NEARLY_USED = 0.9;
/** More domains than anyone reads about. */
const MOST_DOMAINS = 1000;

const alert = z
  .object({
    kind: z
      .enum([
        ...(['suspended', 'paused', 'free-plan', 'quota', 'no-sender', 'domain'] as const),
        ...(['relay-down', 'bounce-rate', 'complaint-rate', 'webhook'] as const),
      ])
      .describe('What it is about.'),
    severity: z.enum(['warning', 'critical']).describe('critical: email is held up.'),
    title: z.string().describe('What is wrong, in a few words.'),
    detail: z.string().describe('What is wrong and what to do.'),
    resource: z
      .enum(['account', 'senders', 'webhooks', 'messages'])
      .nullable()
      .describe('Where to fix it; null: only the operator of the service can.'),
    subject: z.string().nullable().describe('Which one, such as a domain or an endpoint’s id.'),
  })
  .meta({ id: 'Alert' });

type Alert = z.output<typeof alert>;

export const alertOperations = [
  operation({
    name: 'list_alerts',
    title: 'List what needs attention',
    summary: 'What keeps the account from sending or will soon, and what to do about it.',
    effect: 'reads',
    scope: 'usage:read',
    input: z.strictObject(pageOfFew),
    output: listOf('alerts', alert),
    rest: { method: 'GET', path: '/v1/alerts' },
    client: 'usage.listAlerts',
    tool: {
      brief: 'What keeps the account from sending or will soon, and what to do.',
      without: WHOLE_FOR_AGENTS,
    },
    async run(deps, { accountId }, wanted) {
      const { database, clock } = deps;
      const account = await getAccount(database, accountId);
      const statistics = await readStatistics(database, accountId, RATES_OVER_DAYS, clock.nowMs());
      const alerts = [
        ...(await aboutAccount(deps, account)),
        ...aboutQuota(await readQuota(deps, account)),
        ...(await aboutSenders(deps, accountId)),
        ...aboutRelay(deps),
        ...aboutRates(statistics.totals),
        ...(await aboutReceivers(deps, accountId)),
        ...(await aboutWebhooks(deps, accountId)),
      ];
      return pageOutOf(alerts, wanted, ({ kind, subject }) => `${kind} ${subject}`);
    },
  }),
];

async function aboutAccount({ database }: OperationDeps, { id, plan }: Account): Promise<Alert[]> {
  const suspended = (await listSuspensions(database, id)).get(id);
  const paused = (await listPauses(database, id)).get(id);
  const about = { resource: 'account', subject: null } as const;
  const alerts: Alert[] = [];
  if (suspended !== undefined) {
    const detail = `${asSentence(suspended.reason)} Nothing can be sent. Write to the operator of this service.`;
    const title = 'The account is suspended';
    alerts.push({ ...about, kind: 'suspended', severity: 'critical', title, detail });
  }
  if (paused !== undefined) {
    const detail = `${asSentence(paused.reason)} Nothing can be sent until the operator of this service resumes it.`;
    const title = 'The account is paused';
    alerts.push({ ...about, kind: 'paused', severity: 'critical', title, detail });
  }
  if (!PLANS[plan].paying) {
    const detail =
      'Every call with a key of this account is refused with 402. The operator can move it to the paid plan.';
    const title = 'The free plan cannot send';
    alerts.push({ ...about, kind: 'free-plan', severity: 'warning', title, detail });
  }
  return alerts;
}

function aboutQuota({ limit, used, left, resetsAt }: Quota): Alert[] {
  if (limit === 0 || used < limit * QUOTA_NEARLY_USED) return [];
  return [
    {
      kind: 'quota',
      severity: left === 0 ? 'critical' : 'warning',
      title: left === 0 ? 'Today’s quota is used up' : 'Today’s quota is nearly used up',
      detail: `${used} of ${limit} recipients; it resets at ${resetsAt.slice(11, 16)} UTC.`,
      resource: 'account',
      subject: null,
    },
  ];
}

async function aboutSenders(deps: OperationDeps, accountId: number): Promise<Alert[]> {
  const alerts: Alert[] = [];
  if ((await ownSender(deps.database, accountId)) === undefined) {
    alerts.push({
      kind: 'no-sender',
      severity: 'critical',
      title: 'No sender is verified',
      detail: 'Add a domain or an address to send from.',
      resource: 'senders',
      subject: null,
    });
  }
  const domains = await listDomains(deps, accountId, { limit: MOST_DOMAINS });
  for (const { domain, verified, findings } of domains) {
    const missing = (findings ?? []).filter(({ ok, unknown }) => !ok && !unknown);
    if (missing.length === 0) continue;
    alerts.push({
      kind: 'domain',
      severity: verified ? 'warning' : 'critical',
      title: `${domain} lacks DNS records`,
      detail: `Missing or different: ${missing.map(({ purpose }) => purpose).join(', ')}. Publish them and check again.`,
      resource: 'senders',
      subject: domain,
    });
  }
  return alerts;
}

function aboutRelay({ relayIsDown }: OperationDeps): Alert[] {
  if (!relayIsDown()) return [];
  return [
    {
      kind: 'relay-down',
      severity: 'critical',
      title: 'The relay cannot be reached',
      detail:
        'New email is refused or waits until it is back. Accepted email is kept and delivered then.',
      resource: null,
      subject: null,
    },
  ];
}

function aboutRates({ sends, bounced, complained }: Figures): Alert[] {
  if (sends < FEWEST_FOR_RATES) return [];
  const about = { severity: 'warning', resource: 'messages' } as const;
  const alerts: Alert[] = [];
  if (bounced / sends > MOST_BOUNCED) {
    alerts.push({
      ...{ ...about, kind: 'bounce-rate', subject: 'bounced' },
      title: `${percent(bounced / sends)} of the email bounced`,
      detail: `Above ${percent(MOST_BOUNCED)}, mailbox providers begin to reject email. Check where these addresses come from.`,
    });
  }
  const complaints = aboutComplaints(complained, sends);
  if (complaints !== undefined) {
    alerts.push({
      ...{ ...about, kind: 'complaint-rate', subject: 'complained' },
      ...complaints,
      title: `${percent(complained / sends)} of the email was reported as unwanted`,
    });
  }
  return alerts;
}

/** Gmail and Yahoo publish the two limits, and apply them to what they see themselves. */
async function aboutReceivers(
  { database, clock }: OperationDeps,
  accountId: number,
): Promise<Alert[]> {
  const read = await readReceivers(database, accountId, RATES_OVER_DAYS, clock.nowMs());
  return read.receivers.flatMap(({ receiver, delivered, complained }): Alert[] => {
    const complaints = aboutComplaints(complained, delivered);
    if (delivered < FEWEST_FOR_RATES || complaints === undefined) return [];
    return [
      {
        ...{ kind: 'complaint-rate', subject: receiver, resource: 'messages' },
        ...complaints,
        title: `${percent(complained / delivered)} of the email at ${receiver} was reported as unwanted`,
      },
    ];
  });
}

/** Undefined: there are too few of them, or receivers tolerate the rate. */
function aboutComplaints(
  complained: number,
  among: number,
): Pick<Alert, 'severity' | 'detail'> | undefined {
  const rate = complained / among;
  if (complained < FEWEST_COMPLAINTS || rate < MOST_COMPLAINED) return undefined;
  const people = `${complained} people reported it in ${RATES_OVER_DAYS} days.`;
  if (rate >= TURNED_AWAY && complained >= FEWEST_COMPLAINTS_TURNED_AWAY) {
    return {
      severity: 'critical',
      detail: `${people} From ${percent(TURNED_AWAY)} on, large mailbox providers reject email. Stop the emails people complain about, and send only to people who expect them.`,
    };
  }
  return {
    severity: 'warning',
    detail: `${people} Stay below ${percent(MOST_COMPLAINED)}; from ${percent(TURNED_AWAY)} on, large mailbox providers reject email. Send only to people who expect it.`,
  };
}

const percent = (rate: number): string => `${Math.round(rate * 1000) / 10} %`;

async function aboutWebhooks({ database }: OperationDeps, accountId: number): Promise<Alert[]> {
  const endpoints = await listEndpoints(database, accountId);
  return endpoints.flatMap(({ id, url, disabledAt, disabledReason, failingSince }): Alert[] => {
    const about = { kind: 'webhook', resource: 'webhooks', subject: id } as const;
    if (disabledAt !== null && disabledReason !== null && disabledReason !== 'owner') {
      const detail = `${url}: ${DISABLED_REASONS[disabledReason]}. Fix it, enable it, and replay what it missed.`;
      return [{ ...about, severity: 'critical', title: 'A webhook endpoint was disabled', detail }];
    }
    if (disabledAt === null && failingSince !== null) {
      const since = failingSince.slice(0, 16).replace('T', ' ');
      const detail = `${url} has failed without a success since ${since} UTC.`;
      return [{ ...about, severity: 'warning', title: 'A webhook endpoint is failing', detail }];
    }
    return [];
  });
}
