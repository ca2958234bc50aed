// The delivery worker: claims due emails, attempts each, records the outcomes; stops claiming while
// no relay can take email. Before: sending/batch.ts wrote the due rows. Many workers on one
// database share the work through leases (queue/leases.ts).
import { setImmediate as othersTurn } from 'node:timers/promises';
import { createByteBudget } from '../bytes/byte-budget.ts';
import { relaysOfLastAttempt } from '../events/attempts.ts';
import { bytesToUuid, showId } from '../ids.ts';
import type { MakingDeps } from '../mail/making.ts';
import type { Clock } from '../process/clock.ts';
import { createGroupCommit, isDataFault } from '../process/group-commit.ts';
import type { Log } from '../process/log.ts';
import type { Metrics } from '../process/metrics.ts';
import { createNap, type Nap } from '../process/nap.ts';
import { recurringFault } from '../process/recurring-fault.ts';
import {
  type Claim,
  type ClaimedMessage,
  claimCaptured,
  claimDue,
  giveBackStrays,
  type Room,
} from '../queue/due.ts';
import type { Lease, Leases } from '../queue/leases.ts';
import type { Fleet } from '../relays/fleet.ts';
import type { Relay } from '../smtp/relay.ts';
import { isUnbegun } from '../smtp/transaction.ts';
import { byShard } from '../store/places.ts';
import type { Database, Node } from '../store/pool.ts';
import type { LeapWatch } from '../store/steady-clock.ts';
import {
  type AttemptDeps,
  attempt,
  contentGone,
  givenBack,
  heldUp,
  type Outcome,
  setAside,
} from './attempt.ts';
import { openSandboxWay, openWays } from './handing.ts';
import { createInHand } from './in-hand.ts';
import { isOwnFault, type Loaded, loadGroup } from './loading.ts';
import { recordOutcomes } from './outcomes.ts';
import { EXPIRES_AFTER_MS } from './retry.ts';
import { createTurns } from './turns.ts';

const POLL_EVERY_MS = 200;
/** After a temporary fault, such as an unreachable database. */
const AGAIN_AFTER_MS = 5_000;
/** A server that is delayed longer than this claims nothing: nobody would receive the answer. */
const CLAIMED_WITHIN_MS = 5_000;
/** Contents in memory at a time, for all claimed emails. */
const MOST_BYTES_IN_HAND = 64 * 1024 * 1024;
const MOST_BYTES_LOADED_TOGETHER = 4 * 1024 * 1024;
/** Emails composed at a time: signing has four threads. */
const MADE_AT_A_TIME = 8;
const MADE_IN_A_TURN = 2;
/**
 * Claimed emails for every connection that the relays may have. A claim of 128 and loading it cost
 * each email two thirds of what a claim of 64 does.
 */
const IN_HAND_PER_CONNECTION = 32;
/** Two small records cost the server twice as much as one larger record. */
const WORTH_ANOTHER_RECORD = 32;
/**
 * A record of 14 costs nearly as much as one of 64; with 128 each outcome costs a quarter less than
 * with 64. A lone email waits for nobody. On Citus a record covers one shard, and most of its cost
 * is planning: it waits for more.
 */
const RECORDED_TOGETHER = 128;
const RECORDED_WITHIN_MS = 30;
const RECORDED_ON_CITUS_WITHIN_MS = 200;
/**
 * On stop, dialogues that have begun get the first time, everything together the second. Shorter
 * than the time a process gets (cli/serve.ts).
 */
const DIALOGUES_END_WITHIN_MS = 5_000;
const STOPS_WITHIN_MS = 8_000;

export interface WorkerDeps extends MakingDeps {
  database: Database;
  clock: Clock;
  log: Log;
  metrics: Metrics;
  fleet: Fleet;
  /** Where email of sandbox-only keys goes, whatever the relays are. */
  sandbox: Relay;
  leases: Leases;
  /** A clock that was set forward would expire what has just been accepted. */
  leaps: LeapWatch;
  /** The database's clock, if claims must not come late. */
  databaseNowMs?: () => number;
}

export interface Worker {
  /** These accounts may have something due: look now instead of at the next poll. */
  wake(accounts: ReadonlySet<number>): void;
  /** Whether any of its relays can. */
  canTake(): boolean;
  /**
   * Takes nothing new, finishes what has begun and gives back the rest; within eight seconds, even
   * if something hangs.
   */
  stop(): Promise<void>;
}

/**
 * The rounds over the lanes of one node. A node that is away or slow does not hold up the others.
 */
interface Looker extends Nap {
  database: Database;
  lastLane: number;
  /** Its last round may have left something ready: it looks again as soon as there is room. */
  leftSome: boolean;
  /** The latest claim whose answer was lost. */
  lost?: { lease: Lease; sinceMs: number } | undefined;
}

