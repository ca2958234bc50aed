// Sample calls: domains and addresses to send from.
import type { Samples } from '../samples.ts';
import { operationNamed, type Party, viaRest, type World } from '../world.ts';

const domainOf = ({ next }: World, { mark }: Party): string => `${mark}-${next()}.example`;

async function addDomain(world: World, whose: Party): Promise<{ domain: string }> {
  const domain = domainOf(world, whose);
  await world.done('add_domain', { domain }, whose);
  return { domain };
}

const made = new WeakMap<Party, { domain: string }>();

/**
 * The last one that was made, while nobody removed it or changed its keys: making them takes most
 * of a second.
 */
async function freshDomain(world: World, whose: Party): Promise<{ domain: string }> {
  const last = made.get(whose);
  if (last !== undefined) {
    const { status, body } = await viaRest(
      world.service,
      operationNamed('get_domain'),
      last,
      whose,
    );
    if (status === 200 && body.rotation === null) return last;
  }
  made.set(whose, await addDomain(world, whose));
  return made.get(whose)!;
}

const addressOf = ({ next }: World, { mark }: Party): string => `${mark}-${next()}@home.example`;

async function addAddress(world: World, whose: Party): Promise<{ address: string }> {
  const address = addressOf(world, whose);
  await world.done('add_address', { address }, whose);
  return { address };
}

export const samples: Samples = {
  list_domains: {
    async input(world, whose) {
      await freshDomain(world, whose);
      return { limit: 5 };
    },
  },
  get_domain: { input: freshDomain, refused: [{ domain: 'a@b.example' }] },
  get_domain_dns: { input: freshDomain, refused: [{ domain: 'a@b.example' }] },
  add_domain: {
    // Without a mark: whoever adds it gets records that hold its name.
    input: ({ next }) => ({ domain: `shop-${next()}.example` }),
    inAnotherAccount: 'own',
    refused: [{ domain: 'a@b.example' }, { domain: 'not a domain' }],
  },
  check_domain: { input: freshDomain, leavesNoAudit: true },
  rotate_domain_keys: { input: freshDomain },
  remove_domain: { input: freshDomain },
  list_addresses: {
    async input(world, whose) {
      await addAddress(world, whose);
      return { limit: 5 };
    },
  },
  get_address: { input: addAddress, refused: [{ address: 'b.example' }] },
  add_address: {
    input: (world, whose) => ({ address: addressOf(world, whose) }),
    inAnotherAccount: 'own',
    refused: [{ address: 'b.example' }],
  },
  verify_address: { input: addAddress },
  remove_address: { input: addAddress },
};
