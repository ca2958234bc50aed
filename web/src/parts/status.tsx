// A message's status and other states as a dot and a word: never by colour alone.
import type { MessageStatus } from '../../../src/dashboard/views/common.ts';

export type Tone = 'quiet' | 'busy' | 'good' | 'bright' | 'warn' | 'bad';

export const toneOfStatus: Record<MessageStatus, Tone> = {
  queued: 'quiet',
  sent: 'busy',
  delivered: 'good',
  opened: 'bright',
  clicked: 'bright',
  bounced: 'bad',
  complained: 'warn',
};

export const statuses = Object.keys(toneOfStatus) as MessageStatus[];

export function State({ tone, children }: { tone: Tone; children: string }) {
  return (
    <div className="state" data-tone={tone}>
      <span className="state-dot" aria-hidden="true" />
      {children}
    </div>
  );
}

export const capital = (word: string): string => word.charAt(0).toUpperCase() + word.slice(1);

export function Status({ status }: { status: MessageStatus }) {
  return <State tone={toneOfStatus[status]}>{capital(status)}</State>;
}

interface Timed {
  status: MessageStatus;
  scheduled_at: string | null;
  cancelled_at: string | null;
}

/** Waiting for its scheduled time. */
export const isScheduled = ({ status, scheduled_at, cancelled_at }: Timed): boolean =>
  status === 'queued' &&
  cancelled_at === null &&
  scheduled_at !== null &&
  Date.parse(scheduled_at) > Date.now();

/** Scheduled and cancelled are separate from the status, and say more than "queued". */
export function MessageState({ message }: { message: Timed }) {
  if (message.cancelled_at !== null) return <State tone="warn">Cancelled</State>;
  if (isScheduled(message)) return <State tone="quiet">Scheduled</State>;
  return <Status status={message.status} />;
}
