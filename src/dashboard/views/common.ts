// Words that several pages share. Types only, so that web/ reads them too; ../contract.ts says which route answers which.
// Times are ISO 8601 in UTC with Z, unless said otherwise.
import type { Scope } from '../../accounts/scopes.ts';
import type { TemplateFault } from './templates.ts';

export type { Scope };

export type Role = 'viewer' | 'developer' | 'owner';

export type Plan = 'free' | 'paid';

export type MessageStatus =
  | 'queued'
  | 'sent'
  | 'delivered'
  | 'opened'
  | 'clicked'
  | 'bounced'
  | 'complained';

export type HookType = 'delivery' | 'bounce' | 'open' | 'click' | 'complaint';

/** `system`: the service itself, such as a link that verifies an address. */
export type Door = 'rest' | 'mcp' | 'dashboard' | 'system';

/** A list that is read page by page: `next` goes into `before` of the next call; null: that was all. */
export interface Page<Item> {
  items: Item[];
  next: string | null;
}

/** Every refusal. `faults` comes with 400 where templates are concerned. */
export interface Refusal {
  detail: string;
  faults?: TemplateFault[];
}
