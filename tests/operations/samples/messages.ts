// Sample calls: messages. Whoever asks finds one that was just sent.
import type { Samples } from '../samples.ts';
import type { Party, World } from '../world.ts';

export async function sendOne(world: World, whose: Party): Promise<string> {
  const mail = {
    from_email: 'hello@example.com',
    to: [`${whose.mark}-${world.next()}@example.net`],
    subject: `About ${whose.mark}`,
    html: `<p>${whose.mark}</p>`,
    tags: [whose.mark],
  };
  return (await world.done('send_email', mail, whose)).id;
}

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
};
