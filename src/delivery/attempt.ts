// One attempt to hand a mail to the relay. Before: worker.ts claimed and loaded it. After: outcomes.ts records what came of it.
import type { Mailbox } from '../addresses.ts';
import type { NewEvent } from '../events/record.ts';
import { classify } from '../feedback/classify.ts';
import { mailToken, returnPath } from '../feedback/return-path.ts';
import { idTimeMs, showId } from '../ids.ts';
import type { ClaimedMessage } from '../queue/due.ts';
import type { StoredHead } from '../sending/stored-head.ts';
import { suppressionKey } from '../suppressions/suppressions.ts';
import { type Tracker, trackHtml, unsubscribeUrl } from '../tracking/apply.ts';
import { type ComposedMail, composeMail, mailChunks } from './compose.ts';
import { signMail } from './dkim.ts';
import type { Relay } from './relay.ts';
import { isExpired, nextAttemptDelayMs } from './retry.ts';
import type { Sender, Senders } from './senders.ts';
import type { HandOver, RecipientOutcome } from './smtp-transaction.ts';
import type { StoredMail } from './stored-mail.ts';

/** What a mail is made with. */
export interface MakingDeps {
  /** Signs return paths. */
  returnPathKey: Buffer;
  senders: Senders;
  tracker: Tracker;
  /** False while nobody said under which address recipients reach us: then mails to the real relay are not tracked. */
  isPublic: boolean;
}

export interface AttemptDeps extends MakingDeps {
  relay: Pick<Relay, 'hand'>;
  /** Where mail of sandbox-only keys goes, whatever the relay is. */
  sandbox: Pick<Relay, 'hand'>;
  /** Named as reporting_mta where the relay itself refused. */
  relayHost: string;
}

export interface Outcome {
  claimed: ClaimedMessage;
  events: NewEvent[];
  /** Null: nothing is left to do. */
  retry: { afterMs: number; remaining: string[]; response: string } | null;
  /** How the dialogue went; null when none was needed. */
  handOver: HandOver | null;
}

