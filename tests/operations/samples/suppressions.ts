// Sample calls: suppressions.
import type { Samples } from '../samples.ts';
import type { Party, World } from '../world.ts';

async function suppressOne(world: World, whose: Party): Promise<string> {
  const address = `${whose.mark}-${world.next()}@example.org`;
  await world.done('add_suppression', { address }, whose);
  return address;
}

export const samples: Samples = {
  list_suppressions: {
    async input(world, whose) {
      await suppressOne(world, whose);
      return { search: 'own' };
    },
  },
  get_suppression: {
    input: async (world, whose) => ({ address: await suppressOne(world, whose) }),
    refused: [{ address: 'nobody' }],
  },
  add_suppression: {
    input: ({ next }, { mark }) => ({ address: `${mark}-${next()}@example.org` }),
    inAnotherAccount: 'own',
    refused: [{ address: 'nobody' }],
  },
  add_suppressions: {
    input: ({ next }, { mark }) => ({ addresses: [`${mark}-${next()}@example.org`] }),
    refused: [{ addresses: [] }, { addresses: ['nobody'] }],
  },
  remove_suppression: {
    input: async (world, whose) => ({ address: await suppressOne(world, whose) }),
  },
};
