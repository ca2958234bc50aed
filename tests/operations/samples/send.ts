// Sample calls: sending.
import type { Samples } from '../samples.ts';

export const samples: Samples = {
  send_email: {
    input: ({ next }, { mark }) => ({
      from_email: 'Acme <hello@example.com>',
      to: [`${mark}-${next()}@example.net`],
      subject: `Hello ${mark}`,
      text: `Hello ${mark}!`,
    }),
    refused: [
      { subject: '' },
      { text: '' },
      { to: ['nobody'] },
      { template: 'receipt', html: 'x' },
    ],
  },
};
