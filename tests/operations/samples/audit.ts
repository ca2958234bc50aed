// Sample calls: the audit.
import type { Samples } from '../samples.ts';

export const samples: Samples = {
  list_audit: {
    async input({ done, next }, whose) {
      const address = `${whose.mark}-${next()}@example.org`;
      await done('add_suppression', { address }, whose);
      return { action: 'add_suppression', target: address };
    },
  },
};
