// One attempt to hand an email to the relay, step by step. Before: worker.ts claimed and loaded it.
// After: outcomes.ts records the result. The email itself is composed in making.ts, the events in
// attempt-events.ts.
import type { NewAttempt, TriedRecipient } from '../events/attempts.ts';
import type { NewEvent } from '../events/record.ts';
import type { Bounce } from '../feedback/bounces.ts';
import { returnPathOf } from '../feedback/return-path.ts';
import { idTimeMs, showId } from '../ids.ts';
import {
  type Copy,
  copiesFor,
  freeCopy,
  type MakingDeps,
  makeCopy,
  takesThreads,
} from '../mail/making.ts';
import type { Sender } from '../mail/senders.ts';
import { asked, type StoredEmail } from '../mail/stored-email.ts';
import type { ClaimedMessage } from '../queue/due.ts';
import type { HandOver, RecipientOutcome } from '../smtp/transaction.ts';
import { suppressionKey } from '../suppressions/suppressions.ts';
import {
  contentGoneEvent,
  expiredBounce,
  refusedBounce,
  sentEvent,
  suppressedEvent,
} from './attempt-events.ts';
import { type Handed, isNotBegun, type NotBegun, type WayOut } from './handing.ts';
import { isExpired, nextAttemptDelayMs } from './retry.ts';
import type { Turns } from './turns.ts';

export interface AttemptDeps extends MakingDeps {
  /** Turns for making emails. */
  making: Turns;
  /** Hands copies to the relays. */
  ways: WayOut;
  /** Where email of sandbox-only keys goes, whatever the relays are. */
  sandboxWay: WayOut;
  /** Which relay had each recipient's copy at the last attempt; used for deferred copies. */
  earlierRelays: (claimed: ClaimedMessage) => Promise<ReadonlyMap<string, string>>;
}

export interface Outcome {
  claimed: ClaimedMessage;
  events: NewEvent[];
  /** The events that are bounces, with what they mean for the address. */
  bounces: Bounce[];
  next: Next;
  /** Stored if some recipients still have to wait, or had to at the end. */
  kept: NewAttempt | null;
  /** How the dialogue went; null if none was needed. */
  handOver: HandOver | null;
  /** Once nothing is left to do, its content is deleted. */
  forgets?: boolean;
}

/** What happens to the due row. */
export type Next =
  | { state: 'finished' }
  | { state: 'waiting'; afterMs: number; left: Left; response: string | null }
  /** Nothing prevents it: the next worker may take it. */
  | { state: 'ready'; left: Left }
  | { state: 'set aside'; left: Left; reason: string };

export interface Left {
  /** Null: all. */
  remaining: string[] | null;
  unknown: string[] | null;
  /** False: nothing was sent to the relay, so it does not count as an attempt. */
  begun: boolean;
}

/** A claimed email, and whether it may still begin: the lease holds and we are not stopping. */
export interface Attempt {
  claimed: ClaimedMessage;
  mayBegin: () => boolean;
  /** By the database's clock. */
  nowMs: number;
  /** That clock can be trusted to expire emails: it has not jumped within a day. */
  mayExpire: boolean;
}

export async function attempt(
  deps: AttemptDeps,
  { claimed, mayBegin, nowMs, mayExpire }: Attempt,
  email: StoredEmail,
  suppressed: ReadonlySet<string>,
): Promise<Outcome> {
  const wanted = claimed.remaining ?? email.recipients;
  const { allowed, heldBack } = holdBackSuppressed(email, wanted, suppressed);
  const events = heldBack.map((recipient) => suppressedEvent(email, recipient));
  const forgets = email.door === 'system';
  if (allowed.length === 0) return { forgets, ...finished(claimed, events) };

  const sender = await deps.senders.of(email.account, email.head.from.domain);
  const handing = await handCopies(deps, claimed, email, sender, allowed, mayBegin);
  const expired = mayExpire && isExpired(dueSinceMs(email), nowMs);
  return { forgets, ...judge(claimed, email, events, handing, expired) };
}

/** Since it was accepted, or was due to go out. */
const dueSinceMs = ({ messageId, scheduledAt }: StoredEmail): number =>
  Math.max(idTimeMs(messageId), scheduledAt?.getTime() ?? 0);

function holdBackSuppressed(
  email: StoredEmail,
  wanted: readonly string[],
  suppressed: ReadonlySet<string>,
): { allowed: readonly string[]; heldBack: string[] } {
  if (suppressed.size === 0) return { allowed: wanted, heldBack: [] };
  const isSuppressed = (recipient: string) =>
    suppressed.has(suppressionKey(asked(email, recipient)));
  return {
    allowed: wanted.filter((recipient) => !isSuppressed(recipient)),
    heldBack: wanted.filter(isSuppressed),
  };
}

