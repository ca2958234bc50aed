// Agent limits: rules one API key can carry, so that it is safe to hand to a program that decides
// by itself. Set when the key is made; agent-rules.ts checks sends against them; the daily cap is
// counted in accept_sends (SQL).
import { formatMailbox, parseMailbox } from '../addresses.ts';
import { Problem, readTogether } from '../errors.ts';
import type { Queryable } from '../store/pool.ts';
import { normaliseIdentity } from './identities.ts';
import { PLANS, type Plan } from './plans.ts';

/** When a person has to approve what the key sends. */
export const APPROVAL_RULES = ['never', 'always', 'first_contact', 'outside_domain'] as const;
export type ApprovalRule = (typeof APPROVAL_RULES)[number];

export interface AgentLimits {
  /** Addresses and domains, normalised; null: anyone. A domain does not cover its subdomains. */
  allowedRecipients: readonly string[] | null;
  /** The words come from a template: no subject, html, text or attachments of the caller's own. */
  templatesOnly: boolean;
  noBcc: boolean;
  /** Recipients per UTC day; null: only the account's quota counts. */
  dailyCap: number | null;
  /** Email of this key goes to the sandbox relay and never leaves. */
  sandboxOnly: boolean;
  approval: ApprovalRule;
  /** It may read and change only what it sent itself. */
  ownMessages: boolean;
  /** Mailboxes it may send from, as they are shown; null: the same as the account. */
  senders: readonly string[] | null;
  /** Addresses and domains that replies may go to; null: those the account may send from. */
  replyTo: readonly string[] | null;
  /** Hosts that links may lead to; null: any. */
  linkHosts: readonly string[] | null;
}

const NO_LIMITS: AgentLimits = {
  allowedRecipients: null,
  templatesOnly: false,
  noBcc: false,
  dailyCap: null,
  sandboxOnly: false,
  approval: 'never',
  ownMessages: false,
  senders: null,
  replyTo: null,
  linkHosts: null,
};

/** The same limits, for an email that must not leave. */
export const sandboxed = (limits: AgentLimits | null): AgentLimits => ({
  ...(limits ?? NO_LIMITS),
  sandboxOnly: true,
});

export const LIMIT_COLUMNS = `allowed_recipients AS "allowedRecipients", templates_only AS "templatesOnly",
  no_bcc AS "noBcc", daily_cap AS "dailyCap", sandbox_only AS "sandboxOnly", approval,
  own_messages AS "ownMessages", senders, reply_to AS "replyTo", link_hosts AS "linkHosts"`;

/** Null for a key without limits, so that its sends skip the checks. */
export function limitsOf(row: AgentLimits): AgentLimits | null {
  const limits = pick(row);
  const limited = RULES.some((rule) => limits[rule] !== NO_LIMITS[rule]);
  return limited ? limits : null;
}

const RULES = Object.keys(NO_LIMITS) as (keyof AgentLimits)[];

const pick = (row: AgentLimits): AgentLimits =>
  Object.fromEntries(RULES.map((rule) => [rule, row[rule]])) as unknown as AgentLimits;

/**
 * Limits as they were asked for, checked: addresses normalised, the cap below the account's
 * quota.
 */
export async function readLimits(
  database: Queryable,
  accountId: number,
  wish: Partial<AgentLimits>,
): Promise<AgentLimits> {
  const limits = { ...NO_LIMITS, ...wish };
  const { allowedRecipients, dailyCap, senders, replyTo, linkHosts } = limits;
  if (allowedRecipients?.length === 0) {
    const detail = 'allowed_recipients must name at least one address or domain.';
    throw new Problem('invalid', detail, { at: 'rules.allowed_recipients' });
  }
  if (dailyCap !== null) await requireBelowQuota(database, accountId, dailyCap);
  return {
    ...limits,
    allowedRecipients: allowedRecipients && readEach('allowed_recipients', allowedRecipients),
    senders: senders && readEach('senders', senders, readSender),
    replyTo: replyTo && readEach('reply_to', replyTo),
    linkHosts: linkHosts && readEach('link_hosts', linkHosts, readHost),
  };
}

const readEach = (
  rule: string,
  texts: readonly string[],
  one: (text: string, at: string) => string = normaliseIdentity,
): string[] =>
  readTogether((read) => {
    const read1 = texts.map((text, index) => read(one, text, `rules.${rule}[${index}]`));
    return [...new Set(read1)];
  });

/** With the name that recipients see. */
function readSender(text: string, at: string): string {
  const mailbox = parseMailbox(text);
  if ('address' in mailbox) return formatMailbox(mailbox);
  throw new Problem('invalid', `${at}: ${text.slice(0, 100)} is not an address.`, { at });
}

function readHost(text: string, at: string): string {
  const host = text.trim().toLowerCase();
  if (URL.canParse(`https://${host}/`) && new URL(`https://${host}/`).hostname === host)
    return host;
  throw new Problem(
    'invalid',
    `${at}: "${text.slice(0, 100)}" is not a host name. Write it as shop.example.com.`,
    { at },
  );
}

async function requireBelowQuota(database: Queryable, accountId: number, cap: number) {
  const [account] = await database.query<{ plan: Plan; quota: number | null }>(
    'SELECT plan, daily_quota AS quota FROM accounts WHERE id = $1',
    [accountId],
  );
  if (account === undefined) return;
  const quota = account.quota ?? PLANS[account.plan].dailyQuota;
  if (!Number.isInteger(cap) || cap < 1 || cap >= quota) {
    throw new Problem(
      'invalid',
      `daily_cap must be a whole number, at least 1 and below the account's quota of ${quota} recipients a day, not ${cap}.`,
      { at: 'rules.daily_cap' },
    );
  }
}
