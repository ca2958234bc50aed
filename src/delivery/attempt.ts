// One attempt to hand a mail to the relay, step by step. Before: worker.ts claimed and loaded it.
// After: outcomes.ts records what came of it. The mail itself is made in making.ts, the events in
// attempt-events.ts.
import type { NewAttempt, TriedRecipient } from '../events/attempts.ts';
import type { NewEvent } from '../events/record.ts';
import type { Bounce } from '../feedback/bounces.ts';
import { returnPath } from '../feedback/return-path.ts';
import { idTimeMs, showId } from '../ids.ts';
import { type Copy, copiesFor, type MakingDeps, makeCopy } from '../mail/making.ts';
import type { Sender } from '../mail/senders.ts';
import type { StoredMail } from '../mail/stored-mail.ts';
import type { ClaimedMessage } from '../queue/due.ts';
import type { Relay } from '../smtp/relay.ts';
import type { HandOver, RecipientOutcome } from '../smtp/transaction.ts';
import { suppressionKey } from '../suppressions/suppressions.ts';
import {
  contentGoneEvent,
  expiredBounce,
  refusedBounce,
  sentEvent,
  suppressedEvent,
} from './attempt-events.ts';
import { isExpired, nextAttemptDelayMs } from './retry.ts';
import type { Turns } from './turns.ts';

export interface Way {
  relay: Pick<Relay, 'hand'>;
  /** Who is made next, and of those that are made, who is next at this relay. */
  making: Turns;
  handing: Turns;
}

export interface AttemptDeps extends MakingDeps {
  relay: Way;
  /** Where mail of sandbox-only keys goes, whatever the relay is. */
  sandbox: Way;
  /** Named as reporting_mta where the relay itself refused. */
  relayHost: string;
}

export interface Outcome {
  claimed: ClaimedMessage;
  events: NewEvent[];
  /** Those of the events that are bounces, with what they mean for the address. */
  bounces: Bounce[];
  next: Next;
  /** Kept when somebody still has to wait, or had to at the end. */
  kept: NewAttempt | null;
  /** How the dialogue went; null when none was needed. */
  handOver: HandOver | null;
}

/** What becomes of the due row. */
export type Next =
  | { state: 'finished' }
  | { state: 'waiting'; afterMs: number; left: Left; response: string | null }
  /** Nothing stands against it: whoever comes next may take it. */
  | { state: 'ready'; left: Left }
  | { state: 'set aside'; left: Left; reason: string };

export interface Left {
  /** Null: all. */
  remaining: string[] | null;
  unknown: string[] | null;
  /** False: not a word was said to the relay, so it was no attempt. */
  begun: boolean;
}

/** A claimed mail, and whether it may still begin: the lease holds, nobody wants us to stop. */
export interface Attempt {
  claimed: ClaimedMessage;
  mayBegin: () => boolean;
  /** By the database's clock. */
  nowMs: number;
  /** That clock can be trusted with giving mails up: it has not leapt within a day. */
  mayExpire: boolean;
}

export async function attempt(
  deps: AttemptDeps,
  { claimed, mayBegin, nowMs, mayExpire }: Attempt,
  mail: StoredMail,
  suppressed: ReadonlySet<string>,
): Promise<Outcome> {
  const wanted = claimed.remaining ?? mail.recipients;
  const { allowed, heldBack } = holdBackSuppressed(mail, wanted, suppressed);
  const events = heldBack.map((recipient) => suppressedEvent(mail, recipient));
  if (allowed.length === 0) return finished(claimed, events);

  const sender = await deps.senders.of(mail.account, mail.head.from.domain);
  const handing = await handCopies(deps, claimed, mail, sender, allowed, mayBegin);
  const expired = mayExpire && isExpired(idTimeMs(mail.messageId), nowMs);
  return judge(deps, claimed, mail, events, handing, expired);
}

function holdBackSuppressed(
  mail: StoredMail,
  wanted: readonly string[],
  suppressed: ReadonlySet<string>,
): { allowed: string[]; heldBack: string[] } {
  const isSuppressed = (recipient: string) =>
    suppressed.has(suppressionKey(mail.accountId, recipient));
  return {
    allowed: wanted.filter((recipient) => !isSuppressed(recipient)),
    heldBack: wanted.filter(isSuppressed),
  };
}

interface Handing {
  handOvers: HandOver[];
  /** Recipients of the copies that did not begin. */
  unbegun: string[];
  /** Why they did not, where it was the mail's own fault. */
  fault: Error | null;
}

/** One copy after the other; what went before stays true when one of them fails. */
async function handCopies(
  deps: AttemptDeps,
  claimed: ClaimedMessage,
  mail: StoredMail,
  sender: Sender,
  recipients: string[],
  mayBegin: () => boolean,
): Promise<Handing> {
  const copies = copiesFor(deps, mail, recipients);
  const handOvers: HandOver[] = [];
  for (const [index, copy] of copies.entries()) {
    const rest = (fault: Error | null): Handing => ({
      handOvers,
      unbegun: copies.slice(index).map((it) => it.recipient),
      fault,
    });
    const last = handOvers.at(-1);
    // A relay that cannot be reached need not be tried for every copy.
    if (last?.connection === 'unreachable') {
      handOvers.push(sameFor(last, copy.recipient));
      continue;
    }
    try {
      const handOver = await handCopy(deps, claimed, mail, sender, copy, mayBegin);
      if (handOver === undefined) return rest(null);
      handOvers.push(handOver);
    } catch (error) {
      return rest(error as Error);
    }
  }
  return { handOvers, unbegun: [], fault: null };
}