interface Handing {
  handed: Handed[];
  /** Recipients of the copies that were not started, and when they may be: 0 means at once. */
  unbegun: string[];
  comesAgainMs: number;
  /** Why they were not started, if the email itself was at fault. */
  fault: Error | null;
}

/** One copy after the other; earlier outcomes stand if a later one fails. */
async function handCopies(
  deps: AttemptDeps,
  claimed: ClaimedMessage,
  email: StoredEmail,
  sender: Sender,
  recipients: readonly string[],
  mayBegin: () => boolean,
): Promise<Handing> {
  const copies = copiesFor(deps, email, recipients);
  const earlier = claimed.attempts > 1 ? await deps.earlierRelays(claimed) : NOWHERE;
  const handed: Handed[] = [];
  for (const [index, copy] of copies.entries()) {
    const rest = (fault: Error | null, comesAgainMs = 0): Handing => ({
      handed,
      unbegun: copies.slice(index).map((it) => it.recipient),
      comesAgainMs,
      fault,
    });
    const last = handed.at(-1);
    // If no relay can be reached, there is no need to try them for every copy.
    if (last?.handOver.connection === 'unreachable') {
      handed.push(sameFor(last, copy.recipient));
      continue;
    }
    try {
      const staysWith = earlier.get(copy.recipient);
      const isLast = index === copies.length - 1;
      const toHand = { claimed, email, sender, copy: { isLast, ...copy }, staysWith, mayBegin };
      const one = await handCopy(deps, toHand);
      if (isNotBegun(one)) return rest(null, one.comesAgainMs);
      handed.push(one);
    } catch (error) {
      return rest(error as Error);
    }
  }
  return { handed, unbegun: [], comesAgainMs: 0, fault: null };
}

const NOWHERE: ReadonlyMap<string, string> = new Map();

const sameFor = ({ handOver, ...by }: Handed, recipient: string): Handed => ({
  ...by,
  handOver: {
    ...handOver,
    recipients: handOver.recipients.map((outcome) => ({ ...outcome, recipient })),
  },
});

/**
 * Reports about the service's own emails go to the service, whichever account's domain it sends
 * from.
 */
const returnPathDomain = (deps: AttemptDeps, email: StoredEmail, sender: Sender): string =>
  email.door === 'system' ? deps.senders.bounceDomain : sender.returnPathDomain;

interface CopyToHand {
  claimed: ClaimedMessage;
  email: StoredEmail;
  sender: Sender;
  copy: Copy & { isLast: boolean };
  staysWith: string | undefined;
  mayBegin: () => boolean;
}

async function handCopy(deps: AttemptDeps, toHand: CopyToHand): Promise<Handed | NotBegun> {
  const { claimed, email, sender, copy, staysWith, mayBegin } = toHand;
  const make = () => makeCopy(deps, email, sender, copy);
  const made = takesThreads(email, sender)
    ? await deps.making.take(claimed, mayBegin, make)
    : await make();
  if (made === undefined) return { comesAgainMs: 0 };
  const way = email.head.sandbox ? deps.sandboxWay : deps.ways;
  const handed = await way.hand({
    claimed,
    staysWith,
    mayBegin,
    chunks: made.chunks,
    routed: {
      accountId: email.accountId,
      fromDomain: email.head.from.domain,
      stream: email.stream,
      tags: email.tags,
      recipient: copy.recipient,
    },
    envelope: {
      from: returnPathOf(copy.token, returnPathDomain(deps, email, sender)),
      recipients: [copy.recipient],
      envelopeId: showId('msg_', email.messageId),
      smtputf8: made.smtputf8,
    },
  });
  // Confirmed: no socket has any of it left to write.
  if (!isNotBegun(handed) && handed.handOver.recipients[0]?.result === 'accepted') {
    freeCopy(email, made);
  }
  return handed;
}

/**
 * Accepted: sent. Refused: bounced. Deferred: again later, those recipients only, until a day has
 * passed. Unknown: as the account has set it. Not begun: at once, by any worker, or when the
 * relay's limit allows it. An email that cannot be made is set aside.
 */
function judge(
  claimed: ClaimedMessage,
  email: StoredEmail,
  events: NewEvent[],
  { handed, unbegun, comesAgainMs, fault }: Handing,
  expired: boolean,
): Outcome {
  const handOver = together(handed.map((one) => one.handOver));
  const told = handed.flatMap(({ handOver: { recipients }, relay, host }) =>
    recipients.map((outcome): Told => ({ relay, host, ...outcome })),
  );
  const by = (result: RecipientOutcome['result']) =>
    told.filter((recipient) => recipient.result === result);
  const countsAsSent = email.account.unknownOutcome === 'count_as_sent';
  const unknown = by('unknown');
  const sent = [...by('accepted'), ...(countsAsSent ? unknown : [])];
  const late = [...by('deferred'), ...(countsAsSent ? [] : unknown)];

  if (sent.length > 0) {
    const { relayMessageId } = handOver ?? {};
    events.push(sentEvent(email, claimed, namesOf(sent), relayMessageId, relaysOf(sent)));
  }
  const bounces = [
    ...by('refused').map((refused) => refusedBounce(email, refused, refused.host)),
    ...(expired ? late.map((one) => expiredBounce(email, one, one.host)) : []),
  ];
  events.push(...bounces.map(({ event }) => event));

  const waiting = expired ? [] : late;
  const rest = { waiting, unknown, unbegun, comesAgainMs, fault, begun: handOver !== null };
  const next = nextOf(claimed, rest);
  const kept = attemptToKeep(claimed, [...by('deferred'), ...unknown], next);
  return { claimed, events, bounces, next, kept, handOver };
}

