// Doors: where a message came in, and where a change was made. `system` is the service itself, for
// example a link that verifies an address; `cli` is a command on the machine.
export const DOORS = ['rest', 'smtp', 'mcp', 'dashboard', 'cli', 'system'] as const;
export type Door = (typeof DOORS)[number];
