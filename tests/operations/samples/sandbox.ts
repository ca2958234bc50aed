// Sample calls: the sandbox.
import { until } from '../../support/until.ts';
import type { Samples } from '../samples.ts';
import type { Party, World } from '../world.ts';
import { sendOne } from './messages.ts';

/** A message that was captured; answers its id. */
async function captureOne(world: World, whose: Party): Promise<string> {
  const id = await sendOne(world, whose);
  await until(async () => {
    const { data } = await world.done('list_sandbox_emails', {}, whose);
    return data.some(({ message_id }: { message_id: string }) => message_id === id);
  });
  return id;
}

export const samples: Samples = {
  list_sandbox_emails: {
    needsDelivery: true,
    async input(world, whose) {
      // What the other sent by Ada's own samples is the other's, but looks like hers.
      for (const party of [world.ada, world.bob]) await world.done('clear_sandbox', {}, party);
      await captureOne(world, whose);
      return { limit: 5 };
    },
    refused: [{ cursor: 'nowhere' }, { wait: 1 }, { after: 'yesterday' }, { wait: 61, after: 'x' }],
  },
  list_simulator_addresses: { input: () => ({}) },
  get_sandbox_email: {
    needsDelivery: true,
    input: async (world, whose) => ({ id: await captureOne(world, whose) }),
  },
  get_sandbox_email_raw: {
    needsDelivery: true,
    input: async (world, whose) => ({ id: await captureOne(world, whose) }),
  },
  get_sandbox_email_html: {
    needsDelivery: true,
    input: async (world, whose) => ({ id: await captureOne(world, whose) }),
  },
  clear_sandbox: {
    needsDelivery: true,
    async input(world, whose) {
      await captureOne(world, whose);
      return {};
    },
  },
};
