// Sample calls: webhook endpoints.
import { until } from '../../support/until.ts';
import type { Samples } from '../samples.ts';
import type { Party, World } from '../world.ts';

/** Answers its id. An account has 50 at most, so the oldest make room. */
export async function makeEndpoint(world: World, whose: Party): Promise<string> {
  const { data } = await world.done('list_webhook_endpoints', {}, whose);
  if (data.length > 40) await world.done('remove_webhook_endpoint', { id: data[0].id }, whose);
  const url = `${world.receiver}/${whose.mark}/${world.next()}`;
  return (await world.done('create_webhook_endpoint', { url }, whose)).id;
}

const made = new Map<number, Promise<{ id: string; delivery_id: string }>>();

/** One that was posted, of an endpoint that nobody removes. */
function deliveryOf(world: World, whose: Party): Promise<{ id: string; delivery_id: string }> {
  const known = made.get(whose.accountId) ?? makeDelivery(world, whose);
  made.set(whose.accountId, known);
  return known;
}

async function makeDelivery(world: World, whose: Party) {
  const id = await makeEndpoint(world, whose);
  const from_email = `${whose.mark}@example.com`;
  const email = { from_email, to: ['ada@example.net'], subject: 'Hello', text: 'Hello' };
  await world.done('send_email', email, whose);
  const delivery = await until(
    async () => (await world.done('list_webhook_deliveries', { id }, whose)).data[0],
  );
  return { id, delivery_id: delivery.id as string };
}

export const samples: Samples = {
  list_webhook_endpoints: {
    async input(world, whose) {
      await makeEndpoint(world, whose);
      return {};
    },
  },
  create_webhook_endpoint: {
    input: ({ receiver, next }, { mark }) => ({ url: `${receiver}/${mark}/${next()}` }),
    refused: [{ url: 'https://10.0.0.1/' }, { url: 'ftp://example.com' }],
  },
  update_webhook_endpoint: {
    input: async (world, whose) => ({
      id: await makeEndpoint(world, whose),
      event_types: ['bounce'],
    }),
    refused: [{ url: 'https://10.0.0.1/' }],
  },
  get_webhook_endpoint: {
    input: async (world, whose) => ({ id: await makeEndpoint(world, whose) }),
  },
  remove_webhook_endpoint: {
    input: async (world, whose) => ({ id: await makeEndpoint(world, whose) }),
  },
  rotate_webhook_secret: {
    input: async (world, whose) => ({ id: await makeEndpoint(world, whose) }),
  },
  test_webhook_endpoint: {
    input: async (world, whose) => ({ id: await makeEndpoint(world, whose) }),
    leavesNoAudit: true,
  },
  list_webhook_deliveries: {
    input: async (world, whose) => ({ id: await makeEndpoint(world, whose) }),
  },
  get_webhook_delivery: { input: deliveryOf, needsDelivery: true },
  retry_webhook_delivery: { input: deliveryOf, needsDelivery: true },
  replay_webhook_events: {
    input: async (world, whose) => ({ id: await makeEndpoint(world, whose), abandoned: true }),
    refused: [{ abandoned: false }, { from: '2026-01-01T00:00:00Z' }],
  },
};
