// One attempt to hand a mail to the relay. Before: worker.ts claimed and loaded it. After: outcomes.ts records what came of it.
import type { Mailbox } from '../addresses.ts';
import type { NewEvent } from '../events/record.ts';
import { classify } from '../feedback/classify.ts';
import { mailToken, returnPath } from '../feedback/return-path.ts';
import { idTimeMs, showId } from '../ids.ts';
import type { ClaimedMessage } from '../queue/due.ts';
import type { StoredHead } from '../sending/stored-head.ts';
import { suppressionKey } from '../suppressions/suppressions.ts';
import { composeMail } from './compose.ts';
import type { Relay } from './relay.ts';
import { isExpired, nextAttemptDelayMs } from './retry.ts';
import type { HandOver, RecipientOutcome } from './smtp-transaction.ts';
import type { StoredMail } from './stored-mail.ts';

export interface AttemptDeps {
  relay: Pick<Relay, 'hand'>;
  /** Where mail of sandbox-only keys goes, whatever the relay is. */
  sandbox: Pick<Relay, 'hand'>;
  /** Signs return paths. */
  returnPathKey: Buffer;
  bounceDomain: string;
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

  const { chunks, smtputf8 } = compose(deps, mail);
  const relay = mail.head.sandbox ? deps.sandbox : deps.relay;
  const handOver = await relay.hand(envelopeOf(deps, mail, allowed, smtputf8), chunks);
  return judge(deps, claimed, mail, events, handOver, nowMs);
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

function compose(deps: AttemptDeps, mail: StoredMail): { chunks: Buffer[]; smtputf8: boolean } {
  const { head } = mail;
  const id = showId('msg_', mail.messageId);
  const composed = composeMail({
    messageId: stableMessageId(id, head.from),
    date: new Date(idTimeMs(mail.messageId)),
    from: head.from,
    to: head.to,
    cc: head.cc,
    ...(head.replyTo ? { replyTo: head.replyTo } : {}),
    subject: mail.subject,
    ...(mail.text ? { text: mail.text } : {}),
    ...(mail.html ? { html: mail.html } : {}),
    // Reports about the mail are matched by these when the return path is lost on the way.
    ownHeaders: [
      ['X-SM-Message-Id', id],
      ['X-SM-Token', mailToken(deps.returnPathKey, mail)],
    ],
    headers: head.headers,
    attachments: sliceAttachments(head, mail.attachments),
  });
  const headBytes = Buffer.from(`${composed.head}\r\n`);
  return { chunks: [headBytes, ...composed.body], smtputf8: composed.smtputf8 };
}

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

function envelopeOf(deps: AttemptDeps, mail: StoredMail, recipients: string[], smtputf8: boolean) {
  return {
    from: returnPath(deps.returnPathKey, mail, deps.bounceDomain),
    recipients,
    envelopeId: showId('msg_', mail.messageId),
    smtputf8,
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
