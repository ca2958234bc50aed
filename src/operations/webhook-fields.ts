// Fields that webhooks.ts and webhook-deliveries.ts share.
import { z } from 'zod';
import type { HookType } from '../events/kinds.ts';
import { EVERY_HOOK_TYPE } from '../webhooks/event-body.ts';

export const endpointId = z.string().max(64).describe('Id of the endpoint.');
export const hookType = z.enum(EVERY_HOOK_TYPE as [HookType]);
export const eventTypes = z
  .array(hookType)
  .describe('Which events; empty: all about messages. `subscription` is sent only if it is named.');
