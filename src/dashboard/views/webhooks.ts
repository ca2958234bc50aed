// Webhook deliveries of a message. Types only, so that web/ reads them too.
import type { DeliveryState } from '../../webhooks/delivery-state.ts';
import type { HookType } from './common.ts';

export interface DeliveryRow {
  id: string;
  endpointId: string;
  endpointUrl: string;
  messageId: string;
  eventId: string;
  eventType: HookType;
  state: DeliveryState;
  attempts: number;
  createdAt: string;
  attemptedAt: string | null;
  /** Of a pending one. */
  nextAt: string | null;
  status: number | null;
  error: string | null;
  durationMs: number | null;
}
