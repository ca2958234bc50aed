// The delivery worker: claims due mails, has each attempted, records the outcomes; stops claiming while the relay is down.
// Before: sending/batch.ts wrote the due rows. Many workers on one database share the work through leases.
import { createByteBudget } from '../byte-budget.ts';
import type { Clock } from '../clock.ts';
import { createGroupCommit, isDataFault } from '../group-commit.ts';
import { bytesToUuid, showId } from '../ids.ts';
import type { Log } from '../log.ts';
import type { Metrics } from '../metrics.ts';
import { createNap } from '../nap.ts';
import {
  type Claim,
  type ClaimedMessage,
  claimDue,
  extendLease,
  releaseUnbegun,
} from '../queue/due.ts';
import { recurringFault } from '../recurring-fault.ts';
import type { Database } from '../store/pool.ts';
import { suppressedAmong } from '../suppressions/suppressions.ts';
import { type AttemptDeps, attempt, contentGone, type Outcome } from './attempt.ts';
import { recordOutcomes } from './outcomes.ts';
import type { Relay } from './relay.ts';
import type { RelayHealth } from './relay-health.ts';
import { nextAttemptDelayMs } from './retry.ts';
import { loadMails, type StoredMail } from './stored-mail.ts';

const POLL_EVERY_MS = 200;
const LEASE_MS = 120_000;
const EXTEND_EVERY_MS = 40_000;
/** Contents in memory at a time, over all mails in hand. */
const MOST_BYTES_IN_HAND = 64 * 1024 * 1024;
const MOST_BYTES_LOADED_TOGETHER = 4 * 1024 * 1024;

export interface WorkerDeps extends Omit<AttemptDeps, 'relay'> {
  database: Database;
  clock: Clock;
  log: Log;
  metrics: Metrics;
  relay: Relay;
  health: RelayHealth;
  mostInHand: number;
}

export interface Worker {
  /** There may be something due: look now instead of at the next poll. */
  wake(): void;
  /** Takes nothing new, finishes what is in hand, gives back the rest. */
  stop(): Promise<void>;
}

