// Sample calls: lint.
import type { Samples } from '../samples.ts';

export const samples: Samples = {
  lint_email: {
    input: (_, { mark }) => ({ subject: `Hello ${mark}`, html: `<p>${mark}</p>` }),
    refused: [{ html: '' }, { template: 'welcome' }, { variables: { name: 'Ada' } }],
  },
};
