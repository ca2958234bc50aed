// Doors: where a message came in, and where a change was made. `system` is the service itself, such
// as a link that verifies an address; `cli` a command on the machine.
export const DOORS = ['rest', 'smtp', 'mcp', 'dashboard', 'cli', 'system'] as const;
export type Door = (typeof DOORS)[number];
