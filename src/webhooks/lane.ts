// A lane: one endpoint while this worker serves it, with the rows it has in hand. worker.ts drives
// it.
import type { StoredEvent } from './event-body.ts';
import { isOpen } from './health.ts';
import type { DueDelivery, LeasedEndpoint } from './leases.ts';

/** POSTs to one endpoint at a time. */
const WIDTH = 4;
/** Half of what is taken for one endpoint at a time. */
const ROOM = 16;

export interface QueuedDelivery {
  delivery: DueDelivery;
  /** Undefined: past its retention. */
  event: StoredEvent | undefined;
}

export interface Lane {
  endpoint: LeasedEndpoint;
  queue: QueuedDelivery[];
  /** From taking a delivery until its outcome is committed. */
  inHand: Set<string>;
  posting: number;
  /** The last look found no more rows. */
  dry: boolean;
  /** It gets no more rows: it fails, is disabled or lost to another worker, or we stop. */
  shut: boolean;
  /** Its release is being written; nothing is added any more. */
  ended: boolean;
}

export const openLane = (endpoint: LeasedEndpoint): Lane => ({
  endpoint,
  queue: [],
  inHand: new Set(),
  posting: 0,
  dry: false,
  shut: false,
  ended: false,
});

export const widthOf = ({ endpoint }: Lane): number =>
  endpoint.fifo || isOpen(endpoint.health) ? 1 : WIDTH;

/** The settings may have changed; the health here is newer. */
export function refresh(lane: Lane, endpoint: LeasedEndpoint): void {
  lane.endpoint = { ...endpoint, health: lane.endpoint.health };
}

/**
 * Puts back what has not begun; the rest is finished. Taking it wrote no row, so this writes none
 * either.
 */
export function shut(lane: Lane): void {
  for (const { delivery } of lane.queue.splice(0)) lane.inHand.delete(delivery.deliveryUuid);
  lane.shut = true;
}

export const isShort = (lane: Lane): boolean => !lane.shut && lane.queue.length < widthOf(lane);

/** Gets more rows when some other lane needs them: one look for many lanes costs little more. */
export const hasRoom = (lane: Lane): boolean => !lane.shut && lane.queue.length < ROOM;

export const isDone = (lane: Lane): boolean => lane.inHand.size === 0 && (lane.dry || lane.shut);
