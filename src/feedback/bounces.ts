// A bounce and what it means for its address. Before: record.ts read a report, or delivery was
// refused by the relay. After: the event says whether the account may send there again.
import type { NewEvent } from '../events/record.ts';
import type { Queryable } from '../store/pool.ts';
import { judgeRefusals } from '../suppressions/strikes.ts';
import type { Consequence } from './classify.ts';

export interface Bounce {
  event: Extract<NewEvent, { kind: 'bounced' }>;
  consequence: Consequence;
}

/** In the transaction that records the events: each learns whether it suppressed its address. */
export async function judgeBounces(
  client: Queryable,
  bounces: readonly Bounce[],
  nowMs: number,
): Promise<void> {
  const refusals = bounces.flatMap(({ event, consequence }) => {
    const { accountId, messageId, recipients } = event;
    event.detail.suppressed = false;
    if (consequence === 'none') return [];
    return recipients.map((address) => ({ event, accountId, messageId, address, consequence }));
  });
  if (refusals.length === 0) return;
  const suppressed = await judgeRefusals(client, refusals, nowMs);
  for (const [index, { event }] of refusals.entries()) event.detail.suppressed = suppressed[index]!;
}
