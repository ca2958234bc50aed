// Sample calls: messages. Whoever asks finds one that was just sent.
import { readUuid } from '../../../src/ids.ts';
import { until } from '../../support/until.ts';
import type { Samples } from '../samples.ts';
import type { Party, World } from '../world.ts';

export async function sendOne(world: World, whose: Party, more = {}): Promise<string> {
  const email = {
    from_email: 'hello@example.com',
    to: [`${whose.mark}-${world.next()}@example.net`],
    subject: `About ${whose.mark}`,
    html: `<p>${whose.mark}</p>`,
    tags: [whose.mark],
    attachments: [{ filename: 'a.txt', content_base64: 'aGk=', content_type: 'text/plain' }],
    ...more,
  };
  return (await world.done('send_email', email, whose)).id;
}

const inAnHour = () => new Date(Date.now() + 3_600_000).toISOString();

export const samples: Samples = {
  get_email_status: {
    input: async (world, whose) => ({ sm_mail_id: await sendOne(world, whose) }),
  },
  search_messages: {
    async input(world, whose) {
      await sendOne(world, whose);
      return { limit: 5, subject: 'About' };
    },
    refused: [{ cursor: 'nowhere' }, { after: 'yesterday' }],
  },
  explain_delivery: { input: one },
  wait_for_event: {
    input: async (world, whose) => ({ ...(await one(world, whose)), timeout_seconds: 1 }),
  },
  get_message_details: { input: one },
  list_message_attempts: { input: one },
  list_message_webhooks: { input: one },
  get_message_content: { input: one },
  get_message_source: { input: one },
  get_message_attachment: {
    input: async (world, whose) => ({ ...(await one(world, whose)), index: 0 }),
  },
  send_message_again: { input: one },
  cancel_email: { input: scheduledOne },
  reschedule_email: {
    input: async (world, whose) => ({
      ...(await scheduledOne(world, whose)),
      scheduled_at: inAnHour(),
    }),
    refused: [{ scheduled_at: 'soon' }, { scheduled_at: '2020-01-01T00:00:00Z' }],
  },
  resolve_message: {
    needsDelivery: true,
    async input(world, whose) {
      const { sm_mail_id } = await one(world, whose);
      await leaveUnknown(world, whose.accountId, sm_mail_id);
      return { sm_mail_id, as: 'sent' };
    },
  },
};

async function scheduledOne(world: World, whose: Party): Promise<{ sm_mail_id: string }> {
  const scheduled_at = new Date(Date.now() + 3_600_000).toISOString();
  return { sm_mail_id: await sendOne(world, whose, { scheduled_at }) };
}

async function one(world: World, whose: Party): Promise<{ sm_mail_id: string }> {
  return { sm_mail_id: await sendOne(world, whose) };
}

/** As a cut line leaves it: handed over, and nobody knows whether the relay has it. */
async function leaveUnknown(
  { service: { database } }: World,
  accountId: number,
  id: string,
): Promise<void> {
  const message = [accountId, readUuid('msg_', id)];
  await until(async () => {
    const rows = await database.query(
      'SELECT FROM due_messages WHERE account_id = $1 AND message_id = $2',
      message,
    );
    return rows.length === 0;
  });
  await database.query(
    `INSERT INTO due_messages (account_id, message_id, due_at, size, state, unknown, remaining)
     SELECT account_id, id, now() + interval '1 day', 0, 'waiting', recipients, recipients
     FROM messages WHERE account_id = $1 AND id = $2`,
    message,
  );
}