function nextOf(
  claimed: ClaimedMessage,
  rest: {
    waiting: RecipientOutcome[];
    unknown: RecipientOutcome[];
    unbegun: string[];
    comesAgainMs: number;
    fault: Error | null;
    begun: boolean;
  },
): Next {
  const { waiting, unbegun, comesAgainMs, fault, begun } = rest;
  if (waiting.length + unbegun.length === 0) return { state: 'finished' };
  const names = namesOf(waiting);
  const lost = [...namesOf(rest.unknown), ...(claimed.unknown ?? [])];
  const unknown = [...names, ...unbegun].filter((name) => lost.includes(name));
  const left = {
    remaining: begun ? [...names, ...unbegun] : claimed.remaining,
    unknown: unknown.length === 0 ? null : unknown,
    begun,
  };
  if (fault !== null) {
    return {
      state: 'set aside',
      left,
      reason: `The email could not be composed: ${fault.message}`,
    };
  }
  if (waiting.length === 0 && comesAgainMs === 0) return { state: 'ready', left };
  if (waiting.length === 0)
    return { state: 'waiting', afterMs: comesAgainMs, left, response: null };
  const afterMs = nextAttemptDelayMs(claimed.attempts);
  return { state: 'waiting', afterMs, left, response: waiting[0]!.text };
}

function attemptToKeep(
  { accountId, messageId, attempts }: ClaimedMessage,
  tried: Told[],
  next: Next,
): NewAttempt | null {
  if (tried.length === 0) return null;
  return {
    accountId,
    messageId,
    identity: `attempt ${attempts}`,
    attempt: attempts,
    server: [...new Set(tried.map(({ host }) => host))].join(', '),
    recipients: tried.map(({ recipient, result, text, relay }) => ({
      recipient,
      result: result as TriedRecipient['result'],
      reply: text,
      relay,
    })),
    nextAfterMs: next.state === 'waiting' ? next.afterMs : null,
  };
}

/** What happened to a recipient's copy, and at which relay. */
type Told = RecipientOutcome & Pick<Handed, 'relay' | 'host'>;

const relaysOf = (told: readonly Told[]): string =>
  [...new Set(told.map((it) => it.relay))].join(', ');

/** What happened to the copies, as if they were one email. */
function together(handOvers: readonly HandOver[]): HandOver | null {
  const worst = handOvers.find((handOver) => handOver.connection !== 'ok') ?? handOvers[0];
  if (worst === undefined || handOvers.length === 1) return worst ?? null;
  return {
    ...worst,
    recipients: handOvers.flatMap((handOver) => handOver.recipients),
    relayMessageId: handOvers.find((handOver) => handOver.relayMessageId)?.relayMessageId,
  };
}

const namesOf = (outcomes: readonly RecipientOutcome[]): string[] =>
  outcomes.map((outcome) => outcome.recipient);

const finished = (claimed: ClaimedMessage, events: NewEvent[]): Outcome => ({
  claimed,
  events,
  bounces: [],
  next: { state: 'finished' },
  kept: null,
  handOver: null,
});

/** An email whose content was deleted can no longer be sent; it must not be retried forever. */
export const contentGone = (claimed: ClaimedMessage): Outcome =>
  finished(claimed, [contentGoneEvent(claimed)]);

const asItWas = ({ remaining, unknown }: ClaimedMessage): Left => ({
  remaining,
  unknown,
  begun: false,
});

const ended = (claimed: ClaimedMessage, next: Next): Outcome => ({
  ...finished(claimed, []),
  next,
});

/** The next worker may take it. */
export const givenBack = (claimed: ClaimedMessage): Outcome =>
  ended(claimed, { state: 'ready', left: asItWas(claimed) });

/** A temporary fault: usually the database. */
export const heldUp = (claimed: ClaimedMessage, error: Error, afterMs: number): Outcome =>
  ended(claimed, {
    state: 'waiting',
    afterMs,
    left: asItWas(claimed),
    response: error.message,
  });

/** By itself, so that it holds up nothing else; a person looks at it (cli/quarantine.ts). */
export const setAside = (claimed: ClaimedMessage, reason: string): Outcome =>
  ended(claimed, { state: 'set aside', left: asItWas(claimed), reason });
