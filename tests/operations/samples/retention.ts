// Sample calls: retention.
import type { Samples } from '../samples.ts';

export const samples: Samples = {
  get_retention: { input: () => ({}), inAnotherAccount: 'own' },
  set_retention: {
    input: ({ next }) => ({ retention_days: 100 + (next() % 200), content_retention_days: 30 }),
    inAnotherAccount: 'own',
    refused: [
      { retention_days: 0, content_retention_days: null },
      { retention_days: null, content_retention_days: 1.5 },
    ],
  },
};
