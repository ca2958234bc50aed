// The webhook worker: leases endpoints that have something due, POSTs up to four deliveries to each
// at a time, records the outcomes. Before: record_events wrote the rows with their event. Many
// workers on one database share the endpoints.

import { bytesToUuid, newIdBytes, showUuid } from '../ids.ts';
import type { Clock } from '../process/clock.ts';
import { createGroupCommit, isDataFault } from '../process/group-commit.ts';
import type { Log } from '../process/log.ts';
import type { Metrics } from '../process/metrics.ts';
import { createNap } from '../process/nap.ts';
import { recurringFault } from '../process/recurring-fault.ts';
import type { Database } from '../store/pool.ts';
import type { Vault } from '../store/vault.ts';
import { type AttemptDeps, attempt, eventGone, failedHere, type HookOutcome } from './attempt.ts';
import { openSecretWith, rememberSecrets } from './endpoint-secrets.ts';
import { eventIdOf, loadEvents, nameOf } from './event-body.ts';
import { DISABLED_REASONS, healthAfter, isOpen, reasonToDisable } from './health.ts';
import {
  hasRoom,
  isDone,
  isShort,
  type Lane,
  openLane,
  type QueuedDelivery,
  refresh,
  shut,
  widthOf,
} from './lane.ts';
import { type DueDelivery, extendLeases, laneName, type Taken, takeDue } from './leases.ts';
import { type LaneNews, recordNews } from './outcomes.ts';

const POLL_EVERY_MS = 100;
const POLL_AT_LEAST_EVERY_MS = 1000;
const LEASE_MS = 30_000;
const MOST_LANES = 256;
/** An eighth is left for accounts that have none: the endpoints of others may all hang. */
const KEPT_LANES = MOST_LANES / 8;
/** Taken for one endpoint at a time. */
const ROWS_EACH = 32;
/** One statement records as many outcomes as there are: what it costs is shared by them. */
const RECORDED_TOGETHER = 32;
const RECORDED_WITHIN_MS = 10;

export interface WebhookWorkerDeps extends Omit<AttemptDeps, 'openSecret'> {
  database: Database;
  vault: Vault;
  clock: Clock;
  log: Log;
  metrics: Metrics;
  /** How long endpoints stay leased to a worker that died; 30 s by default. */
  leaseMs?: number;
}

export interface WebhookWorker {
  /** There may be something due: look now instead of at the next poll. */
  wake(): void;
  /** Takes nothing new, finishes what is in hand, gives back the rest. */
  stop(): Promise<void>;
}

