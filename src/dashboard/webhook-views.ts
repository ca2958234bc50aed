// Webhook deliveries as the page of a message shows them.
import type { HookType } from '../events/kinds.ts';
import type { Database } from '../store/pool.ts';
import { type Delivery, listDeliveriesOfMessage } from '../webhooks/deliveries.ts';
import { listEndpoints } from '../webhooks/endpoint.ts';
import type { DeliveryRow } from './views/webhooks.ts';

function toDeliveryRow(delivery: Delivery, endpointUrl: string): DeliveryRow {
  const { id, endpointId, messageId, eventId, state, attempts, createdAt, attemptedAt } = delivery;
  return {
    ...{ id, endpointId, endpointUrl, messageId, eventId, state, attempts, createdAt, attemptedAt },
    eventType: delivery.eventType as HookType,
    nextAt: delivery.nextAttemptAt,
    status: delivery.response?.status ?? null,
    error: delivery.error,
    durationMs: delivery.durationMs,
  };
}

export async function listMessageDeliveries(
  database: Database,
  accountId: number,
  messageUuid: string,
): Promise<DeliveryRow[]> {
  const deliveries = await listDeliveriesOfMessage(database, accountId, messageUuid);
  if (deliveries.length === 0) return [];
  const endpoints = await listEndpoints(database, accountId);
  const urls = new Map(endpoints.map(({ id, url }) => [id, url]));
  return deliveries.map((it) => toDeliveryRow(it, urls.get(it.endpointId) ?? ''));
}
