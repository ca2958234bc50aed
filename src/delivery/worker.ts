// The delivery worker: claims due mails, has each attempted, records the outcomes; stops claiming
// while the relay is down. Before: sending/batch.ts wrote the due rows. Many workers on one
// database share the work through leases (queue/leases.ts).
import { createByteBudget } from '../byte-budget.ts';
import type { Clock } from '../clock.ts';
import { createGroupCommit, isDataFault } from '../group-commit.ts';
import { showId } from '../ids.ts';
import type { Log } from '../log.ts';
import type { Metrics } from '../metrics.ts';
import { createNap } from '../nap.ts';
import {
  type Claim,
  type ClaimedMessage,
  claimDue,
  giveBackStrays,
  type Room,
} from '../queue/due.ts';
import type { Lease, Leases } from '../queue/leases.ts';
import { recurringFault } from '../recurring-fault.ts';
import type { Relay } from '../smtp/relay.ts';
import type { RelayHealth } from '../smtp/relay-health.ts';
import { isUnbegun } from '../smtp/transaction.ts';
import type { Database } from '../store/pool.ts';
import type { LeapWatch } from '../store/steady-clock.ts';
import {
  type AttemptDeps,
  attempt,
  contentGone,
  givenBack,
  heldUp,
  type Outcome,
  setAside,
  type Way,
} from './attempt.ts';
import { createInHand } from './in-hand.ts';
import { isOwnFault, type Loaded, loadGroup } from './loading.ts';
import { recordOutcomes } from './outcomes.ts';
import { EXPIRES_AFTER_MS } from './retry.ts';
import { createTurns } from './turns.ts';

const POLL_EVERY_MS = 200;
/** After something that passes, such as a database that is away. */
const AGAIN_AFTER_MS = 5_000;
/** A server that was held up does not claim any more: nobody would know of it. */
const CLAIMED_WITHIN_MS = 5_000;
/** Contents in memory at a time, over all mails in hand. */
const MOST_BYTES_IN_HAND = 64 * 1024 * 1024;
const MOST_BYTES_LOADED_TOGETHER = 4 * 1024 * 1024;
/**
 * Mails that are made at a time: signing has four threads. And those given to a relay that none of
 * its sessions has taken yet.
 */
const MADE_AT_A_TIME = 8;
const OFFERED_AHEAD = 2;
/**
 * When told to stop: what has begun gets the first, all of it together the second. Shorter than a
 * process is given (cli/serve.ts).
 */
const DIALOGUES_END_WITHIN_MS = 5_000;
const STOPS_WITHIN_MS = 8_000;

export interface WorkerDeps extends Omit<AttemptDeps, 'relay' | 'sandbox'> {
  database: Database;
  clock: Clock;
  log: Log;
  metrics: Metrics;
  relay: Relay;
  /** Where mail of sandbox-only keys goes, whatever the relay is. */
  sandbox: Relay;
  health: RelayHealth;
  leases: Leases;
  mostInHand: number;
  /** A clock that was set ahead would give up what has just been accepted. */
  leaps: LeapWatch;
  /** The database's clock, where claims must not come late. */
  databaseNowMs?: () => number;
}

export interface Worker {
  /** There may be something due, of these accounts: look now instead of at the next poll. */
  wake(accounts: ReadonlySet<number>): void;
  /**
   * Takes nothing new, finishes what has begun, gives back the rest; within eight seconds, whatever
   * hangs.
   */
  stop(): Promise<void>;
}

