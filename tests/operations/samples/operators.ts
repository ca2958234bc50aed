// Sample calls: what operators do over all accounts.
import { bytesToUuid, newIdBytes, showId } from '../../../src/ids.ts';
import type { Samples } from '../samples.ts';
import type { World } from '../world.ts';

/** Nobody's but the operator's: what is done to it disturbs no other test. */
const anAccount = async ({ service }: World) => ({ id: (await service.account()).id });
const halted = async (world: World) => ({ ...(await anAccount(world)), reason: 'to see' });

export const samples: Samples = {
  list_accounts: { input: () => ({ limit: 5 }) },
  get_operated_account: { input: anAccount },
  create_account: {
    input: ({ next }) => ({ name: `Made ${next()}`, plan: 'paid' }),
    refused: [{ name: '' }, { owner_email: 'nobody' }],
  },
  update_operated_account: {
    input: async (world) => ({ ...(await anAccount(world)), daily_quota: 10 + world.next() }),
    refused: [{ rate_per_second: 0 }],
  },
  suspend_account: { input: halted, refused: [{ reason: ' ' }] },
  pause_account: { input: halted, refused: [{ reason: ' ' }] },
  resume_account: { input: anAccount },
  get_service_state: { input: () => ({}) },
  list_kept_feedback: { input: () => ({ for_people: true }) },
  get_kept_feedback: {
    async input({ service, next }) {
      const id = newIdBytes(Date.now());
      await service.database.query(
        `INSERT INTO feedback_mails (id, fingerprint, kind, why, envelope_from, recipient, subject, raw)
         VALUES ($1, sha256($2::text::bytea), 'other', 'for-people', '', 'abuse@x', 'Hello', 'Subject: Hello')`,
        [bytesToUuid(id), `sample ${next()}`],
      );
      return { id: showId('fbk_', id) };
    },
  },
  list_quarantine: {
    input: () => ({}),
    refused: [{ cursor: 'x' }, { cursor: '2026-11-16T10:00:00.000Z msg_x' }],
  },
  release_from_quarantine: {
    async input({ service }) {
      const { id: accountId } = await service.account();
      const id = newIdBytes(Date.now());
      await service.database.query(
        `INSERT INTO due_messages (account_id, message_id, due_at, size, class, state, set_aside_at, reason)
         VALUES ($1, $2, now(), 1, 1, 'set aside', now(), 'a test')`,
        [accountId, bytesToUuid(id)],
      );
      return { id: showId('msg_', id) };
    },
  },
  release_all_from_quarantine: { input: () => ({}) },
};
