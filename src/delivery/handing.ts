// Handing one copy over: to the relay chosen for it, and to another if that one cannot take it.
// Before: attempt.ts made the copy. After: it judges the outcome. A copy goes to another relay only
// while it is certain that none has it: never after its content was sent without an answer.
import type { Chunk } from '../bytes/chunks.ts';
import type { Log } from '../process/log.ts';
import type { Metrics } from '../process/metrics.ts';
import type { ClaimedMessage } from '../queue/due.ts';
import type { Routed } from '../relays/choice.ts';
import type { Fleet } from '../relays/fleet.ts';
import { isThrottled, type Member } from '../relays/member.ts';
import type { Pace } from '../relays/pace.ts';
import type { Envelope, HandOver, Relay } from '../smtp/relay.ts';
import { brokenOff, isUnbegun } from '../smtp/transaction.ts';
import { SmtpFault } from '../smtp/wire.ts';
import { createTurns, type Turns } from './turns.ts';

/** A copy, with everything its way out depends on. */
export interface ReadyCopy {
  claimed: ClaimedMessage;
  routed: Routed;
  /** The relay that had it at the last attempt. */
  staysWith: string | undefined;
  envelope: Envelope;
  chunks: readonly Chunk[];
  mayBegin: () => boolean;
}

export interface Handed {
  handOver: HandOver;
  /** The name of the relay that was tried. */
  relay: string;
  /** Its host: reporting_mta if the relay itself refused. */
  host: string;
}

/** It did not start: it may in this many milliseconds; 0 if nothing prevents it. */
export interface NotBegun {
  comesAgainMs: number;
}

/** Where copies go. */
export interface WayOut {
  hand(copy: ReadyCopy): Promise<Handed | NotBegun>;
  /** Nothing new is started. */
  closeTurns(): void;
}

/** Emails given to a relay that none of its sessions has taken yet. */
const OFFERED_AHEAD = 2;

/** To the relay that captures, whatever other relays there are. */
export function openSandboxWay(relay: Pick<Relay, 'hand'>): WayOut {
  const turns = createTurns(OFFERED_AHEAD);
  return {
    async hand(copy) {
      const handOver = await offer(relay, turns, copy);
      return isNotBegun(handOver) ? handOver : { handOver, relay: 'sandbox', host: 'sandbox' };
    },
    closeTurns: turns.close,
  };
}

export function openWays(deps: { fleet: Fleet; log: Log; metrics: Metrics }): WayOut {
  const { fleet } = deps;
  let turns = new Map<Member, MemberTurns>();

  /** Turns of removed relays are dropped when a new relay appears. */
  function turnsOf(member: Member): MemberTurns {
    const known = turns.get(member);
    if (known !== undefined) return known;
    const made = openTurns(member);
    const here = new Set(fleet.members());
    turns = new Map([...turns].filter(([it]) => here.has(it))).set(member, made);
    return made;
  }

  async function handTo(member: Member, copy: ReadyCopy): Promise<HandOver | NotBegun> {
    const { offering, pacing } = turnsOf(member);
    if (member.pace === undefined || pacing === undefined) return offer(member, offering, copy);
    const waited = await waitForMoment(member.pace, pacing, copy);
    return waited ?? (await offer(member, offering, copy));
  }

  return {
    async hand(copy) {
      const tried = new Set<Member>();
      let told: Handed | undefined;
      for (;;) {
        const member = fleet.choose(copy.routed, tried, copy.staysWith);
        if (member === undefined) return told ?? nobody(copy.envelope);
        const handOver = await handTo(member, copy);
        if (isNotBegun(handOver)) return handOver;
        deps.metrics.relayHandoffs.inc({ relay: member.name, outcome: handOver.connection });
        const handed = { handOver, relay: member.name, host: member.host };
        if (!mayGoElsewhere(handOver)) return handed;
        tried.add(member);
        // What a relay said about the email is more useful than that another was unreachable.
        if (told === undefined || told.handOver.connection === 'unreachable') told = handed;
        if (fleet.members().every((it) => tried.has(it))) return told;
        note(member, handOver);
      }
    },
    closeTurns() {
      for (const { offering, pacing } of turns.values()) {
        offering.close();
        pacing?.close();
      }
    },
  };

  function note(member: Member, { fault, recipients }: HandOver): void {
    deps.metrics.failovers.inc({ relay: member.name });
    const why = fault?.text ?? recipients[0]?.text;
    deps.log.debug({ relay: member.name, why }, 'not taken by this relay: trying another');
  }
}

interface MemberTurns {
  offering: Turns;
  /** If a rate limit applies: which of those waiting is next. */
  pacing: Turns | undefined;
}

const openTurns = ({ pace }: Member): MemberTurns => ({
  offering: createTurns(OFFERED_AHEAD),
  pacing: pace && createTurns(1, Number.POSITIVE_INFINITY),
});

/** Waits until the relay's limit allows it and returns undefined, or returns when to try again. */
async function waitForMoment(
  pace: Pace,
  turns: Turns,
  { claimed, mayBegin }: ReadyCopy,
): Promise<NotBegun | undefined> {
  const comesAgainMs = pace.enter({ urgent: claimed.class === 'urgent' });
  if (comesAgainMs > 0) return { comesAgainMs };
  try {
    const waited = await turns.take(claimed, mayBegin, async () => {
      await pace.next();
      return true;
    });
    return waited === undefined ? AT_ONCE : undefined;
  } finally {
    pace.leave();
  }
}

const AT_ONCE: NotBegun = { comesAgainMs: 0 };

export const isNotBegun = (it: object): it is NotBegun => 'comesAgainMs' in it;

const offer = async (
  relay: Pick<Relay, 'hand'>,
  turns: Turns,
  { claimed, mayBegin, envelope, chunks }: ReadyCopy,
): Promise<HandOver | NotBegun> =>
  (await turns.take(claimed, mayBegin, (stillWanted) =>
    relay.hand(envelope, chunks, { lane: claimed.accountId, stillWanted }),
  )) ?? AT_ONCE;

/**
 * The relay cannot be reached, hung up before it could have the email, or says that it takes no
 * more from us for now. In each case it certainly does not have it.
 */
const mayGoElsewhere = (handOver: HandOver): boolean =>
  isUnbegun(handOver) || (!handOver.unconfirmed && isThrottled(handOver));

/** Every relay is disabled: the email waits for one. */
const nobody = (envelope: Envelope): Handed => ({
  handOver: brokenOff(
    'unreachable',
    envelope,
    [],
    new SmtpFault('connect', 'all relays are disabled'),
    false,
  ),
  relay: 'none',
  host: 'sandmartin',
});
