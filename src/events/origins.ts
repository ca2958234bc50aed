// Where a change of who gets email came from. Imports nothing, so that web/ can import it too.
export const ORIGINS = [
  'recipient', // the unsubscribe button of an email program, or the page behind it
  'preferences', // the preference page
  'report', // a bounce, a complaint or an opt-out that a mail server reported
  'api',
  'mcp',
  'dashboard',
  'command', // on the machine
] as const;
export type Origin = (typeof ORIGINS)[number];
