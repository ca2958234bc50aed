// The ledger of a campaign: every 202, every email that came, every trouble; and what follows:
// lost, repeated and why, stalls. Before: campaign.ts writes it. After: the test and
// run-campaign.ts judge it.
import type { Arrival } from '../support/faulty-relay.ts';

/**
 * Something that was broken on purpose, from when until when, and the processes that it concerned.
 */
export interface Trouble {
  kind: 'killed' | 'frozen' | 'database away' | 'wrong clock' | 'relay';
  what: string;
  concerns: readonly string[];
  fromMs: number;
  untilMs: number;
}

export interface Ledger {
  seed: number;
  /** When each id was answered with 202. */
  accepted: Map<string, number>;
  /** Sends that got another answer, or none. */
  refused: Map<string, number>;
  arrivals: readonly Arrival[];
  troubles: Trouble[];
  /** Kinds of trouble that this campaign did not make, and why. */
  leftOut: string[];
  /** Due rows at the end; those that processes died over again and again, which were released. */
  leftInQueue: number;
  setAside: number;
}

export interface Verdict {
  lost: string[];
  /** How many repeats, by cause. */
  repeats: Map<string, number>;
  unexplained: string[];
  /** Emails that came although nobody saw their 202. */
  unannounced: number;
  longestToHandOverMs: number;
  longestGapMs: number;
  longestSunnyGapMs: number;
}

/**
 * A worker tells the database within milliseconds what the relay took; this much for a busy
 * machine.
 */
const RECORDED_WITHIN_MS = 2_000;
/** Connections that went nowhere are replaced, and outcomes told again, within this. */
const DATABASE_BACK_WITHIN_MS = 5_000;

/** A relay in trouble or a wrong clock excuse no repeat by themselves. */
const EXCUSES: readonly Trouble['kind'][] = ['killed', 'frozen', 'database away'];

export function judge(ledger: Ledger): Verdict {
  const byId = new Map<string, Arrival[]>();
  for (const arrival of ledger.arrivals) {
    byId.set(arrival.id, [...(byId.get(arrival.id) ?? []), arrival]);
  }
  const lost: string[] = [];
  let longestToHandOverMs = 0;
  for (const [id, atMs] of ledger.accepted) {
    const handedOver = byId.get(id)?.find(({ answered }) => answered);
    if (handedOver === undefined) lost.push(id);
    else longestToHandOverMs = Math.max(longestToHandOverMs, handedOver.atMs - atMs);
  }
  return {
    lost,
    ...explainRepeats(byId, ledger.troubles),
    unannounced: [...byId.keys()].filter((id) => !ledger.accepted.has(id)).length,
    longestToHandOverMs,
    ...gaps(ledger),
  };
}

/** Of an email that came n times, n − 1 must each have a reason why that was not the end of it. */
function explainRepeats(byId: Map<string, Arrival[]>, troubles: readonly Trouble[]) {
  const repeats = new Map<string, number>();
  const unexplained: string[] = [];
  for (const [id, arrivals] of byId) {
    const causes = arrivals.map((it) => causeOf(it, troubles)).filter((cause) => cause !== null);
    const needed = arrivals.length - 1;
    for (const cause of causes.slice(0, needed)) repeats.set(cause, (repeats.get(cause) ?? 0) + 1);
    if (causes.length < needed) unexplained.push(`${id}: ${JSON.stringify(arrivals)}`);
  }
  return { repeats, unexplained };
}

/** Why nobody could know, or could write down, that the relay has the email. */
function causeOf(arrival: Arrival, troubles: readonly Trouble[]): string | null {
  if (!arrival.answered) return 'the line was cut, or the relay hung, before its answer';
  if (arrival.cut) return 'the line was cut within a second of the relay’s answer';
  const toldAtMs = arrival.atMs + RECORDED_WITHIN_MS;
  const during = troubles.find((it) => {
    if (!EXCUSES.includes(it.kind) || !it.concerns.includes(arrival.by)) return false;
    return it.fromMs <= toldAtMs && lastsUntil(it) >= arrival.begunAtMs;
  });
  if (during === undefined) return null;
  return during.kind === 'database away'
    ? 'the database was away when it was to be recorded'
    : `the worker was ${during.kind} between the relay’s 250 and the record`;
}

function lastsUntil({ kind, fromMs, untilMs }: Trouble): number {
  if (kind === 'killed') return fromMs;
  return kind === 'database away' ? untilMs + DATABASE_BACK_WITHIN_MS : untilMs;
}

/**
 * The longest time without a 202, and the longest of it in which nothing that accepts email was
 * broken.
 */
function gaps({ accepted, troubles }: Ledger) {
  const times = [...accepted.values()].sort((a, b) => a - b);
  const broken = troubles.filter(({ kind }) => kind !== 'relay');
  let longestGapMs = 0;
  let longestSunnyGapMs = 0;
  for (const [index, to] of times.entries()) {
    const from = times[index - 1] ?? to;
    longestGapMs = Math.max(longestGapMs, to - from);
    let sunnyFrom = from;
    for (const { fromMs, untilMs } of broken) {
      if (untilMs <= sunnyFrom || fromMs >= to) continue;
      longestSunnyGapMs = Math.max(longestSunnyGapMs, fromMs - sunnyFrom);
      sunnyFrom = untilMs;
    }
    longestSunnyGapMs = Math.max(longestSunnyGapMs, to - sunnyFrom);
  }
  return { longestGapMs, longestSunnyGapMs };
}

const seconds = (ms: number): string => `${(ms / 1000).toFixed(1)} s`;
const counts = (map: ReadonlyMap<string, number>): string[] =>
  [...map].map(([name, count]) => `  ${count} × ${name}`);

/** For people. */
export function describe(ledger: Ledger, verdict: Verdict): string[] {
  const kinds = new Map<string, number>();
  for (const { what } of ledger.troubles) kinds.set(what, (kinds.get(what) ?? 0) + 1);
  const repeated = [...verdict.repeats.values()].reduce((sum, count) => sum + count, 0);
  return [
    `seed ${ledger.seed}, ${ledger.troubles.length} troubles:`,
    ...counts(kinds),
    ...ledger.leftOut.map((kind) => `left out: ${kind}`),
    `accepted ${ledger.accepted.size}, lost ${verdict.lost.length}, duplicated ${repeated + verdict.unexplained.length}:`,
    ...counts(verdict.repeats),
    `  ${verdict.unexplained.length} × without an explanation`,
    `other answers: ${[...ledger.refused].map(([name, count]) => `${name} ${count}`).join(', ') || 'none'}`,
    `handed over although no 202 was seen (the answer was late or lost): ${verdict.unannounced}`,
    `set aside and released: ${ledger.setAside}, left in the queue: ${ledger.leftInQueue}`,
    `longest from 202 to hand-over ${seconds(verdict.longestToHandOverMs)}`,
    `longest without a 202: ${seconds(verdict.longestGapMs)}; with API, workers and database well: ${seconds(verdict.longestSunnyGapMs)}`,
  ];
}
