// Sample calls: keys, the team, and the account itself.
import { openSignedIn } from '../../dashboard/dashboard-client.ts';
import type { Samples } from '../samples.ts';
import type { Party, World } from '../world.ts';

async function makeKey(world: World, whose: Party): Promise<{ id: string }> {
  const wish = { name: whose.mark, scopes: ['email:read'] };
  return { id: (await world.done('create_key', wish, whose)).id };
}

async function join(world: World, { accountId, mark }: Party): Promise<{ id: string }> {
  const email = `${mark}-${world.next()}@people.example`;
  const { userId } = await openSignedIn(world.service, { accountId, role: 'viewer', email });
  return { id: userId };
}

const guest = ({ next }: World, { mark }: Party) => ({
  email: `${mark}-${next()}@people.example`,
  role: 'viewer',
});

export const samples: Samples = {
  list_keys: {
    async input(world, whose) {
      await makeKey(world, whose);
      return { limit: 5 };
    },
  },
  get_key: { input: makeKey },
  create_key: {
    input: (_, { mark }) => ({ name: mark, scopes: ['email:send'] }),
    refused: [{ scopes: [] }, { scopes: ['accounts:write'] }, { networks: ['nowhere'] }],
  },
  revoke_key: { input: makeKey },
  list_members: {
    async input(world, whose) {
      await join(world, whose);
      return {};
    },
  },
  get_member: { input: join },
  update_member: {
    input: async (world, whose) => ({ ...(await join(world, whose)), role: 'developer' }),
  },
  remove_member: { input: join },
  list_invitations: {
    async input(world, whose) {
      await world.done('invite_member', guest(world, whose), whose);
      return {};
    },
  },
  invite_member: { input: guest, refused: [{ email: 'nobody' }] },
  withdraw_invitation: {
    input: async (world, whose) => ({
      id: (await world.done('invite_member', guest(world, whose), whose)).id,
    }),
  },
  get_account: { input: () => ({}) },
  update_account: {
    input: ({ next }, { mark }) => ({ name: `${mark} ${next()}` }),
    refused: [{ name: '' }],
  },
};
