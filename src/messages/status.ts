// The status of a message: the only place that defines rank. The SQL type message_status is
// declared in the same order.
import type { EventKindName } from '../events/kinds.ts';

export const STATUSES = [
  'queued',
  'sent',
  'delivered',
  'opened',
  'clicked',
  'bounced',
  'complained',
] as const satisfies readonly ('queued' | EventKindName)[];

/** The status is the highest rank seen; it never goes down, whatever the order of the events. */
export type MessageStatus = (typeof STATUSES)[number];
