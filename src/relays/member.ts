// One relay of the fleet: its pool and circuit, the limits an operator set, and whether it can
// accept email now. Before it: fleet.ts opens one for every enabled relay. After it:
// delivery/handing.ts hands emails to it.
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
  /** Named if the relay itself refused or deferred. */
  host: string;
  connections: number;
  hand: Relay['hand'];
  /** When it may get the next email; undefined: no limit per second. */
  pace: Pace | undefined;
  /** Its circuit is open, or its daily limit is used up. */
  isDown(): boolean;
  finding(): RelayHealthFinding;
  /** Whether we ever learn of deliveries through it; null: not asked yet. */
  reports(): boolean | null;
  /** Applies changes that need no new pool; false: they do. */
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
  /** For relays without a number set by the operator. */
  connections: number;
  /** Delivery processes that share the limit per second. */
  processes: () => number;
  /** A relay with another name can accept email. */
  hasOther: (name: string) => boolean;
  /** Something in `finding` has changed. */
  onNews: () => void;
}

/** After this many throttled emails in a row it rests for a while: others get its emails. */
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
  /** Only emails that the relay was told about count toward its daily limit. */
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

/** The settings that a pool depends on. */
const poolOf = ({ name, url, connections, ratePerSecond, dailyLimit }: NamedRelay): string =>
  JSON.stringify([name, url, connections, ratePerSecond, dailyLimit]);

/** 421, or a status of the class 4.7: it accepts no more from us for now (RFC 3463 3.8). */
export const isThrottled = ({ recipients }: HandOver): boolean =>
  recipients.some(
    ({ result, code, enhanced }) =>
      result === 'deferred' && (code === 421 || enhanced.startsWith('4.7.')),
  );

const DAY_USED_UP = 'the relay’s daily limit is reached';

const usedUp = (envelope: Envelope): HandOver =>
  brokenOff('unreachable', envelope, [], new SmtpFault('connect', DAY_USED_UP), false);
