// The states of a webhook delivery: the only list, also a CHECK of its table. Imports nothing, so
// that web/ reads it too.
export const DELIVERY_STATES = ['pending', 'delivered', 'abandoned'] as const;
export type DeliveryState = (typeof DELIVERY_STATES)[number];
