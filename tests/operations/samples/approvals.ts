// Sample calls: approvals. Whoever asks finds an email that an agent's key just sent.
import { createKey } from '../../../src/accounts/keys.ts';
import { systemClock } from '../../../src/process/clock.ts';
import type { Samples } from '../samples.ts';
import type { Party, World } from '../world.ts';
import { sendOne } from './messages.ts';

export const samples: Samples = {
  list_approvals: {
    async input(world, whose) {
      await held(world, whose);
      return { limit: 5 };
    },
    refused: [{ cursor: 'nowhere' }],
  },
  get_approval: { input: held },
  approve_email: { input: seen, refused: [{ sha256: 'abc' }] },
  decline_email: { input: seen, refused: [{ sha256: 'abc' }] },
};

async function held(world: World, whose: Party): Promise<{ sm_mail_id: string }> {
  const { key } = await createKey(world.service.database, systemClock, {
    accountId: whose.accountId,
    scopes: ['email:send'],
    limits: { approval: 'always' },
  });
  const agent = { ...whose, key, headers: { 'x-api-key': key } };
  return { sm_mail_id: await sendOne(world, agent) };
}

async function seen(world: World, whose: Party) {
  const { sm_mail_id } = await held(world, whose);
  const { sha256 } = await world.done('get_approval', { sm_mail_id }, whose);
  return { sm_mail_id, sha256 };
}
