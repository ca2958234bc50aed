// The events an attempt makes: sent, and bounced for one of four reasons. Called by attempt.ts;
// recorded by outcomes.ts.
import type { NewEvent } from '../events/record.ts';
import type { Bounce } from '../feedback/bounces.ts';
import { classify, type Phase } from '../feedback/classify.ts';
import { showId } from '../ids.ts';
import type { StoredEmail } from '../mail/stored-email.ts';
import type { ClaimedMessage } from '../queue/due.ts';
import type { RecipientOutcome } from '../smtp/transaction.ts';

/**
 * Identified by its attempt: what the relay accepted is recorded once, however often and late it is
 * reported.
 */
export function sentEvent(
  email: StoredEmail,
  claimed: ClaimedMessage,
  recipients: string[],
  relayMessageId: string | undefined,
  relay: string,
): NewEvent {
  return {
    kind: 'sent',
    recipients,
    detail: { subject: email.subject },
    relay,
    identity: `attempt ${claimed.attempts}`,
    relayMessageId: relayMessageId ?? showId('msg_', email.messageId),
    ...referenceOf(email),
  };
}

/** The relay refused the recipient, for what the reply says. */
export function refusedBounce(
  email: StoredEmail,
  outcome: RecipientOutcome,
  relayHost: string,
): Bounce {
  const { enhanced, text, stage } = outcome;
  const { reason, consequence } = classify(enhanced || null, text, phaseOf(stage));
  const event = bounced(email, outcome, { bounce_type: 'permanent', reason }, relayHost);
  return { event, consequence };
}

/** It was deferred until its time in the queue ran out. */
export const expiredBounce = (
  email: StoredEmail,
  outcome: RecipientOutcome,
  relayHost: string,
): Bounce => ({
  event: bounced(email, outcome, { bounce_type: 'expired', reason: 'expired' }, relayHost),
  consequence: 'none',
});

const bounced = (
  email: StoredEmail,
  { recipient, text }: RecipientOutcome,
  why: Pick<Bounce['event']['detail'], 'bounce_type' | 'reason'>,
  relayHost: string,
): Bounce['event'] => ({
  ...referenceOf(email),
  kind: 'bounced',
  recipients: [recipient],
  detail: { ...why, smtp_response: text, reporting_mta: relayHost },
  identity: `${why.bounce_type} ${recipient}`,
});

const phaseOf = (stage: RecipientOutcome['stage']): Phase | null => {
  if (stage === 'body') return 'data';
  return stage === 'mail' || stage === 'rcpt' || stage === 'data' ? stage : null;
};

export function suppressedEvent(email: StoredEmail, recipient: string): NewEvent {
  return {
    ...referenceOf(email),
    kind: 'bounced',
    recipients: [recipient],
    detail: {
      bounce_type: 'suppressed',
      reason: 'suppressed',
      smtp_response: 'not handed over: the address is on the account’s suppression list',
      reporting_mta: 'sandmartin',
      suppressed: true,
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
      smtp_response: 'not handed over: the content was past its retention',
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
