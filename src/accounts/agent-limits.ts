// Agent limits: rules one API key can carry, so that it is safe to hand to a program that decides
// by itself. Set when the key is made; asked by sending/accept.ts for every door; the daily cap is
// counted in accept_sends (SQL).
import { addressKey } from '../addresses.ts';
import { Problem } from '../errors.ts';
import type { Queryable } from '../store/pool.ts';
import { normaliseIdentity } from './identities.ts';
import { PLANS, type Plan } from './plans.ts';

export interface AgentLimits {
  /** Addresses and domains, normalised; null: anybody. A domain does not cover its subdomains. */
  allowedRecipients: readonly string[] | null;
  /** The words come from a template: no subject, html, text or attachments of the caller's own. */
  templatesOnly: boolean;
  noBcc: boolean;
  /** Recipients a UTC day; null: only the account's quota counts. */
  dailyCap: number | null;
  /** Mail of this key goes to the sandbox relay and never leaves. */
  sandboxOnly: boolean;
}

const NO_LIMITS: AgentLimits = {
  allowedRecipients: null,
  templatesOnly: false,
  noBcc: false,
  dailyCap: null,
  sandboxOnly: false,
};

export const LIMIT_COLUMNS = `allowed_recipients AS "allowedRecipients", templates_only AS "templatesOnly",
  no_bcc AS "noBcc", daily_cap AS "dailyCap", sandbox_only AS "sandboxOnly"`;

/** Null for a key without limits, so that its sends are asked nothing. */
export function limitsOf(row: AgentLimits): AgentLimits | null {
  const { allowedRecipients, templatesOnly, noBcc, dailyCap, sandboxOnly } = row;
  const limited =
    allowedRecipients !== null || templatesOnly || noBcc || dailyCap !== null || sandboxOnly;
  return limited ? { allowedRecipients, templatesOnly, noBcc, dailyCap, sandboxOnly } : null;
}

/**
 * Limits as somebody wished for them, checked: addresses normalised, the cap below the account's
 * quota.
 */
export async function readLimits(
  database: Queryable,
  accountId: number,
  wish: Partial<AgentLimits>,
): Promise<AgentLimits> {
  const limits = { ...NO_LIMITS, ...wish };
  const { allowedRecipients, dailyCap } = limits;
  if (allowedRecipients?.length === 0) {
    throw new Problem('invalid', 'allowed_recipients must name at least one address or domain.');
  }
  if (dailyCap !== null) await requireBelowQuota(database, accountId, dailyCap);
  return {
    ...limits,
    allowedRecipients: allowedRecipients && [...new Set(allowedRecipients.map(normaliseIdentity))],
  };
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
      `daily_cap must be a whole number from 1 to below the account's quota of ${quota} recipients a day, not ${cap}.`,
    );
  }
}

/** What the rules look at: the checked envelope and the request as it was written. */
export interface LimitedSend {
  envelope: readonly string[];
  request: { template?: unknown; bcc?: readonly string[] | undefined };
}

const OWN_WORDS = ['subject', 'html', 'text', 'attachments'] as const;

/**
 * Throws the Problem that names the rule a send breaks. The daily cap is judged later, where it is
 * counted.
 */
export function checkLimits(limits: AgentLimits, { envelope, request }: LimitedSend): void {
  if (limits.allowedRecipients !== null) checkRecipients(limits.allowedRecipients, envelope);
  if (limits.noBcc && request.bcc !== undefined && request.bcc.length > 0) {
    throw broken('no_bcc', 'this API key may not send hidden copies. Leave bcc out.');
  }
  if (limits.templatesOnly) {
    if (request.template === undefined) {
      throw broken('templates_only', 'this API key may only send templates. Name a template.');
    }
    const own = OWN_WORDS.find(
      (field) => (request as Record<string, unknown>)[field] !== undefined,
    );
    if (own !== undefined) {
      throw broken(
        'templates_only',
        `this API key may only send what a template says. Leave ${own} out and fill the template's variables.`,
      );
    }
  }
}

function checkRecipients(allowed: readonly string[], envelope: readonly string[]): void {
  const refused = envelope.find((address) => {
    const key = addressKey(address);
    return !allowed.includes(key) && !allowed.includes(key.slice(key.lastIndexOf('@') + 1));
  });
  if (refused === undefined) return;
  const shown = allowed.slice(0, 10).join(', ');
  const more = allowed.length > 10 ? ` and ${allowed.length - 10} more` : '';
  throw broken(
    'allowed_recipients',
    `this API key may not write to ${refused}. It may write to ${shown}${more}.`,
  );
}

export function overCap(cap: number, left: number, retryAfterSeconds: number): Problem {
  return broken(
    'daily_cap',
    `this API key may write to ${cap} recipients a day and has ${Math.max(0, left)} left (to, cc and bcc count). It starts anew at 00:00 UTC, in ${retryAfterSeconds} seconds.`,
  );
}

const broken = (rule: string, detail: string): Problem =>
  new Problem('forbidden', `The rule ${rule} of this key: ${detail}`);
