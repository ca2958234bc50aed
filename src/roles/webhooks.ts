// The role that posts events to the accounts' endpoints.
import { startWebhookWorker } from '../webhooks/worker.ts';
import type { Shared } from './shared.ts';

export function startWebhooks({ opened, secret, webhooks, ...shared }: Shared): void {
  const { database, clock, log, metrics } = shared;
  const { vault } = secret;
  const { agent } = webhooks;
  opened(startWebhookWorker({ database, vault, clock, log, metrics, agent }), (it) => it.stop());
}
