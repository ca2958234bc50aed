// Sample calls: relays, for operators. Untested, because nothing listens where they lead.
import type { Samples } from '../samples.ts';
import type { World } from '../world.ts';

const unheard = { url: 'smtp://user:secret@127.0.0.1:9', untested: true, enabled: false };

async function aRelay({ service, next, operator }: World): Promise<{ name: string }> {
  const name = `relay-${next()}`;
  const answer = await fetch(`${service.url}/v1/relays`, {
    method: 'POST',
    headers: { ...operator.headers, 'content-type': 'application/json' },
    body: JSON.stringify({ name, ...unheard }),
  });
  if (answer.status !== 201) throw new Error(await answer.text());
  return { name };
}

export const samples: Samples = {
  list_relays: { input: () => ({}) },
  get_relay: { input: aRelay },
  add_relay: {
    input: ({ next }) => ({ name: `relay-${next()}`, ...unheard }),
    refused: [{ name: 'No Name' }, { url: 'http://example.com' }, { weight: -1 }],
  },
  update_relay: {
    input: async (world) => ({ ...(await aRelay(world)), weight: 1 + world.next() }),
    refused: [{ rules: [{}] }, { daily_limit: 0 }],
  },
  test_relay: { input: aRelay },
  remove_relay: { input: async (world) => ({ ...(await aRelay(world)), into_sandbox: true }) },
};
