// Sample calls: usage, statistics and alerts.
import type { Samples } from '../samples.ts';

export const samples: Samples = {
  get_usage: { input: () => ({}) },
  get_statistics: { input: () => ({ days: 2 }), refused: [{ days: 0 }, { days: 91 }] },
  list_alerts: { input: () => ({}) },
};