const sameFor = (handOver: HandOver, recipient: string): HandOver => ({
  ...handOver,
  recipients: handOver.recipients.map((outcome) => ({ ...outcome, recipient })),
});

/**
 * Reports about mails of the service itself come to the service, whichever account's domain it
 * writes from.
 */
const returnPathDomain = (deps: AttemptDeps, mail: StoredMail, sender: Sender): string =>
  mail.door === 'system' ? deps.senders.bounceDomain : sender.returnPathDomain;

/** Undefined: it did not begin. */
async function handCopy(
  deps: AttemptDeps,
  claimed: ClaimedMessage,
  mail: StoredMail,
  sender: Sender,
  copy: Copy,
  mayBegin: () => boolean,
): Promise<HandOver | undefined> {
  const { relay, making, handing } = mail.head.sandbox ? deps.sandbox : deps.relay;
  const made = await making.take(claimed, mayBegin, () => makeCopy(deps, mail, sender, copy));
  if (made === undefined) return undefined;
  const envelope = {
    from: returnPath(deps.returnPathKey, mail, copy.place, returnPathDomain(deps, mail, sender)),
    recipients: [copy.recipient],
    envelopeId: showId('msg_', mail.messageId),
    smtputf8: made.smtputf8,
  };
  return await handing.take(claimed, mayBegin, (stillWanted) =>
    relay.hand(envelope, made.chunks, stillWanted),
  );
}

/**
 * Accepted: sent. Refused: bounced. Deferred: again later, those recipients only, until a day has
 * passed. Unknown: as the account wants it. Not begun: at once, by whomever. A mail that cannot be
 * made is set aside.
 */
function judge(
  deps: AttemptDeps,
  claimed: ClaimedMessage,
  mail: StoredMail,
  events: NewEvent[],
  { handOvers, unbegun, fault }: Handing,
  expired: boolean,
): Outcome {
  const handOver = together(handOvers);
  const by = (result: RecipientOutcome['result']) =>
    handOver?.recipients.filter((recipient) => recipient.result === result) ?? [];
  const countsAsSent = mail.account.unknownOutcome === 'count_as_sent';
  const unknown = by('unknown');
  const sent = [...by('accepted'), ...(countsAsSent ? unknown : [])];
  const late = [...by('deferred'), ...(countsAsSent ? [] : unknown)];

  if (sent.length > 0) {
    events.push(sentEvent(mail, claimed, namesOf(sent), handOver?.relayMessageId));
  }
  const bounces = [
    ...by('refused').map((refused) => refusedBounce(mail, refused, deps.relayHost)),
    ...(expired ? late.map((one) => expiredBounce(mail, one, deps.relayHost)) : []),
  ];
  events.push(...bounces.map(({ event }) => event));

  const waiting = expired ? [] : late;
  const next = nextOf(claimed, { waiting, unknown, unbegun, fault, begun: handOver !== null });
  const kept = attemptToKeep(deps, claimed, [...by('deferred'), ...unknown], next);
  return { claimed, events, bounces, next, kept, handOver };
}

function nextOf(
  claimed: ClaimedMessage,
  rest: {
    waiting: RecipientOutcome[];
    unknown: RecipientOutcome[];
    unbegun: string[];
    fault: Error | null;
    begun: boolean;
  },
): Next {
  const { waiting, unbegun, fault, begun } = rest;
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
    return { state: 'set aside', left, reason: `The mail could not be made: ${fault.message}` };
  }
  if (waiting.length === 0) return { state: 'ready', left };
  const afterMs = nextAttemptDelayMs(claimed.attempts);
  return { state: 'waiting', afterMs, left, response: waiting[0]!.text };
}

function attemptToKeep(
  deps: AttemptDeps,
  { accountId, messageId, attempts }: ClaimedMessage,
  tried: RecipientOutcome[],
  next: Next,
): NewAttempt | null {
  if (tried.length === 0) return null;
  return {
    accountId,
    messageId,
    identity: `attempt ${attempts}`,
    attempt: attempts,
    server: deps.relayHost,
    recipients: tried.map(({ recipient, result, text }) => ({
      recipient,
      result: result as TriedRecipient['result'],
      reply: text,
    })),
    nextAfterMs: next.state === 'waiting' ? next.afterMs : null,
  };
}

/** What became of the copies, as if they were one mail. */
function together(handOvers: readonly HandOver[]): HandOver | null {
  const worst = handOvers.find((handOver) => handOver.connection !== 'ok') ?? handOvers[0];
  if (worst === undefined) return null;
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

/** A mail whose content is gone can no longer be sent; it must not be tried for ever. */
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

/** Whoever comes next may take it. */
export const givenBack = (claimed: ClaimedMessage): Outcome =>
  ended(claimed, { state: 'ready', left: asItWas(claimed) });

/** Something passes: the database, mostly. */
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
