// Webhooks: endpoints, deliveries, test events, replays. Types only, so that web/ reads them too.
import type { DeliveryState } from '../../webhooks/delivery-state.ts';
import type { HookType } from './common.ts';

export interface WebhookEndpoint {
  id: string;
  url: string;
  /** Null: all. */
  eventTypes: HookType[] | null;
  /** One at a time, in the order of the events. */
  fifo: boolean;
  createdAt: string;
  /** `owner`: switched off; `gone`: it answered 410; `failing`: for too long. */
  disabled: { at: string; reason: 'owner' | 'gone' | 'failing' } | null;
  /** The old secret signs beside the new one until then. */
  previousSecretUntil: string | null;
  failures: number;
  failingSince: string | null;
  pausedUntil: string | null;
  /** Deliveries that wait. */
  pending: number;
}

export interface NewEndpoint {
  url: string;
  eventTypes?: HookType[] | null;
  fifo?: boolean;
}

export interface EndpointChange {
  url?: string;
  eventTypes?: HookType[] | null;
  fifo?: boolean;
  disabled?: boolean;
}

/** Shown this once. */
export interface EndpointSecret {
  endpoint: WebhookEndpoint;
  secret: string;
  /** Something odd about the URL that is still allowed. */
  warning: string | null;
}

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

export interface DeliveryDetail extends DeliveryRow {
  request: { url: string; headers: [name: string, value: string][]; body: string };
  response: { status: number; body: string; truncated: boolean } | null;
}

export interface WebhookTest {
  ok: boolean;
  status: number | null;
  error: string | null;
  durationMs: number;
  response: string;
}

export interface Replay {
  from: string;
  until: string;
  eventTypes?: HookType[];
  /** Only those whose delivery was abandoned. */
  onlyFailed?: boolean;
  /** Count, and send nothing. */
  dryRun: boolean;
}
