// Maintenance: creates partitions ahead and drops old ones; deletes expired idempotency keys,
// sandbox emails, kept reports and sessions; indexes finished days for searching; checks domains
// once a day. Every process runs it; each step is safe to run anywhere at any time and does nothing
// if another process has just done it.
import type { Dns } from '../accounts/dns.ts';
import { recheckDomains } from '../accounts/domains.ts';
import { pruneNotices } from '../accounts/notices.ts';
import { lapseApprovals, pruneApprovals } from '../approvals/approvals.ts';
import { pruneAttempts } from '../events/attempts.ts';
import { pruneKept } from '../feedback/kept.ts';
import { pruneNonces } from '../feedback/provider-nonces.ts';
import { pruneProbes } from '../feedback/return-path-probes.ts';
import { pruneHours } from '../messages/kept-hours.ts';
import { pruneReceivers } from '../messages/receivers.ts';
import { pruneByAccount } from '../messages/retention.ts';
import { indexFinishedDays, indexGrowingDay } from '../messages/search-index.ts';
import { pruneChallenges } from '../people/challenges.ts';
import { pruneInvitations } from '../people/invitations.ts';
import { pruneSessions } from '../people/sessions.ts';
import { prunePlaces } from '../people/sign-in-places.ts';
import { pruneTries } from '../people/sign-in-throttle.ts';
import type { Clock } from '../process/clock.ts';
import { isPassing } from '../process/connection-fault.ts';
import type { Log } from '../process/log.ts';
import { pruneRelayUsage } from '../relays/limits.ts';
import { pruneCaptured } from '../sandbox/inbox.ts';
import { pruneSecrets } from '../store/installation.ts';
import { dropOldPartitions, makePartitions, type Retention } from '../store/partitions.ts';
import type { Database } from '../store/pool.ts';
import { pruneProcesses } from '../store/processes.ts';
import { type ClockHistory, noteRun } from '../store/steady-clock.ts';
import { pruneStrikes } from '../suppressions/strikes.ts';
import { pruneDue } from '../webhooks/leases.ts';

const EVERY_MS = 10 * 60_000;
/** A day of a million grows by 700 messages a minute. */
const SLICE_EVERY_MS = 60_000;

export interface MaintenanceDeps {
  database: Database;
  clock: Clock;
  log: Log;
  retention: Retention;
  dns: Dns;
  bounceDomain: string;
  probeReturnPath: (of: { accountId: number; domain: string }) => Promise<void>;
}

export async function runMaintenance(deps: MaintenanceDeps): Promise<void> {
  const { database, clock } = deps;
  await makePartitions(database, clock.nowMs());
  await dropWhatIsPast(deps);
  await database.query(
    `DELETE FROM idempotency_keys WHERE created_at < now() - interval '24 hours'
       AND extract(epoch FROM now() - created_at) > kept_seconds`,
  );
  await database.query(`DELETE FROM delivery_processes WHERE seen_at < now() - interval '1 hour'`);
  await pruneCaptured(database);
  await pruneSessions(database);
  await pruneSecrets(database);
  await pruneProcesses(database);
  await pruneTries(database);
  await pruneChallenges(database);
  await prunePlaces(database);
  await pruneNotices(database);
  await pruneInvitations(database);
  await pruneStrikes(database);
  await pruneRelayUsage(database);
  await pruneNonces(database);
  await pruneProbes(database);
  await lapseApprovals(database);
}

/** What cannot be restored is deleted only while the clock is steady. */
async function dropWhatIsPast({ database, clock, log, retention }: MaintenanceDeps): Promise<void> {
  const nowMs = clock.nowMs();
  const history = await noteRun(database, nowMs);
  if (history.jumpedNow) warnOfJump(log, history);
  if (!history.steady) return;
  const dropped = await dropOldPartitions(database, nowMs, retention);
  if (dropped.length > 0) log.info({ tables: dropped }, 'dropped partitions past their retention');
  await pruneKept(database);
  await pruneAttempts(database, retention.retentionDays);
  await pruneDue(database, nowMs, retention.retentionDays);
  await pruneHours(database, retention.retentionDays);
  await pruneReceivers(database, retention.retentionDays);
  await pruneApprovals(database, retention.retentionDays);
  await pruneByAccount(database, nowMs);
}

function warnOfJump(log: Log, { jump, trustedFrom }: ClockHistory): void {
  log.warn(
    { ...jump, nothingIsDroppedBefore: trustedFrom },
    'the clock jumped, or the service was off for a long time; old data is kept for a week in case the clock is wrong',
  );
}

/** Not part of starting: DNS servers may be slow. */
async function checkDomains(deps: MaintenanceDeps, stopped: () => boolean): Promise<void> {
  const checked = await recheckDomains({ ...deps, stopped });
  for (const domain of checked) {
    if (domain.verified && domain.findings?.every((finding) => finding.ok)) continue;
    deps.log.warn(
      {
        account: domain.accountId,
        domain: domain.domain,
        verified: domain.verified,
        missing: domain.findings?.filter((it) => !it.ok).map((it) => it.purpose),
      },
      'a domain lacks DNS records',
    );
  }
  // There may be more: after a change of relays, all domains are due at once.
  if (checked.length > 0) await checkDomains(deps, stopped);
}

/**
 * The first run is part of starting. A locked table or a node that is away does not prevent the
 * start: missing partitions are created when they are needed.
 */
export async function startMaintenance(
  deps: MaintenanceDeps,
): Promise<{ checkDomains: () => void; stop: () => Promise<void> }> {
  await runMaintenance(deps).catch((error) => {
    if (!isPassing(error)) throw error;
    deps.log.warn({ err: error }, 'maintenance has to wait');
  });
  let running: Promise<void> | undefined;
  let stopped = false;
  let slicing: Promise<void> | undefined;
  const slicer = setInterval(() => {
    slicing ??= indexGrowingDay({ ...deps, nowMs: deps.clock.nowMs() })
      .catch((error) => deps.log.error({ err: error }, 'could not index today for searching'))
      .finally(() => {
        slicing = undefined;
      });
  }, SLICE_EVERY_MS);
  /** One after the other: the second check sees what became due after the first. */
  let checking: Promise<void> = Promise.resolve();
  const checkDue = (): Promise<void> => {
    checking = checking.catch(() => undefined).then(() => checkDomains(deps, () => stopped));
    return checking;
  };
  const timer = setInterval(() => {
    running ??= runMaintenance(deps)
      .then(() => indexFinishedDays({ ...deps, nowMs: deps.clock.nowMs() }))
      .then(checkDue)
      .catch((error) => deps.log.error({ err: error }, 'maintenance failed'))
      .finally(() => {
        running = undefined;
      });
  }, EVERY_MS);
  return {
    /** Checks those that are due, without waiting for the next run. */
    checkDomains() {
      checkDue().catch((error) => deps.log.error({ err: error }, 'could not check domains'));
    },
    async stop() {
      stopped = true;
      clearInterval(timer);
      clearInterval(slicer);
      await Promise.all([running, slicing, checking.catch(() => undefined)]);
    },
  };
}