export async function attempt(
  deps: AttemptDeps,
  claimed: ClaimedMessage,
  mail: StoredMail,
  suppressed: ReadonlySet<string>,
  nowMs: number,
): Promise<Outcome> {
  const wanted = claimed.remaining ?? mail.recipients;
  const { allowed, heldBack } = holdBackSuppressed(mail, wanted, suppressed);
  const events = heldBack.map((recipient) => suppressedEvent(mail, recipient));
  if (allowed.length === 0) return { claimed, events, retry: null, handOver: null };

  const sender = await deps.senders.of(mail.account, mail.head.from.domain);
  const handOvers: HandOver[] = [];
  for (const copy of copiesFor(deps, mail, allowed)) {
    handOvers.push(await handCopy(deps, mail, sender, copy));
  }
  return judge(deps, claimed, mail, events, together(handOvers), nowMs);
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

interface Copy {
  recipients: string[];
  /** Where its one reader unsubscribes. */
  unsubscribe: string | null;
}

/** One for all; where people can unsubscribe with one click, one for each, or nobody could tell who did. */
function copiesFor(deps: MakingDeps, mail: StoredMail, recipients: string[]): Copy[] {
  const ownWay = mail.head.headers.some(([name]) => name.toLowerCase() === 'list-unsubscribe');
  if (!mail.account.oneClickUnsubscribe || ownWay || !hasWorkingLinks(deps, mail)) {
    return [{ recipients, unsubscribe: null }];
  }
  return recipients.map((recipient) => ({
    recipients: [recipient],
    unsubscribe: unsubscribeUrl(deps.tracker, mail, recipient),
  }));
}

const hasWorkingLinks = (deps: MakingDeps, mail: StoredMail): boolean =>
  deps.isPublic || mail.head.sandbox === true;

async function handCopy(
  deps: AttemptDeps,
  mail: StoredMail,
  sender: Sender,
  copy: Copy,
): Promise<HandOver> {
  const composed = compose(deps, mail, copy);
  const signatures = await signMail(composed, sender.keys, acceptedAt(mail));
  const relay = mail.head.sandbox ? deps.sandbox : deps.relay;
  const envelope = {
    from: returnPath(deps.returnPathKey, mail, sender.returnPathDomain),
    recipients: copy.recipients,
    envelopeId: showId('msg_', mail.messageId),
    smtputf8: composed.smtputf8,
  };
  return await relay.hand(envelope, mailChunks(composed, signatures));
}

/** A mail as it goes over the wire, for people to look at; where each recipient gets a copy, that of the first. */
export async function sourceOf(deps: MakingDeps, mail: StoredMail): Promise<Buffer> {
  const [copy] = copiesFor(deps, mail, mail.recipients);
  const sender = await deps.senders.of(mail.account, mail.head.from.domain);
  const composed = compose(deps, mail, copy!);
  const signatures = await signMail(composed, sender.keys, acceptedAt(mail));
  return Buffer.concat(mailChunks(composed, signatures));
}

function compose(deps: MakingDeps, mail: StoredMail, copy: Copy): ComposedMail {
  const { head } = mail;
  const id = showId('msg_', mail.messageId);
  const html = htmlOf(deps, mail);
  return composeMail({
    messageId: stableMessageId(id, head.from),
    date: acceptedAt(mail),
    from: head.from,
    to: head.to,
    cc: head.cc,
    ...(head.replyTo ? { replyTo: head.replyTo } : {}),
    subject: mail.subject,
    ...(mail.text ? { text: mail.text } : {}),
    ...(html ? { html } : {}),
    // Reports about the mail are matched by the first two when the return path is lost on the way.
    ownHeaders: [
      ['X-SM-Message-Id', id],
      ['X-SM-Token', mailToken(deps.returnPathKey, mail)],
      ...unsubscribeHeaders(copy.unsubscribe),
    ],
    headers: head.headers,
    attachments: sliceAttachments(head, mail.attachments),
  });
}

function htmlOf(deps: MakingDeps, mail: StoredMail): Buffer | string | null {
  const { trackOpens, trackClicks } = mail.account;
  const wanted = { opens: trackOpens, clicks: trackClicks && !mail.head.keepLinks };
  if (mail.html === null || !hasWorkingLinks(deps, mail)) return mail.html;
  if (!wanted.opens && !wanted.clicks) return mail.html;
  return trackHtml(deps.tracker, mail, mail.html.toString(), wanted);
}

/** RFC 8058 3.1: both headers, and both signed. */
const unsubscribeHeaders = (url: string | null): [string, string][] =>
  url === null
    ? []
    : [
        ['List-Unsubscribe', `<${url}>`],
        ['List-Unsubscribe-Post', 'List-Unsubscribe=One-Click'],
      ];

/** The same on every attempt, and so are the signatures made with it. */
const acceptedAt = (mail: StoredMail): Date => new Date(idTimeMs(mail.messageId));

/** The same on every attempt, so that a repeat after a crash can be recognised. */
const stableMessageId = (id: string, from: Mailbox): string => `<${id}@${from.domain}>`;

function sliceAttachments(head: StoredHead, bytes: Buffer | null) {
  let at = 0;
  return head.attachments.map(({ filename, contentType, size }) => {
    const content = bytes?.subarray(at, at + size) ?? Buffer.alloc(0);
    at += size;
    return { filename, contentType, content };
  });
}

/** What became of the copies, as if they were one mail. */
function together(handOvers: readonly HandOver[]): HandOver {
  const worst = handOvers.find((handOver) => handOver.connection !== 'ok') ?? handOvers[0]!;
  return {
    ...worst,
    recipients: handOvers.flatMap((handOver) => handOver.recipients),
    relayMessageId: handOvers.find((handOver) => handOver.relayMessageId)?.relayMessageId,
  };
}

/** Accepted: sent. Refused: bounced. Deferred: again later, those recipients only, until a day has passed. */
function judge(
  deps: AttemptDeps,
  claimed: ClaimedMessage,
  mail: StoredMail,
  events: NewEvent[],
  handOver: HandOver,
  nowMs: number,
): Outcome {
  const by = (result: RecipientOutcome['result']) =>
    handOver.recipients.filter((recipient) => recipient.result === result);
  const accepted = by('accepted');
  const deferred = by('deferred');
  const expired = isExpired(idTimeMs(mail.messageId), nowMs);

  if (accepted.length > 0) events.push(sentEvent(mail, claimed, accepted, handOver));
  for (const refused of by('refused')) events.push(bouncedEvent(deps, mail, refused, 'permanent'));
  if (expired) {
    for (const late of deferred) events.push(bouncedEvent(deps, mail, late, 'expired'));
  }
  const retry =
    expired || deferred.length === 0
      ? null
      : {
          afterMs: nextAttemptDelayMs(claimed.attempts),
          remaining: deferred.map((outcome) => outcome.recipient),
          response: deferred[0]!.text,
        };
  return { claimed, events, retry, handOver };
}

function sentEvent(
  mail: StoredMail,
  claimed: ClaimedMessage,
  accepted: RecipientOutcome[],
  handOver: HandOver,
): NewEvent {
  return {
    ...referenceOf(mail),
    kind: 'sent',
    recipients: accepted.map((outcome) => outcome.recipient),
    detail: { subject: mail.subject },
    identity: `attempt ${claimed.attempts}`,
    relayMessageId: handOver.relayMessageId ?? showId('msg_', mail.messageId),
  };
}

function bouncedEvent(
  deps: AttemptDeps,
  mail: StoredMail,
  outcome: RecipientOutcome,
  bounceType: 'permanent' | 'expired',
): NewEvent {
  return {
    ...referenceOf(mail),
    kind: 'bounced',
    recipients: [outcome.recipient],
    detail: {
      bounce_type: bounceType,
      reason:
        bounceType === 'expired'
          ? 'expired'
          : classify(outcome.enhanced || null, outcome.text).reason,
      smtp_response: outcome.text,
      reporting_mta: deps.relayHost,
    },
    identity: `${bounceType} ${outcome.recipient}`,
  };
}

function suppressedEvent(mail: StoredMail, recipient: string): NewEvent {
  return {
    ...referenceOf(mail),
    kind: 'bounced',
    recipients: [recipient],
    detail: {
      bounce_type: 'suppressed',
      reason: 'suppressed',
      smtp_response: 'not handed over: the address is on the account’s suppression list',
      reporting_mta: 'sandmartin',
    },
    identity: `suppressed ${recipient}`,
  };
}

/** A mail whose content is gone can no longer be sent; it must not be tried for ever. */
export function contentGone(claimed: ClaimedMessage): Outcome {
  return {
    claimed,
    retry: null,
    handOver: null,
    events: [
      {
        accountId: claimed.accountId,
        messageId: claimed.messageId,
        kind: 'bounced',
        recipients: claimed.remaining ?? [],
        detail: {
          bounce_type: 'expired',
          reason: 'expired',
          smtp_response: 'not handed over: the content was past its days of retention',
          reporting_mta: 'sandmartin',
        },
        identity: 'content gone',
      },
    ],
  };
}

const referenceOf = (mail: StoredMail): Pick<NewEvent, 'accountId' | 'messageId'> => ({
  accountId: mail.accountId,
  messageId: mail.messageId,
});