export async function startWorker(deps: WorkerDeps): Promise<Worker> {
  const { database, clock, log, leases, fleet, metrics } = deps;
  const couldNotLook = recurringFault(log, 'error', 'could not look for due email');
  const couldNotLoad = recurringFault(log, 'error', 'could not load claimed email');
  const couldNotRecord = recurringFault(log, 'error', 'could not record what happened to an email');
  const memory = createByteBudget(MOST_BYTES_IN_HAND);
  const recorder = createGroupCommit<Outcome, void>({
    mostInFlight: 2,
    worthAnother: WORTH_ANOTHER_RECORD,
    company: {
      items: RECORDED_TOGETHER,
      withinMs: () =>
        database.home([]) === null ? RECORDED_WITHIN_MS : RECORDED_ON_CITUS_WITHIN_MS,
      moreToCome: (_, { claimed }) => inHand.triesBeside(claimed.accountId),
    },
    mostItems: 256,
    apart: ({ claimed }) => database.shardOf(claimed.accountId),
    write: async (outcomes) => {
      await recordOutcomes(database, outcomes, clock.nowMs());
      return outcomes.map(() => undefined);
    },
  });
  const making = createTurns(MADE_AT_A_TIME);
  const ways = openWays({ fleet, log, metrics });
  const sandboxWay = openSandboxWay(deps.sandbox);
  const attemptDeps: AttemptDeps = {
    ...{ ...deps, making, ways, sandboxWay },
    earlierRelays: async ({ accountId, messageId }) =>
      fleet.members().length <= 1
        ? new Map()
        : await relaysOfLastAttempt(database, accountId, bytesToUuid(messageId)),
  };
  const inHand = createInHand(
    () => Math.max(1, fleet.connections()) * IN_HAND_PER_CONNECTION,
    database.shardOf,
  );
  const claims = new Set<Promise<void>>();
  const lookers = new Map<string, Looker>();
  const rounds = new Set<Promise<void>>();
  let stopping = false;
  let gaveUp = false;
  const untilStopped = createNap();

  /** Nodes come and go, and all of them come when the database is distributed. */
  async function run(): Promise<void> {
    while (!stopping) {
      for (const node of database.nodes()) if (!lookers.has(node.name)) startLooking(node);
      await untilStopped.rest(POLL_EVERY_MS);
    }
    await Promise.all(rounds);
  }

  function startLooking({ name, database }: Node): void {
    const looker = { ...createNap(), database, lastLane: 0, leftSome: true };
    lookers.set(name, looker);
    const looking = look(name, looker).finally(() => rounds.delete(looking));
    rounds.add(looking);
  }

  async function look(name: string, looker: Looker): Promise<void> {
    while (!stopping && database.nodes().some((node) => node.name === name)) {
      try {
        if (!(await claimSome(looker))) await looker.rest(POLL_EVERY_MS);
      } catch (error) {
        couldNotLook(error);
        await looker.rest(1000);
      }
    }
    lookers.delete(name);
  }

  /** Returns whether another round is worth it at once. */
  async function claimSome(looker: Looker): Promise<boolean> {
    const lease = leases.current();
    const room = inHand.room();
    if (room === undefined) looker.leftSome = true;
    if (room === undefined || !lease.holds()) return false;
    const claim = await claimUnder(looker, lease, room);
    looker.leftSome = room.full.length > 0 || (claim?.leftSome ?? false);
    if (claim === undefined) return false;
    looker.lastLane = claim.lastLane;
    deps.leaps.note(claim.atMs);
    inHand.add(claim.rows);
    const work = handleClaim(claim).finally(() => claims.delete(work));
    claims.add(work);
    return claim.leftRoom;
  }

  async function claimUnder(looker: Looker, lease: Lease, room: Pick<Room, 'most' | 'full'>) {
    await findLost(looker);
    const nowMs = deps.databaseNowMs?.();
    const doneBy = nowMs === undefined ? null : new Date(nowMs + CLAIMED_WITHIN_MS);
    try {
      const { database, lastLane } = looker;
      const claim = fleet.canTake() ? claimDue : claimCaptured;
      return await claim(database, lease, { ...room, after: lastLane }, doneBy);
    } catch (error) {
      looker.lost = { lease, sinceMs: performance.now() };
      throw error;
    }
  }

  /**
   * What the server claimed for us without an answer reaching us goes back into its lane, once that
   * statement can claim nothing more.
   */
  async function findLost(looker: Looker): Promise<void> {
    const { database, lost } = looker;
    if (lost === undefined || performance.now() - lost.sinceMs < CLAIMED_WITHIN_MS) return;
    const found = await giveBackStrays(database, lost.lease, inHand.all());
    looker.lost = undefined;
    if (found > 0) log.warn({ emails: found }, 'emails were claimed without an answer; given back');
  }

  async function handleClaim(claim: Claim): Promise<void> {
    const groups = byShard(database, claim.rows, ({ accountId }) => accountId).flatMap(
      groupsThatFit,
    );
    await Promise.all(groups.map((group) => handleGroup(claim, group)));
  }

  async function handleGroup(claim: Claim, group: ClaimedMessage[]): Promise<void> {
    const giveBack = await memory.take(group.reduce((sum, row) => sum + row.size, 0));
    try {
      const begun: Promise<void>[] = [];
      for (const loaded of await loadGroup(database, group, couldNotLoad)) {
        // An email that arrives in the meantime needs the event loop eight times before the relay
        // has it: each time it waits for two of these, not for a whole claim.
        if (begun.length > 0 && begun.length % MADE_IN_A_TURN === 0) await othersTurn();
        begun.push(handle(claim, loaded));
      }
      await Promise.all(begun);
    } finally {
      giveBack();
    }
  }

  async function handle(claim: Claim, loaded: Loaded): Promise<void> {
    const { claimed } = loaded;
    const outcome = await attemptSafely(claim, loaded);
    inHand.tried(claimed);
    lookAgainIfThereIsRoom();
    await record(outcome);
    inHand.remove(claimed);
    lookAgainIfThereIsRoom();
    if (claimed.laneIsLimited && inHand.isHalfEmpty()) wakeFor([claimed.accountId]);
  }

  function lookAgainIfThereIsRoom(): void {
    if (!inHand.isHalfEmpty()) return;
    for (const looker of lookers.values()) if (looker.leftSome) looker.wake();
  }

  /** Those that look where the accounts are. */
  function wakeFor(accounts: Iterable<number>): void {
    const nodes = new Set([...accounts].map(database.near));
    for (const looker of lookers.values()) {
      if (lookers.size === 1 || nodes.has(looker.database)) looker.wake();
    }
  }

  async function attemptSafely(claim: Claim, loaded: Loaded): Promise<Outcome> {
    const { claimed, email, suppressed, fault } = loaded;
    if (stopping) return givenBack(claimed);
    if (fault !== undefined) return judgeFault(claimed, fault, fault.message);
    if (email === undefined) return contentGone(claimed);
    const stopClock = deps.metrics.handoff.startTimer();
    try {
      const mayBegin = () => !stopping && claim.lease.holds();
      const mayExpire = deps.leaps.isSteadyFor(EXPIRES_AFTER_MS, claim.atMs);
      const about = { claimed, mayBegin, nowMs: claim.atMs, mayExpire };
      const outcome = await attempt(attemptDeps, about, email, suppressed);
      // What happened to sandbox email says nothing about the relay.
      if (!email.head.sandbox) noteConnection(outcome);
      noteTrouble(outcome);
      return isToBeGivenBack(outcome) ? givenBack(claimed) : outcome;
    } catch (error) {
      const fault = error as Error;
      return judgeFault(claimed, fault, `The email could not be composed: ${fault.message}`);
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
   * No relay can take it or we stop, and the email was not begun: it is due at once and has used no
   * attempt.
   */
  function isToBeGivenBack({ handOver }: Outcome): boolean {
    if (handOver === null || !isUnbegun(handOver)) return false;
    return stopping || (handOver.connection === 'unreachable' && !fleet.canTake());
  }

  function noteTrouble({ claimed, next, handOver }: Outcome, err?: Error): void {
    const message = () => showId('msg_', claimed.messageId);
    if (handOver?.recipients.some(({ result }) => result === 'unknown')) {
      deps.metrics.unknownOutcomes.inc();
      log.warn(
        { message: message() },
        'the connection broke after the email was handed over: nobody knows whether the relay has it',
      );
    }
    if (next.state === 'set aside') {
      deps.metrics.setAside.inc();
      log.error({ err, message: message(), why: next.reason }, 'an email was set aside');
    }
  }

  /** What the relay accepted must be recorded: while the database is away, this waits for it. */
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
   * Finishes what runs; false if something hangs, so that its rows must wait for the end of the
   * lease.
   */
  async function finish(): Promise<boolean> {
    const ended = (async () => {
      await Promise.all([
        running,
        fleet.close(DIALOGUES_END_WITHIN_MS),
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

  await fleet.start();
  const running = run();
  return {
    wake(accounts) {
      if (inHand.isHalfEmpty() || !inHand.areFull(accounts)) wakeFor(accounts);
    },
    canTake: fleet.canTake,
    async stop() {
      stopping = true;
      untilStopped.wake();
      for (const looker of lookers.values()) looker.wake();
      making.close();
      ways.closeTurns();
      sandboxWay.closeTurns();
      fleet.stopTaking();
      deps.sandbox.stopTaking();
      if (await finish().catch(() => false)) return;
      gaveUp = true;
      leases.abandon();
      log.error(
        { emails: inHand.count() },
        'stopped before everything was recorded; these emails are retried when the lease ends',
      );
    },
  };
}

/** For a person who decides whether the email goes out again. */
function describe({ handOver }: Outcome): string {
  const taken = handOver?.recipients.filter(({ result }) => result === 'accepted') ?? [];
  return taken.length === 0
    ? 'What happened to it could not be recorded:'
    : `The relay accepted it for ${taken.map((it) => it.recipient).join(', ')}, but that could not be recorded:`;
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
