// Which relay gets a copy: the one that had it before, otherwise those with a matching rule,
// otherwise by weight. Before it: delivery/handing.ts has a copy to hand over. After it: it hands
// the copy to the chosen relay, and asks again without those that could not accept it.
import type { RelayRule } from './stored-relays.ts';

/** The facts about one recipient's copy that rules can match. */
export interface Routed {
  accountId: number;
  fromDomain: string;
  stream: string;
  tags: readonly string[];
  recipient: string;
}

/** What is known about a relay when one is chosen. */
export interface Candidate {
  name: string;
  weight: number;
  rules: readonly RelayRule[];
  /** Its circuit is closed, it has room today, and it is not throttling us. */
  canTake(): boolean;
  /** As many emails wait for it as it can accept in a moment. */
  isFull(): boolean;
}

/**
 * Undefined only if there are no candidates. If none can accept it, one is chosen anyway: it says
 * why.
 */
export function choose<Relay extends Candidate>(
  candidates: readonly Relay[],
  email: Routed,
  staysWith: string | undefined,
  random: () => number = Math.random,
): Relay | undefined {
  if (candidates.length <= 1) return candidates[0];
  const able = candidates.filter((relay) => relay.canTake());
  const from = able.length === 0 ? candidates : able;
  return (
    from.find(({ name }) => name === staysWith) ??
    byWeight(meantFor(from, email), random) ??
    byWeight(withRoom(from.filter(({ weight }) => weight > 0)), random) ??
    byWeight(from, random)
  );
}

/** Those with room, or all if none has. */
function withRoom<Relay extends Candidate>(relays: Relay[]): Relay[] {
  const found = relays.filter((relay) => !relay.isFull());
  return found.length === 0 ? relays : found;
}

/** Those with the most specific matching rule, which is the one with the most conditions. */
function meantFor<Relay extends Candidate>(relays: readonly Relay[], email: Routed): Relay[] {
  const closeness = relays.map(({ rules }) =>
    Math.max(0, ...rules.filter((rule) => isAbout(rule, email)).map(conditionsOf)),
  );
  const closest = Math.max(...closeness);
  return closest === 0 ? [] : relays.filter((_, at) => closeness[at] === closest);
}

function isAbout(rule: RelayRule, email: Routed): boolean {
  const { from_domain, stream, account_id, tag, recipient_domain } = rule;
  return (
    (account_id === undefined || account_id === email.accountId) &&
    (stream === undefined || stream === email.stream) &&
    (from_domain === undefined || from_domain === email.fromDomain) &&
    (tag === undefined || email.tags.includes(tag)) &&
    (recipient_domain === undefined || email.recipient.endsWith(`@${recipient_domain}`))
  );
}

export const conditionsOf = (rule: RelayRule): number =>
  Object.values(rule).filter((condition) => condition !== undefined).length;

/** All equally, if none has a weight. */
function byWeight<Relay extends Candidate>(
  relays: readonly Relay[],
  random: () => number,
): Relay | undefined {
  const total = relays.reduce((sum, { weight }) => sum + weight, 0);
  if (total === 0) return relays[Math.floor(random() * relays.length)];
  let at = random() * total;
  for (const relay of relays) {
    at -= relay.weight;
    if (at < 0) return relay;
  }
  return relays.at(-1);
}
