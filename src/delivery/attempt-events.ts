// The events an attempt makes: sent, and bounced for one of four reasons. Called by attempt.ts; recorded by outcomes.ts.
import type { NewEvent } from '../events/record.ts';
import { classify } from '../feedback/classify.ts';
import { showId } from '../ids.ts';
import type { StoredMail } from '../mail/stored-mail.ts';
import type { ClaimedMessage } from '../queue/due.ts';
import type { RecipientOutcome } from '../smtp/transaction.ts';

/** The attempt is its identity: what the relay took is told once, by whomever and however late. */
export function sentEvent(
  mail: StoredMail,
  claimed: ClaimedMessage,
  recipients: string[],
  relayMessageId: string | undefined,
): NewEvent {
  return {
    ...referenceOf(mail),
    kind: 'sent',
    recipients,
    detail: { subject: mail.subject },
    identity: `attempt ${claimed.attempts}`,
    relayMessageId: relayMessageId ?? showId('msg_', mail.messageId),
  };
}

export function bouncedEvent(
  mail: StoredMail,
  outcome: RecipientOutcome,
  bounceType: 'permanent' | 'expired',
  relayHost: string,
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
      reporting_mta: relayHost,
    },
    identity: `${bounceType} ${outcome.recipient}`,
  };
}

export function suppressedEvent(mail: StoredMail, recipient: string): NewEvent {
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

export function contentGoneEvent(claimed: ClaimedMessage): NewEvent {
  return {
    ...referenceOf(claimed),
    kind: 'bounced',
    recipients: claimed.remaining ?? [],
    detail: {
      bounce_type: 'expired',
      reason: 'expired',
      smtp_response: 'not handed over: the content was past its days of retention',
      reporting_mta: 'sandmartin',
    },
    identity: 'content gone',
  };
}

const referenceOf = ({
  accountId,
  messageId,
}: Pick<NewEvent, 'accountId' | 'messageId'>): Pick<NewEvent, 'accountId' | 'messageId'> => ({
  accountId,
  messageId,
});
