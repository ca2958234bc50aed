// Sample calls: sending.
import type { Samples } from '../samples.ts';

export const samples: Samples = {
  send_batch: {
    input: ({ next }, { mark }) => ({
      from_email: 'Acme <hello@example.com>',
      subject: `Hello ${mark}`,
      text: `Hello ${mark}!`,
      recipients: [{ to: `${mark}-${next()}@example.net` }, { to: [`${mark}@example.net`] }],
    }),
    refused: [
      { subject: '' },
      { recipients: [] },
      { recipients: [{ to: 'nobody' }] },
      { recipients: ['ada@example.net'] },
      { emails: [{}] },
    ],
  },
  preview_email: {
    input: (_world, { mark }) => ({
      from_email: 'Acme <hello@example.com>',
      to: [`${mark}@example.net`],
      subject: `Hello ${mark}`,
      text: `Hello ${mark}!`,
    }),
    refused: [{ subject: '' }, { to: ['nobody'] }],
  },
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
