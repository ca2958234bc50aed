// What a process can do; each does all of it, or the roles that ROLES names. Started by main.ts.
export const ROLES = ['api', 'delivery', 'webhooks', 'feedback'] as const;
export type Role = (typeof ROLES)[number];
