// Webhooks as the pages show them: endpoints with what waits for them, deliveries with request and response.
import type { HookType } from '../events/kinds.ts';
import { readUuid } from '../ids.ts';
import type { Database, Queryable } from '../store/pool.ts';
import type { Vault } from '../store/vault.ts';
import { type Delivery, getDelivery, listDeliveriesOfMessage } from '../webhooks/deliveries.ts';
import { type Endpoint, getEndpoint, listEndpoints } from '../webhooks/endpoint.ts';
import { openSecretWith } from '../webhooks/endpoint-secrets.ts';
import { sign } from '../webhooks/sign.ts';
import type { DeliveryDetail, DeliveryRow, WebhookEndpoint } from './views/webhooks.ts';

/** Counting stops here; a page says "10,000 and more". */
const MOST_COUNTED = 10_000;

export async function listEndpointViews(
  database: Database,
  accountId: number,
): Promise<WebhookEndpoint[]> {
  const endpoints = await listEndpoints(database, accountId);
  const states = await readStates(database, accountId);
  return endpoints.map((endpoint) => toView(endpoint, states.get(readUuid('whe_', endpoint.id)!)));
}

export async function readEndpointView(
  database: Database,
  accountId: number,
  id: string,
): Promise<WebhookEndpoint> {
  const endpoint = await getEndpoint(database, accountId, id);
  return toView(endpoint, (await readStates(database, accountId)).get(readUuid('whe_', id)!));
}

interface EndpointState {
  uuid: string;
  failures: number;
  pending: number;
}

async function readStates(
  database: Queryable,
  accountId: number,
): Promise<Map<string, EndpointState>> {
  const rows = await database.query<EndpointState>(
    `SELECT w.id AS uuid, w.failures, (SELECT count(*) FROM (
        SELECT FROM webhook_due d WHERE d.account_id = w.account_id AND d.endpoint_id = w.id LIMIT ${MOST_COUNTED}) c) AS pending
     FROM webhook_endpoints w WHERE w.account_id = $1`,
    [accountId],
  );
  return new Map(rows.map((row) => [row.uuid, row]));
}

function toView(endpoint: Endpoint, state: EndpointState | undefined): WebhookEndpoint {
  const { accountId: _, disabledAt, disabledReason, ...rest } = endpoint;
  return {
    ...rest,
    disabled:
      disabledAt === null || disabledReason === null
        ? null
        : { at: disabledAt, reason: disabledReason },
    failures: state?.failures ?? 0,
    pending: state?.pending ?? 0,
  };
}

// ---- Deliveries ---------------------------------------------------------------------------------------------------

export function toDeliveryRow(delivery: Delivery, endpointUrl: string): DeliveryRow {
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

/** The body is the one that was sent; the signature is that of today's secret. */
export async function readDeliveryDetail(
  { database, vault }: { database: Database; vault: Vault },
  accountId: number,
  endpointId: string,
  id: string,
): Promise<DeliveryDetail> {
  const { url } = await getEndpoint(database, accountId, endpointId);
  const delivery = await getDelivery(database, accountId, endpointId, id);
  const body = delivery.request?.body ?? '';
  const endpointUuid = readUuid('whe_', endpointId)!;
  const [row] = await database.query<{ secret: Buffer }>(
    'SELECT secret FROM webhook_endpoints WHERE account_id = $1 AND id = $2',
    [accountId, endpointUuid],
  );
  const secret = openSecretWith(vault)({ accountId, endpointUuid }, row!.secret);
  return {
    ...toDeliveryRow(delivery, url),
    request: {
      url,
      headers: [
        ['content-type', 'application/json'],
        ['x-sm-event-id', delivery.eventId],
        ['x-sm-attempt', String(Math.max(1, delivery.attempts))],
        ['x-sm-signature', sign(Buffer.from(body), secret)],
      ],
      body,
    },
    response: delivery.response,
  };
}