export async function startWorker(deps: WorkerDeps): Promise<Worker> {
  const { database, clock, log, leases } = deps;
  const couldNotLook = recurringFault(log, 'error', 'could not look for due mail');
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
  const making = createTurns(MADE_AT_A_TIME);
  const wayTo = (relay: Relay): Way => ({ relay, making, handing: createTurns(OFFERED_AHEAD) });
  const toRelay = wayTo(deps.relay);
  const toSandbox = deps.sandbox === deps.relay ? toRelay : wayTo(deps.sandbox);
  const attemptDeps: AttemptDeps = { ...deps, relay: toRelay, sandbox: toSandbox };
  const inHand = createInHand(deps.mostInHand);
  const claims = new Set<Promise<void>>();
  let lastLane = 0;
  /** The latest claim whose answer did not come. */
  let lost: { lease: Lease; sinceMs: number } | undefined;
  let stopping = false;
  let gaveUp = false;
  const { rest, wake } = createNap();

  async function run(): Promise<void> {
    while (!stopping) {
      try {
        if (deps.health.isOpen() || !(await claimSome())) await rest(POLL_EVERY_MS);
      } catch (error) {
        couldNotLook(error);
        await rest(1000);
      }
    }
  }

  async function claimSome(): Promise<boolean> {
    const lease = leases.current();
    const room = inHand.room();
    if (room === undefined || !lease.holds()) return false;
    const claim = await claimUnder(lease, room);
    if (claim === undefined) return false;
    lastLane = claim.lastLane;
    deps.leaps.note(claim.atMs);
    inHand.add(claim.rows);
    const work = handleClaim(claim).finally(() => claims.delete(work));
    claims.add(work);
    return true;
  }

  async function claimUnder(lease: Lease, room: Pick<Room, 'most' | 'full'>) {
    await findLost();
    const nowMs = deps.databaseNowMs?.();
    const doneBy = nowMs === undefined ? null : new Date(nowMs + CLAIMED_WITHIN_MS);
    try {
      return await claimDue(database, lease, { ...room, after: lastLane }, doneBy);
    } catch (error) {
      lost = { lease, sinceMs: performance.now() };
      throw error;
    }
  }

  /**
   * What the server claimed for us without our hearing of it goes back into its lane, once it can
   * claim nothing more.
   */
  async function findLost(): Promise<void> {
    if (lost === undefined || performance.now() - lost.sinceMs < CLAIMED_WITHIN_MS) return;
    const found = await giveBackStrays(database, lost.lease, inHand.all());
    lost = undefined;
    if (found > 0) log.warn({ mails: found }, 'mails were claimed without an answer; given back');
  }

  async function handleClaim(claim: Claim): Promise<void> {
    await Promise.all(groupsThatFit(claim.rows).map((group) => handleGroup(claim, group)));
  }

  async function handleGroup(claim: Claim, group: ClaimedMessage[]): Promise<void> {
    const giveBack = await memory.take(group.reduce((sum, row) => sum + row.size, 0));
    try {
      const loaded = await loadGroup(database, group, couldNotLoad);
      await Promise.all(
        loaded.map(async (one) => {
          await record(await attemptSafely(claim, one));
          inHand.remove(one.claimed);
          if (inHand.isHalfEmpty()) wake();
        }),
      );
    } finally {
      giveBack();
    }
  }

  async function attemptSafely(claim: Claim, loaded: Loaded): Promise<Outcome> {
    const { claimed, mail, suppressed, fault } = loaded;
    if (stopping) return givenBack(claimed);
    if (fault !== undefined) return judgeFault(claimed, fault, fault.message);
    if (mail === undefined) return contentGone(claimed);
    const stopClock = deps.metrics.handoff.startTimer();
    try {
      const mayBegin = () => !stopping && claim.lease.holds();
      const mayExpire = deps.leaps.isSteadyFor(EXPIRES_AFTER_MS, claim.atMs);
      const about = { claimed, mayBegin, nowMs: claim.atMs, mayExpire };
      const outcome = await attempt(attemptDeps, about, mail, suppressed);
      // What became of sandbox mail says nothing of the relay.
      if (!mail.head.sandbox) noteConnection(outcome);
      noteTrouble(outcome);
      return isToBeGivenBack(outcome) ? givenBack(claimed) : outcome;
    } catch (error) {
      const fault = error as Error;
      return judgeFault(claimed, fault, `The mail could not be made: ${fault.message}`);
    } finally {
      stopClock();
    }
  }

  function judgeFault(claimed: ClaimedMessage, fault: Error, reason: string): Outcome {
    if (!isOwnFault(fault)) return heldUp(claimed, fault, AGAIN_AFTER_MS);
    const outcome = setAside(claimed, reason);
    noteTrouble(outcome, fault);
    return outcome;
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
  }

  /**
   * The relay is down or we stop, and nothing of the mail was begun: it is due at once and has lost
   * no attempt.
   */
  function isToBeGivenBack({ handOver }: Outcome): boolean {
    if (handOver === null || !isUnbegun(handOver)) return false;
    return stopping || (handOver.connection === 'unreachable' && deps.health.isOpen());
  }

  function noteTrouble({ claimed, next, handOver }: Outcome, err?: Error): void {
    const message = showId('msg_', claimed.messageId);
    if (handOver?.recipients.some(({ result }) => result === 'unknown')) {
      deps.metrics.unknownOutcomes.inc();
      log.warn(
        { message },
        'the line was cut after the mail: nobody knows whether the relay has it',
      );
    }
    if (next.state === 'set aside') {
      deps.metrics.setAside.inc();
      log.error({ err, message, reason: next.reason }, 'a mail was set aside');
    }
  }

  /** What the relay took must be recorded: while the database is away, this waits for it. */
  async function record(outcome: Outcome): Promise<void> {
    for (let told = outcome; !gaveUp; ) {
      try {
        await recorder.add(told);
        for (const event of told.events) deps.metrics.events.inc({ kind: event.kind });
        return;
      } catch (error) {
        couldNotRecord(error);
        if (isDataFault(error)) {
          if (told !== outcome) return;
          told = setAside(outcome.claimed, `${describe(outcome)} ${(error as Error).message}`);
          noteTrouble(told, error as Error);
        } else await new Promise((resolve) => setTimeout(resolve, 1000));
      }
    }
  }

  /**
   * Ends what runs; false when something hangs, so that its rows must wait for the end of the
   * lease.
   */
  async function finish(): Promise<boolean> {
    const ended = (async () => {
      await Promise.all([
        running,
        deps.relay.close(DIALOGUES_END_WITHIN_MS),
        deps.sandbox.close(DIALOGUES_END_WITHIN_MS),
      ]);
      await Promise.all(claims);
      await recorder.drain();
      await leases.end();
    })();
    let timer: NodeJS.Timeout | undefined;
    const tooLate = new Promise<boolean>((resolve) => {
      timer = setTimeout(resolve, STOPS_WITHIN_MS, false);
    });
    try {
      return await Promise.race([ended.then(() => true), tooLate]);
    } finally {
      clearTimeout(timer);
    }
  }

  await deps.health.start();
  const running = run();
  return {
    wake(accounts) {
      if (!inHand.isHalfEmpty() && inHand.areFull(accounts)) return;
      wake();
    },
    async stop() {
      stopping = true;
      wake();
      for (const turns of [making, toRelay.handing, toSandbox.handing]) turns.close();
      deps.relay.stopTaking();
      deps.sandbox.stopTaking();
      if (await finish().catch(() => false)) return;
      gaveUp = true;
      leases.abandon();
      log.error(
        { mails: inHand.count() },
        'stopped before everything was recorded; these mails are tried again when the lease ends',
      );
    },
  };
}

/** For a person who decides whether the mail goes out again. */
function describe({ handOver }: Outcome): string {
  const taken = handOver?.recipients.filter(({ result }) => result === 'accepted') ?? [];
  return taken.length === 0
    ? 'What became of it could not be recorded:'
    : `The relay took it for ${taken.map((it) => it.recipient).join(', ')}, which could not be recorded:`;
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