export function startWebhookWorker(deps: WebhookWorkerDeps): WebhookWorker {
  const { database, clock, log } = deps;
  const attemptDeps = { ...deps, openSecret: rememberSecrets(openSecretWith(deps.vault)) };
  const couldNotLook = recurringFault(log, 'error', 'could not look for due webhooks');
  const couldNotExtend = recurringFault(log, 'warn', 'could not extend the leases of webhooks');
  const couldNotRecord = recurringFault(
    log,
    'error',
    'could not record what happened to a webhook',
  );
  const leaseMs = deps.leaseMs ?? LEASE_MS;
  const lease = bytesToUuid(newIdBytes(clock.nowMs()));
  const lanes = new Map<string, Lane>();
  const serving = new Set<Promise<void>>();
  const recorder = createGroupCommit<LaneNews, void>({
    // One at a time: an endpoint's health must be written in the order it changed.
    mostInFlight: 1,
    company: {
      items: RECORDED_TOGETHER,
      withinMs: () => RECORDED_WITHIN_MS,
      // Who sends in order waits for it.
      moreToCome: (waiting, { endpoint }) => !endpoint.fifo && serving.size > waiting,
    },
    mostItems: 256,
    apart: ({ endpoint }) => database.shardOf(endpoint.accountId),
    write: async (news) => {
      await recordNews(database.near(news[0]!.endpoint.accountId), clock.nowMs(), lease, news);
      return news.map(() => undefined);
    },
  });
  let stopping = false;
  const { rest, wake } = createNap();

  async function run(): Promise<void> {
    while (!stopping) {
      const startedMs = performance.now();
      try {
        await look();
        // Looking through thousands of waiting endpoints takes time, and must never be most of the
        // work. But one slow look (a cold cache, a busy machine) must not hold up the next event
        // for long.
        const pauseMs = 4 * (performance.now() - startedMs);
        await rest(Math.min(Math.max(POLL_EVERY_MS, pauseMs), POLL_AT_LEAST_EVERY_MS));
      } catch (error) {
        couldNotLook(error);
        await rest(1000);
      }
    }
  }

  /** Takes what is due: for endpoints that nobody serves, and for lanes that run short. */
  async function look(): Promise<void> {
    const nodes = database.nodes();
    const room = {
      endpoints: Math.ceil(Math.max(0, MOST_LANES - lanes.size) / nodes.length),
      kept: Math.ceil(KEPT_LANES / nodes.length),
    };
    const looks = await Promise.allSettled(nodes.map((node) => lookAt(node.database, room)));
    const failed = looks.find((it) => it.status === 'rejected');
    // A node that is away does not hold up the others.
    if (failed !== undefined && nodes.length > 1) couldNotLook(failed.reason);
    else if (failed !== undefined) throw failed.reason;
  }

  async function lookAt(node: Database, room: { endpoints: number; kept: number }): Promise<void> {
    const served = [...lanes.values()].filter((lane) => isAt(node, lane));
    const short = served.filter((lane) => !lane.ended && hasRoom(lane));
    const taken = await takeDue(node, clock.nowMs(), {
      ...{ lease, leaseMs, ...room },
      rowsEach: ROWS_EACH,
      served: served.map((lane) => lane.endpoint),
      short: short.map((lane) => lane.endpoint),
      inHand: short.flatMap((lane) => [...lane.inHand]),
    });
    const found = new Set(taken.map(({ endpoint }) => laneName(endpoint)));
    for (const lane of short) if (!found.has(laneName(lane.endpoint))) shut(lane);
    const fed = taken.map((one) => ({ lane: laneFor(one), rows: one.rows }));
    try {
      await feed(fed.filter(({ lane }) => !lane.ended && !lane.shut));
    } finally {
      for (const lane of lanes.values()) settle(lane);
    }
  }

  const isAt = (node: Database, { endpoint }: Lane): boolean =>
    database.nodes().length === 1 || database.near(endpoint.accountId) === node;

  function laneFor({ endpoint }: Taken): Lane {
    const name = laneName(endpoint);
    const known = lanes.get(name);
    if (known !== undefined) {
      refresh(known, endpoint);
      return known;
    }
    const lane = openLane(endpoint);
    lanes.set(name, lane);
    return lane;
  }

  async function feed(fed: { lane: Lane; rows: DueDelivery[] }[]): Promise<void> {
    for (const { lane, rows } of fed) {
      lane.dry = rows.length < ROWS_EACH;
      for (const row of rows) lane.inHand.add(row.deliveryUuid);
    }
    try {
      const events = await loadEvents(
        database,
        fed.flatMap(({ rows }) => rows),
      );
      for (const { lane, rows } of fed) {
        for (const delivery of rows) {
          lane.queue.push({ delivery, event: events.get(nameOf(delivery)) });
        }
        if (lane.shut) shut(lane);
      }
    } catch (error) {
      for (const { lane, rows } of fed) {
        for (const row of rows) lane.inHand.delete(row.deliveryUuid);
        lane.dry = true;
      }
      throw error;
    }
  }

  /** Starts what may start; asks for more when it runs short; ends when nothing is left. */
  function settle(lane: Lane): void {
    if (lane.ended) return;
    if (stopping) shut(lane);
    while (lane.posting < widthOf(lane) && lane.queue.length > 0) {
      inBackground(serve(lane, lane.queue.shift()!));
    }
    if (isDone(lane)) inBackground(end(lane));
    else if (!lane.dry && isShort(lane)) wake();
  }

  function inBackground(work: Promise<void>): void {
    const tracked = work.finally(() => serving.delete(tracked));
    serving.add(tracked);
  }

  async function serve(lane: Lane, queued: QueuedDelivery): Promise<void> {
    lane.posting++;
    const news = await attemptSafely(lane, queued);
    // In order: the next one waits until this one is settled.
    const { fifo } = lane.endpoint;
    if (!fifo) lane.posting--;
    const isLast = lane.inHand.size === 1 && lane.queue.length === 0 && (lane.dry || lane.shut);
    if (isLast) lane.ended = true;
    else if (!fifo) settle(lane);
    await record({ ...news, release: isLast });
    if (fifo) lane.posting--;
    lane.inHand.delete(queued.delivery.deliveryUuid);
    if (isLast) forget(lane);
    else settle(lane);
  }

  async function attemptSafely(
    lane: Lane,
    { delivery, event }: QueuedDelivery,
  ): Promise<LaneNews & { outcome: HookOutcome }> {
    const { endpoint } = lane;
    if (event === undefined) {
      return { endpoint, outcome: eventGone(delivery, clock.nowMs()), release: false };
    }
    try {
      return judge(lane, await attempt(attemptDeps, endpoint, delivery, event));
    } catch (error) {
      log.error({ err: error, ...namesOf(delivery) }, 'a webhook could not be attempted');
      shut(lane);
      return {
        endpoint,
        outcome: failedHere(delivery, error as Error, clock.nowMs()),
        release: false,
      };
    }
  }

  /** What the answer means for the endpoint. */
  function judge(lane: Lane, outcome: HookOutcome): LaneNews & { outcome: HookOutcome } {
    const { endpoint } = lane;
    const result = outcome.result!;
    const health = healthAfter(endpoint.health, result, outcome.endedAtMs);
    const disable = reasonToDisable(health, result, outcome.endedAtMs);
    const changed = health.failures !== endpoint.health.failures;
    endpoint.health = health;
    if (!result.ok && (endpoint.fifo || isOpen(health) || disable !== undefined)) shut(lane);
    note(outcome);
    if (disable !== undefined) {
      log.warn(
        {
          account: endpoint.accountId,
          endpoint: showUuid('whe_', endpoint.endpointUuid),
          url: endpoint.url,
          why: DISABLED_REASONS[disable],
        },
        'a webhook endpoint was disabled',
      );
      deps.metrics.webhooksDisabled.inc({ reason: disable });
    }
    return {
      endpoint,
      outcome,
      release: false,
      ...(changed ? { health } : {}),
      ...(disable === undefined ? {} : { disable }),
    };
  }

  function note({ delivery, state, attempts, result, error }: HookOutcome): void {
    deps.metrics.webhookAttempts.inc({ outcome: state === 'pending' ? 'failed' : state });
    deps.metrics.webhookSeconds.observe(result!.durationMs / 1000);
    const level = state === 'delivered' ? 'debug' : 'info';
    if (!log.isLevelEnabled(level)) return;
    const about = { ...namesOf(delivery), attempt: attempts, status: result!.status };
    if (state === 'delivered') log.debug(about, 'webhook delivered');
    else
      log.info(
        { ...about, why: error ?? undefined },
        state === 'pending' ? 'webhook failed' : 'webhook abandoned',
      );
  }

  async function end(lane: Lane): Promise<void> {
    lane.ended = true;
    await record({ endpoint: lane.endpoint, release: true });
    forget(lane);
  }

  function forget(lane: Lane): void {
    lanes.delete(laneName(lane.endpoint));
    if (lanes.size === MOST_LANES - 1) wake();
  }

  /** What was received must be recorded: while the database is away, this waits for it. */
  async function record(news: LaneNews): Promise<void> {
    for (let told = news; ; ) {
      try {
        return await recorder.add(told);
      } catch (error) {
        couldNotRecord(error);
        if (isDataFault(error)) {
          // The delivery must not depend on what the answer contains.
          if (told.outcome?.result == null) return;
          told = { ...told, outcome: { ...told.outcome, result: null, error: null } };
        }
        await new Promise((resolve) => setTimeout(resolve, 1000));
      }
    }
  }

  async function extend(): Promise<void> {
    const held = [...lanes.values()].filter((lane) => !lane.ended);
    if (held.length === 0) return;
    const kept = await extendLeases(
      database,
      lease,
      leaseMs,
      held.map((lane) => lane.endpoint),
    );
    const byName = new Map(kept.map((endpoint) => [laneName(endpoint), endpoint]));
    for (const lane of held) {
      const endpoint = byName.get(laneName(lane.endpoint));
      if (endpoint === undefined) shut(lane);
      else refresh(lane, endpoint);
    }
  }

  const extending = setInterval(() => {
    extend().catch(couldNotExtend);
  }, leaseMs / 3);
  const running = run();
  return {
    wake,
    async stop() {
      stopping = true;
      wake();
      await running;
      for (const lane of lanes.values()) settle(lane);
      while (serving.size > 0) await Promise.all(serving);
      clearInterval(extending);
      await recorder.drain();
    },
  };
}

const namesOf = (delivery: DueDelivery) => ({
  account: delivery.accountId,
  endpoint: showUuid('whe_', delivery.endpointUuid),
  delivery: showUuid('whd_', delivery.deliveryUuid),
  event: eventIdOf(delivery.eventUuid),
});
