// Pauses: an account whose email bounces or is complained about too often may not send until an
// operator resumes it. Its keys still read and its people still sign in; what it has queued is held
// (claim_due). Limits are the operator's (config).

import { Problem } from '../errors.ts';
import { firstUuidAt } from '../ids.ts';
import type { Clock } from '../process/clock.ts';
import type { Log } from '../process/log.ts';
import { recurringFault } from '../process/recurring-fault.ts';
import { repeatedly } from '../process/repeatedly.ts';
import type { Database, Queryable } from '../store/pool.ts';
import { asSentence } from './suspension.ts';

export interface PauseLimits {
  /** Of recipients, in percent; undefined: off. */
  bouncePercent: number | undefined;
  complaintPercent: number | undefined;
  /** With fewer recipients, a rate says little. */
  fewest: number;
}

export interface Pause {
  at: string;
  reason: string;
}

const WINDOW_MS = 24 * 3_600_000;
const EVERY_MS = 60_000;

export async function pauseAccount(
  database: Queryable,
  accountId: number,
  reason: string,
): Promise<void> {
  const rows = await database.query(
    `UPDATE accounts SET paused_at = least(paused_at, now()), paused_reason = $2, version = version + 1
     WHERE id = $1 RETURNING id`,
    [accountId, reason.trim()],
  );
  if (rows.length === 0) throw new Problem('not-found', `There is no account ${accountId}.`);
}

/** By account; those that are not paused are not among them. */
export async function listPauses(
  database: Queryable,
  accountId?: number,
): Promise<Map<number, Pause>> {
  const rows = await database.query<{ id: number; at: Date; reason: string }>(
    `SELECT id, paused_at AS at, paused_reason AS reason FROM accounts
     WHERE paused_at IS NOT NULL AND ($1::bigint IS NULL OR id = $1) ORDER BY id`,
    [accountId ?? null],
  );
  return new Map(rows.map(({ id, at, reason }) => [id, { at: at.toISOString(), reason }]));
}

export const pausedProblem = (reason: string): Problem =>
  new Problem(
    'forbidden',
    `This account is paused and may not send: ${asSentence(reason)} Write to the operator of this service, who can resume it.`,
  );

interface Tally {
  accountId: number;
  since: string;
  bounced: number;
  complained: number;
}

/**
 * Pauses the accounts over the limits and returns them. What was sent before the last resume does
 * not count.
 */
export async function pauseOverLimits(
  database: Database,
  limits: PauseLimits,
  nowMs: number,
): Promise<{ accountId: number; reason: string }[]> {
  const paused = [];
  for (const tally of await tallyOutcomes(database, nowMs)) {
    // Bounces and complaints are few and indexed; how much was sent is counted only where it can
    // matter.
    const least = (percent: number | undefined) => ((percent ?? Infinity) / 100) * limits.fewest;
    const canMatter =
      tally.bounced > least(limits.bouncePercent) ||
      tally.complained > least(limits.complaintPercent);
    if (!canMatter) continue;
    const reason = judge(tally, await countRecipients(database, tally), limits);
    if (reason === undefined) continue;
    await pauseAccount(database, tally.accountId, reason);
    paused.push({ accountId: tally.accountId, reason });
  }
  return paused;
}

function judge(tally: Tally, recipients: number, limits: PauseLimits): string | undefined {
  if (recipients < limits.fewest) return undefined;
  const shares = [
    { what: 'bounced permanently', count: tally.bounced, limit: limits.bouncePercent },
    { what: 'complained', count: tally.complained, limit: limits.complaintPercent },
  ];
  for (const { what, count, limit } of shares) {
    const percent = (100 * count) / recipients;
    if (limit !== undefined && percent > limit) {
      return `${count} of ${recipients} recipients within 24 hours ${what}: ${percent.toFixed(1)} %, and the limit is ${limit} %`;
    }
  }
  return undefined;
}

/**
 * Permanent bounces and complaints, each recipient of a message once: whoever has a copy can make
 * up any number of reports about it. Suppressed recipients do not count, because nothing was sent
 * to them.
 */
async function tallyOutcomes(database: Database, nowMs: number): Promise<Tally[]> {
  const floor = firstUuidAt(nowMs - WINDOW_MS);
  const copies = 'count(DISTINCT message_id::text || address)';
  return await database.query<Tally>(
    `SELECT account_id AS "accountId", since, (${copies} FILTER (WHERE kind = 'bounced'))::int AS bounced,
            (${copies} FILTER (WHERE kind = 'complained'))::int AS complained
     FROM (
       SELECT w.account_id, w.since, e.kind, e.message_id, unnest(e.recipients) AS address
       FROM (SELECT a.id AS account_id, greatest($1::uuid,
                    (lpad(to_hex(trunc(extract(epoch FROM a.resumed_at) * 1000)::bigint), 12, '0') || repeat('0', 20))::uuid) AS since
             FROM accounts a JOIN account_usage u ON u.account_id = a.id
             WHERE a.paused_at IS NULL AND u.day >= $2::date) w
       JOIN events e ON e.account_id = w.account_id AND e.kind IN ('bounced', 'complained')
         AND (e.kind = 'complained' OR e.detail->>'bounce_type' = 'permanent')
         AND e.message_id >= $1 AND e.message_id >= w.since
       JOIN messages m ON m.account_id = e.account_id AND m.id = e.message_id AND m.id >= $1 AND ${REAL}
     ) reported
     GROUP BY 1, 2`,
    [floor, new Date(nowMs - WINDOW_MS).toISOString().slice(0, 10)],
  );
}

async function countRecipients(database: Database, { accountId, since }: Tally): Promise<number> {
  const [row] = await database.query<{ recipients: number | null }>(
    `SELECT sum(cardinality(m.recipients))::int AS recipients FROM messages m
     WHERE m.account_id = $1 AND m.id >= $2 AND m.status <> 'queued' AND ${REAL}`,
    [accountId, since],
  );
  return row?.recipients ?? 0;
}

/** What test keys sent reached nobody, so it affects no rate. */
const REAL = `NOT EXISTS (SELECT FROM api_keys k
  WHERE k.account_id = m.account_id AND k.id = m.key_id AND k.sandbox_only)`;

/** Runs at once and then every minute; does nothing if no limit is set. */
export async function watchRates(deps: {
  database: Database;
  clock: Clock;
  log: Log;
  limits: PauseLimits;
}): Promise<{ close(): Promise<void> }> {
  const { database, clock, log, limits } = deps;
  if (limits.bouncePercent === undefined && limits.complaintPercent === undefined) {
    return { close: async () => undefined };
  }
  const couldNotLook = recurringFault(log, 'warn', 'could not look at bounces and complaints');
  const look = async () => {
    for (const paused of await pauseOverLimits(database, limits, clock.nowMs())) {
      log.warn({ account: paused.accountId, why: paused.reason }, 'an account is paused');
    }
  };
  await look();
  const looking = repeatedly(EVERY_MS, look, couldNotLook);
  return { close: looking.stop };
}
