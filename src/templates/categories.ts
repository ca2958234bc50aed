// The categories of templates: the ONE list. Imports nothing, so that web/ reads it too.
export const categories = [
  'authentication',
  'security',
  'account',
  'team',
  'billing',
  'orders',
  'bookings',
  'support',
  'notifications',
] as const;

export type Category = (typeof categories)[number];
