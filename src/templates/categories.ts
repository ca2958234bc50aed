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

/**
 * About logging in and about danger: people cannot do without these, so they go first, can be
 * unsubscribed from by nobody, and keep their links as they are.
 */
export const isAboutAccess = (category: string | null): boolean =>
  category === 'authentication' || category === 'security';
