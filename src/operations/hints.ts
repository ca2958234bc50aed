// Hints: the operation to try next after a refusal, in the terms of the door that shows it. A
// problem only names it (`see`): a path for programs, a tool for agents, a page for people.
// Commands have their own wording: cli/hints.ts.
import type { Problem } from '../errors.ts';
import { OPERATIONS } from './all.ts';
import type { Operation } from './operation.ts';

/** The detail, plus what to try next if this door offers it. */
export function worded({ detail, see }: Pick<Problem, 'detail' | 'see'>, door: string): string {
  const operation = see === undefined ? undefined : named.get(see);
  const hint = operation === undefined ? undefined : HINTS[door]?.(operation);
  return hint === undefined ? detail : `${detail} ${hint}`;
}

const named = new Map(OPERATIONS.map((operation) => [operation.name, operation]));

const HINTS: Record<string, (operation: Operation) => string | undefined> = {
  rest: ({ rest: { method, path } }) => `See ${method} ${path}.`,
  mcp: ({ name, tool }) => (tool === undefined ? undefined : `See ${name}.`),
  dashboard({ client }) {
    const page = PAGES[client.split('.')[0]!];
    return page === undefined ? undefined : `See the page ${page}.`;
  },
};

/** By resource, as the navigation names them. */
export const PAGES: Record<string, string> = {
  messages: 'Messages',
  templates: 'Templates',
  branding: 'Branding',
  keys: 'API keys',
  domains: 'Senders',
  addresses: 'Senders',
  webhooks: 'Webhooks',
  suppressions: 'Suppressions',
  sandbox: 'Sandbox',
  team: 'Team',
  account: 'Account & plan',
  accounts: 'Accounts',
  relays: 'Relays',
};
