// The story of an email in plain words: what happened, why, what to do. Before it: follow-email.ts.
import type { MessageDetails, RecipientState } from '../delivery/message-details.ts';
import { EVENT_KINDS } from '../events/kinds.ts';
import type { Reason } from '../events/reasons.ts';

const WHY: Record<Reason, string> = {
  'user-unknown': 'There is no such mailbox. Correct the address before you write to it again.',
  'mailbox-full': 'The mailbox is full. Try again in a few days.',
  'mailbox-disabled': 'The mailbox is closed. Do not write to it again.',
  moved: 'The person has another address now. Ask for it.',
  'host-unknown': 'The domain does not exist or accepts no email. Correct the address.',
  spam: 'The receiver took it for spam. Change what it says, and see whether the sender is on a blocklist.',
  policy: 'The receiver’s rules do not let it in. Its operator can say more.',
  authentication: 'SPF, DKIM or DMARC is missing or failed. Check the DNS of the sender’s domain.',
  'rate-limited': 'The receiver got too much too fast. Send again later.',
  greylisted: 'The receiver asked to try again later, and the time ran out first.',
  'too-large': 'It is larger than the receiver accepts. Leave files out, or link to them.',
  content: 'The receiver refused what is in it, such as a file.',
  suppressed: 'The relay has the address on its own suppression list.',
  expired: 'It was tried until its time ran out.',
  network: 'The receiving server could not be reached.',
  'relay-denied': 'The server does not accept email for this domain.',
  loop: 'It went round in circles between servers. The receiver has to fix that.',
  protocol: 'The servers did not understand each other. The operator’s log says more.',
  system: 'The receiving server had trouble of its own. Send again later.',
  other: 'The receiver gave no reason beyond the response.',
};

const stands = (status: RecipientState['status']): string =>
  status === 'queued' ? 'It has not been handed over yet.' : EVENT_KINDS[status].stands;

export const explain = {
  message(found: MessageDetails): string {
    if (found.cancelledAt !== null) return 'It was cancelled, declined or expired: nobody gets it.';
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
  },

  recipient(
    { status }: RecipientState,
    { reason, type }: { reason: Reason | null; type: string | null },
    found: MessageDetails,
  ): string {
    if (status === 'queued') return explain.message(found);
    if (status !== 'bounced') return stands(status);
    if (type === 'suppressed') {
      return 'It was not sent: the address is on the suppression list, because it bounced, complained or unsubscribed.';
    }
    return `${EVENT_KINDS.bounced.stands} ${reason === null ? WHY.other : WHY[reason]}`;
  },
};
