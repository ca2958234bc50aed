// The status of a message: the one place where rank lives. The SQL type message_status is declared
// in the same order.
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

/** Status is the highest rank seen; it never goes down, whatever order events arrive in. */
export type MessageStatus = (typeof STATUSES)[number];
