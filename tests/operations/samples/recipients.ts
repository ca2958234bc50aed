// Sample calls: recipients.
import type { Samples } from '../samples.ts';

export const samples: Samples = {
  export_recipient: {
    input: (_, { mark }) => ({ address: `${mark}@example.org` }),
    inAnotherAccount: 'own',
    refused: [{ address: 'nobody' }, { address: 'ada@example.org', cursor: 'elsewhere' }],
  },
  erase_recipient: {
    input: (_, { mark }) => ({ address: `${mark}@example.org` }),
    inAnotherAccount: 'own',
    refused: [{ address: 'nobody' }],
  },
};