export async function startWorker(deps: WorkerDeps): Promise<Worker> {
  const { database, clock, log } = deps;
  const couldNotLook = recurringFault(log, 'error', 'could not look for due mail');
  const couldNotExtend = recurringFault(log, 'warn', 'could not extend a lease');
  const couldNotLoad = recurringFault(log, 'error', 'could not load claimed mail');
  const couldNotRecord = recurringFault(log, 'error', 'could not record what became of a mail');
  const memory = createByteBudget(MOST_BYTES_IN_HAND);
  const recorder = createGroupCommit<Outcome, void>({
    mostInFlight: 2,
    mostItems: 256,
    write: async (outcomes) => {
      await recordOutcomes(database, outcomes, clock.nowMs());
      return outcomes.map(() => undefined);
    },
  });
  const claims = new Set<Promise<void>>();
  let inHand = 0;
  let stopping = false;
  const { rest, wake } = createNap();

  async function run(): Promise<void> {
    while (!stopping) {
      try {
        if (deps.health.isOpen()) {
          await deps.health.probeAgain();
          await rest(POLL_EVERY_MS);
        } else if (inHand > deps.mostInHand / 2 || !(await claimSome())) await rest(POLL_EVERY_MS);
      } catch (error) {
        couldNotLook(error);
        await rest(1000);
      }
    }
  }

  async function claimSome(): Promise<boolean> {
    const claim = await claimDue(database, clock.nowMs(), {
      limit: deps.mostInHand - inHand,
      leaseMs: LEASE_MS,
    });
    if (claim.rows.length === 0) return false;
    inHand += claim.rows.length;
    const work = handleClaim(claim).finally(() => claims.delete(work));
    claims.add(work);
    return true;
  }

  async function handleClaim(claim: Claim): Promise<void> {
    const extending = setInterval(() => {
      extendLease(database, clock.nowMs(), claim.lease, LEASE_MS).catch(couldNotExtend);
    }, EXTEND_EVERY_MS);
    try {
      await Promise.all(groupsThatFit(claim.rows).map((group) => handleGroup(claim.lease, group)));
    } finally {
      clearInterval(extending);
    }
  }

  async function handleGroup(lease: string, group: ClaimedMessage[]): Promise<void> {
    const giveBack = await memory.take(group.reduce((sum, row) => sum + row.size, 0));
    try {
      if (stopping) {
        await releaseUnbegun(database, clock.nowMs(), lease, group);
        return;
      }
      const mails = await loadMails(database, group);
      const suppressed = await suppressedAmong(database, recipientsOf(group, mails));
      await Promise.all(
        group.map(async (claimed) => {
          await record(await attemptSafely(claimed, mails, suppressed));
          inHand--;
          wake();
        }),
      );
    } catch (error) {
      // Nothing was handed over; the lease ends by itself and the mails are tried again.
      couldNotLoad(error);
      inHand -= group.length;
    } finally {
      giveBack();
    }
  }

  async function attemptSafely(
    claimed: ClaimedMessage,
    mails: Map<string, StoredMail>,
    suppressed: Set<string>,
  ): Promise<Outcome> {
    const mail = mails.get(bytesToUuid(claimed.messageId));
    if (mail === undefined) return contentGone(claimed);
    const stopClock = deps.metrics.handoff.startTimer();
    try {
      const outcome = await attempt(deps, claimed, mail, suppressed, clock.nowMs());
      // What became of sandbox mail says nothing of the relay.
      if (!mail.head.sandbox) noteConnection(outcome);
      return outcome;
    } catch (error) {
      log.error({ err: error, message: showId('msg_', claimed.messageId) }, 'an attempt failed');
      return putOff(claimed, mail, error as Error);
    } finally {
      stopClock();
    }
  }

  function noteConnection({ handOver, claimed }: Outcome): void {
    if (handOver === null) return;
    const outcome = handOver.connection === 'ok' ? 'talked' : handOver.connection;
    deps.metrics.handoffs.inc({ outcome });
    log.info(
      {
        account: claimed.accountId,
        message: showId('msg_', claimed.messageId),
        attempt: claimed.attempts,
        response: handOver.response || handOver.fault?.text,
      },
      handOver.connection === 'ok' ? 'handed over' : 'not handed over',
    );
    deps.health.note(handOver);
  }

  /** What the relay took must be recorded: while the database is away, this waits for it. */
  async function record(outcome: Outcome): Promise<void> {
    for (;;) {
      try {
        await recorder.add(outcome);
        for (const event of outcome.events) deps.metrics.events.inc({ kind: event.kind });
        return;
      } catch (error) {
        couldNotRecord(error);
        if (isDataFault(error)) return;
        await new Promise((resolve) => setTimeout(resolve, 1000));
      }
    }
  }

  await deps.health.firstProbe();
  const running = run();
  return {
    wake,
    async stop() {
      stopping = true;
      wake();
      await running;
      await Promise.all(claims);
      await recorder.drain();
    },
  };
}

function groupsThatFit(rows: ClaimedMessage[]): ClaimedMessage[][] {
  const groups: ClaimedMessage[][] = [];
  let bytes = Number.POSITIVE_INFINITY;
  for (const row of rows) {
    bytes += row.size;
    if (bytes > MOST_BYTES_LOADED_TOGETHER) {
      groups.push([]);
      bytes = row.size;
    }
    groups.at(-1)!.push(row);
  }
  return groups;
}

function recipientsOf(group: ClaimedMessage[], mails: Map<string, StoredMail>) {
  return group.flatMap((claimed) =>
    (claimed.remaining ?? mails.get(bytesToUuid(claimed.messageId))?.recipients ?? []).map(
      (address) => ({ accountId: claimed.accountId, address }),
    ),
  );
}

function putOff(claimed: ClaimedMessage, mail: StoredMail, error: Error): Outcome {
  return {
    claimed,
    events: [],
    handOver: null,
    retry: {
      afterMs: nextAttemptDelayMs(claimed.attempts),
      remaining: claimed.remaining ?? mail.recipients,
      response: error.message,
    },
  };
}
