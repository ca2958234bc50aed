// Sample calls: usage, statistics and alerts.
import type { Samples } from '../samples.ts';

export const samples: Samples = {
  get_usage: { input: () => ({}) },
  get_statistics: { input: () => ({ days: 2 }), refused: [{ days: 0 }, { days: 91 }] },
  get_receiver_statistics: { input: () => ({ days: 2 }), refused: [{ days: 0 }, { days: 91 }] },
  get_analytics: {
    input: () => ({ days: 2, by: 'domain' }),
    refused: [{ days: 0 }, { by: 'colour' }],
  },
  list_alerts: { input: () => ({}) },
};
