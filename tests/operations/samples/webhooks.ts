// Sample calls: webhook endpoints.
import type { Samples } from '../samples.ts';
import type { Party, World } from '../world.ts';

/** Answers its id. */
export async function makeEndpoint(world: World, whose: Party): Promise<string> {
  const url = `${world.receiver}/${whose.mark}/${world.next()}`;
  return (await world.done('create_webhook_endpoint', { url }, whose)).id;
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
};
