// The story of an email in plain words: what happened, why, what to do. Before it: follow-email.ts.
import type { Approval } from '../approvals/approvals.ts';
import type { MessageDetails, RecipientState } from '../delivery/message-details.ts';
import { EVENT_KINDS } from '../events/kinds.ts';
import type { Reason } from '../events/reasons.ts';

const WHY: Record<Reason, string> = {
  'user-unknown': 'There is no such mailbox. Correct the address before you send to it again.',
  'mailbox-full': 'The mailbox is full. Try again in a few days.',
  'mailbox-disabled': 'The mailbox is disabled. Do not send to it again.',
  moved: 'The person’s address has changed. Ask them for the new one.',
  'host-unknown': 'The domain does not exist or accepts no email. Correct the address.',
  spam: 'The receiver treated it as spam. Change what it says, and check whether the sender is on a blocklist.',
  policy: 'The receiver’s policy refuses it. Its postmaster can tell you more.',
  authentication: 'SPF, DKIM or DMARC is missing or failed. Check the DNS of the sender’s domain.',
  'rate-limited': 'The receiver limits how much it accepts at a time. Send again later.',
  greylisted: 'The receiver asked to try again later, and the time ran out first.',
  'too-large': 'It is larger than the receiver accepts. Leave files out, or link to them.',
  content: 'The receiver refused what is in it, such as a file.',
  suppressed: 'The relay has the address on its own suppression list.',
  expired: 'It was retried until its time ran out.',
  network: 'The receiving server could not be reached.',
  'relay-denied': 'The server does not accept email for this domain.',
  loop: 'It was passed around in a loop between servers. The receiver has to fix that.',
  protocol: 'The receiving server did not accept our SMTP commands. The operator’s log says more.',
  system: 'The receiving server had a problem. Send again later.',
  other: 'The receiver gave no reason other than its response.',
};

const stands = (status: RecipientState['status']): string =>
  status === 'queued' ? 'It has not been handed over yet.' : EVENT_KINDS[status].stands;

/** Why nobody receives a cancelled email. */
const CALLED_BACK: Partial<Record<Approval['state'], string>> = {
  declined: 'A person declined it: nobody receives it.',
  expired: 'Nobody approved it in time: nobody receives it.',
};

/** `decided`: what happened to the approval it waited for; undefined: it needed none. */
function standing(found: MessageDetails, decided: Approval['state'] | undefined): string {
  if (found.cancelledAt !== null) {
    return (decided && CALLED_BACK[decided]) ?? 'It was cancelled: nobody receives it.';
  }
  const { pending, status, scheduledAt } = found;
  if (status === 'queued' && pending === null) {
    return 'It waits for a person’s approval: nothing has been sent.';
  }
  if (pending?.setAside)
    return 'It was set aside. The operator of the service decides what happens to it.';
  if (pending !== null && pending.attempts > 0) {
    return `It was tried ${pending.attempts} times and will be retried at ${pending.nextAt}.`;
  }
  if (status === 'queued' && scheduledAt !== null) return `It goes out at ${scheduledAt}.`;
  return stands(status);
}

export const explain = {
  /** The status of an email is that of its worst copy: others may have been delivered. */
  message(found: MessageDetails, decided: Approval['state'] | undefined): string {
    const all = found.recipientStates.map(({ status }) => status);
    const different = [...new Set(all)];
    if (different.length < 2) return standing(found, decided);
    const counts = different.map((one) => `${all.filter((it) => it === one).length} ${one}`);
    return `It differs by recipient: ${counts.join(', ')}.`;
  },

  recipient(
    { status }: RecipientState,
    { reason, type }: { reason: Reason | null; type: string | null },
    found: MessageDetails,
    decided: Approval['state'] | undefined,
  ): string {
    if (status === 'queued') return standing(found, decided);
    if (status !== 'bounced') return stands(status);
    if (type === 'suppressed') {
      return 'It was not sent: the address is on the suppression list, because it bounced, complained or unsubscribed.';
    }
    return `${EVENT_KINDS.bounced.stands} ${reason === null ? WHY.other : WHY[reason]}`;
  },
};
