// Types that several pages share. Types only, so that web/ can import them too; ../contract.ts says
// which route returns which. Times are ISO 8601 in UTC with Z, unless stated otherwise.
import type { Plan } from '../../accounts/plans.ts';
import type { MemberRole as Role, Scope } from '../../accounts/scopes.ts';
import type { HookType } from '../../events/kinds.ts';
import type { Door } from '../../messages/door.ts';
import type { MessageStatus } from '../../messages/status.ts';

export type { Door, HookType, MessageStatus, Plan, Role, Scope };

/** A list that is read page by page: pass `next` as `before` of the next call; null: no more. */
export interface Page<Item> {
  items: Item[];
  next: string | null;
}

/** Every refusal. */
export interface Refusal {
  detail: string;
  code?: string;
  faults?: { path: string; message: string }[];
}
