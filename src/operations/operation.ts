// Operations: what callers can do, each defined once. REST, OpenAPI and MCP are made from these definitions.
import type { z } from 'zod';
import type { Caller } from '../accounts/directory.ts';
import type { Scope } from '../accounts/keys.ts';
import { Problem } from '../errors.ts';

export interface Operation<
  Deps = never,
  Input extends z.ZodObject = z.ZodObject,
  Output extends z.ZodType = z.ZodType,
  Via = undefined,
  Result = z.output<Output>,
> {
  name: string;
  title: string;
  summary: string;
  /** What the caller's key must allow; null: any key of a paying account. */
  scope: Scope | null;
  input: Input;
  output: Output;
  run(deps: Deps, caller: Caller, input: z.output<Input>, via: Via): Promise<Result>;
}

export function requireScope(caller: Caller, scope: Scope | null): void {
  if (scope === null || caller.scopes.has(scope)) return;
  throw new Problem(
    'forbidden',
    `This API key lacks the scope ${scope}. Use a key that has it, or make a new one with it.`,
  );
}
