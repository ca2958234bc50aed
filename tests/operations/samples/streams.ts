// Sample calls: streams.
import type { Samples } from '../samples.ts';
import type { Party, World } from '../world.ts';

async function makeStream(world: World, whose: Party): Promise<string> {
  const name = `${whose.mark}-${world.next()}`;
  await world.done('put_stream', { name, kind: 'broadcast' }, whose);
  return name;
}

export const samples: Samples = {
  list_streams: {
    async input(world, whose) {
      await makeStream(world, whose);
      return {};
    },
  },
  get_stream: { input: async (world, whose) => ({ name: await makeStream(world, whose) }) },
  put_stream: {
    input: ({ next }, { mark }) => ({ name: `${mark}-${next()}`, kind: 'broadcast' }),
    inAnotherAccount: 'own',
    refused: [
      { name: 'No Name' },
      { name: 'transactional', kind: 'broadcast' },
      { unsubscribe: false },
    ],
  },
  remove_stream: { input: async (world, whose) => ({ name: await makeStream(world, whose) }) },
};
