// One relay of the fleet: its pool and circuit, the limits an operator set, and whether it can take
// email now. Before: fleet.ts opens one for every relay that is enabled. After: delivery/handing.ts
// hands emails to it.
import type { Log } from '../process/log.ts';
import type { Metrics } from '../process/metrics.ts';
import { createRelay, type Envelope, type HandOver, type Relay } from '../smtp/relay.ts';
import {
  createRelayHealth,
  type RelayHealth,
  type RelayHealthFinding,
} from '../smtp/relay-health.ts';
import { parseRelayUrl } from '../smtp/relay-url.ts';
import { brokenOff, isUnbegun } from '../smtp/transaction.ts';
import { SmtpFault } from '../smtp/wire.ts';
import type { Database } from '../store/pool.ts';
import type { Candidate } from './choice.ts';
import { createDailyShare } from './limits.ts';
import { createPace, type Pace } from './pace.ts';
import { isOfProvider, providerHeader } from './provider-headers.ts';
import type { NamedRelay } from './relay-list.ts';

export interface Member extends Candidate {
  /** Named where the relay itself refused or deferred. */
  host: string;
  connections: number;
  hand: Relay['hand'];
  /** When it may be given the next email; undefined: at any rate. */
  pace: Pace | undefined;
  /** Its circuit is open, or its day is used up. */
  isDown(): boolean;
  finding(): RelayHealthFinding;
  /** Whether deliveries through it are ever heard of; null: it was not asked yet. */
  reports(): boolean | null;
  /** Takes over what needs no new pool; false: it does. */
  change(settings: NamedRelay): boolean;
  start: RelayHealth['start'];
  stopTaking(): void;
  close(graceMs?: number): Promise<void>;
}

export interface MemberDeps {
  database: Database;
  log: Log;
  metrics: Metrics;
  /** Our name in EHLO. */
  name: string;
  /** Of relays for which the operator gave no number. */
  connections: number;
  /** Delivery processes that share what is allowed a second. */
  processes: () => number;
  /** A relay with another name can take email. */
  hasOther: (name: string) => boolean;
  /** Something of what `finding` says is new. */
  onNews: () => void;
}

/** So many emails in a row, and it is left alone for a while: others get what it slows down. */
const THROTTLED_TO_REST = 3;
const REST_MS = 5_000;

export function openMember(deps: MemberDeps, opened: NamedRelay, label?: string): Member {
  const { url, dailyLimit, ratePerSecond, name } = opened;
  const at = { url, name: deps.name };
  const connections = opened.connections ?? deps.connections;
  let settings = opened;
  let found: RelayHealthFinding = { down: false, retryAfterMs: 0, detail: null };
  const health = createRelayHealth({
    ...{ ...at, connections, label, log: deps.log, metrics: deps.metrics },
    tell(finding) {
      found = finding;
      deps.onNews();
    },
  });
  const hasOther = () => deps.hasOther(name);
  const relay = createRelay({ ...at, maxConnections: connections, health, hasOther });
  const daily =
    dailyLimit === null
      ? undefined
      : createDailyShare(deps.database, name, dailyLimit, deps.onNews);
  const pace =
    ratePerSecond === null
      ? undefined
      : createPace(() => ratePerSecond / Math.max(1, deps.processes()));
  const mark = providerHeader(url);
  const ofProvider = isOfProvider(url);
  let throttled = 0;
  let restsUntil = 0;

  function note(handOver: HandOver): void {
    if (!isThrottled(handOver)) throttled = 0;
    else if (++throttled >= THROTTLED_TO_REST) restsUntil = performance.now() + REST_MS;
  }
  const handNoted: Relay['hand'] = async (envelope, chunks, wish) => {
    const marked = mark === undefined ? chunks : mark(envelope.from, chunks);
    const handOver = await relay.hand(envelope, marked, wish);
    note(handOver);
    return handOver;
  };
  /** Only what the relay was told of counts toward its day. */
  const handWithinDay =
    (share: NonNullable<typeof daily>): Relay['hand'] =>
    async (envelope, chunks, wish) => {
      if (!(await share.take())) return usedUp(envelope);
      const handOver = await handNoted(envelope, chunks, wish);
      if (isUnbegun(handOver)) share.giveBack();
      return handOver;
    };

  const isDown = (): boolean => health.isOpen() || daily?.isUsedUp() === true;
  const isResting = (): boolean => throttled > 0 && performance.now() < restsUntil;
  return {
    name,
    get weight() {
      return settings.weight;
    },
    get rules() {
      return settings.rules;
    },
    host: parseRelayUrl(url).host,
    connections,
    start: () => health.start(),
    isDown,
    change(next) {
      if (poolOf(next) !== poolOf(settings)) return false;
      settings = next;
      return true;
    },
    pace,
    isFull: () => pace?.isFull() === true,
    hand: daily ? handWithinDay(daily) : handNoted,
    canTake: () => !isDown() && !isResting(),
    finding: () =>
      daily?.isUsedUp()
        ? { down: true, retryAfterMs: daily.untilMs(), detail: DAY_USED_UP }
        : found,
    reports: () => ofProvider || relay.offersDsn(),
    stopTaking() {
      pace?.close();
      relay.stopTaking();
    },
    async close(graceMs) {
      await Promise.all([health.close(), relay.close(graceMs)]);
      await daily?.close();
    },
  };
}

/** What a pool is made of. */
const poolOf = ({ name, url, connections, ratePerSecond, dailyLimit }: NamedRelay): string =>
  JSON.stringify([name, url, connections, ratePerSecond, dailyLimit]);

/** 421, or a status of the class 4.7: it takes no more from us for now (RFC 3463 3.8). */
export const isThrottled = ({ recipients }: HandOver): boolean =>
  recipients.some(
    ({ result, code, enhanced }) =>
      result === 'deferred' && (code === 421 || enhanced.startsWith('4.7.')),
  );

const DAY_USED_UP = 'the relay’s daily limit is reached';

const usedUp = (envelope: Envelope): HandOver =>
  brokenOff('unreachable', envelope, [], new SmtpFault('connect', DAY_USED_UP), false);
