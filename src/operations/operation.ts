// An operation: one thing callers can do, defined once. REST routes, OpenAPI, MCP tools, the typed
// client, the dashboard's calls and the tables in docs/api.md come out of these definitions (all.ts
// lists them); perform.ts runs them for every door.
import type { z } from 'zod';
import type { Caller } from '../accounts/directory.ts';
import { isOperators, type Scope } from '../accounts/scopes.ts';
import type { Change } from '../audit/audit.ts';
import { type LimitState, Problem } from '../errors.ts';
import type { Door } from '../messages/door.ts';
import type { OperationDeps } from './deps.ts';

/**
 * What running it does to the world:
 * - `reads` changes nothing.
 * - `changes` is one transaction, and its audit row is part of it.
 * - `talks` also speaks with others (DNS, a receiver of webhooks, people by email): no transaction
 *   stays open over that,
 *   so the audit row follows at its end.
 * - `sends` queues email; the message is its own record.
 */
export type Effect = 'reads' | 'changes' | 'talks' | 'sends';

export interface Operation<
  Input extends z.ZodObject = z.ZodObject,
  Output extends z.ZodObject = z.ZodObject,
> {
  /** OpenAPI's operationId and the MCP tool's name, such as `list_suppressions`. */
  name: string;
  /** A few words, for lists of operations. */
  title: string;
  /** One sentence or two: what it does and answers. */
  summary: string;
  effect: Effect;
  /** What the caller must be allowed; null: any key of a paying account. */
  scope: Scope | null;
  /**
   * It shows or changes emails whoever sent them, or has them told to somebody: not for keys with
   * the rule `own_messages`. What names one message by `sm_mail_id` is asked by perform.ts whose it
   * is, and needs no word.
   */
  ofAllEmails?: true;
  input: Input;
  output: Output;
  rest: RestShape;
  /** Where the typed client has it, such as `suppressions.list`. */
  client: string;
  /** How agents see it; absent: they do not. */
  tool?: ToolShape;
  /**
   * What may take long and needs nothing of the database: done before the transaction of `changes`
   * is opened.
   */
  before?(deps: OperationDeps, caller: Caller, input: z.output<Input>): Promise<void>;
  /** What it changes, where another path leads there as well; else its path says it. */
  thing?(caller: Caller, input: z.output<Input>): string;
  run(
    deps: OperationDeps,
    caller: Caller,
    input: z.output<Input>,
    via: Via,
  ): Promise<z.output<Output>>;
  /** What the answer also says and may take long: done after the transaction of `changes`. */
  after?(deps: OperationDeps, caller: Caller, output: z.output<Output>): Promise<z.output<Output>>;
}

export interface RestShape {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /**
   * In OpenAPI's notation; each `{name}` is a field of the input. Other fields come by query (GET,
   * DELETE) or body.
   */
  path: string;
  /** Default 200. */
  status?: number;
  /**
   * Of a thing that is stored in versions: the output's `version` is the ETag, and If-Match this
   * field of the input. A base that is not the newest any more is a Problem `stale`, which tells
   * what the other changed. Other things need no word: see preconditions.ts.
   */
  ifMatch?: string;
  /** A body that is a list is this field of the input. */
  list?: string;
  /** Fields of the input that may come as a header, by its name. */
  headers?: Record<string, string>;
  /**
   * Which fields of the body belong together, by name, in the words of JSON Schema. Not part of
   * `input`, because programs of agents refuse tools that have it at the top.
   */
  oneOf?: Record<string, Record<string, unknown>>;
  /**
   * The output is `{filename, content_type, content_base64}`: who accepts application/octet-stream
   * gets its bytes.
   */
  file?: true;
}

export interface ToolShape {
  /** The summary in fewer words: agents read it with every conversation. */
  brief?: string;
  /** Fields that agents have no use for: taken, and not shown. */
  without?: readonly string[];
  /** It may overwrite or remove what was there. Default: true for everything that does not read. */
  destructive?: boolean;
  /** The same call again changes nothing more. Default: true, but for POST. */
  idempotent?: boolean;
}

/** How a call came in, and what it leaves behind for its door. */
export interface Via {
  door: Door;
  requestId: string;
  /** The person behind a session; null: a key, or a command on the machine. */
  person: Person | null;
  idempotencyKey?: string | undefined;
  /** Refuses a change of what the caller has not read: see preconditions.ts. */
  precondition?: ((deps: OperationDeps, via: Via) => Promise<void>) | undefined;
  /** Told by `changes` and `talks`: what is to be in the audit. */
  note: (change: Change) => void;
  /** Told what to stop when the caller does not wait for the answer any more. */
  onGone?: ((stop: () => void) => void) | undefined;
  /** Set by sends: how the daily quota stands. */
  limit?: LimitState | null;
  /** Set by sends: what is wrong with what was taken. */
  warnings?: readonly string[];
}

export interface Person {
  id: string;
  email: string;
  name: string;
  operator: boolean;
}

/**
 * For the types: what goes in and comes out is checked against the schemas right where it is
 * written.
 */
export const operation = <Input extends z.ZodObject, Output extends z.ZodObject>(
  definition: Operation<Input, Output>,
): Operation<Input, Output> => definition;

export function requireScope(caller: Caller, scope: Scope | null): void {
  if (scope === null || caller.scopes.has(scope)) return;
  throw new Problem('forbidden', lacking(caller, scope), { kind: 'scope' });
}

function lacking({ keyId }: Caller, scope: Scope): string {
  if (isOperators(scope)) {
    return `Only operators may do this, signed in to the dashboard: no API key and no role of an account has the scope ${scope}.`;
  }
  return keyId === null
    ? `Your role does not allow this: it needs the scope ${scope}. An owner of the account can change roles.`
    : `This API key lacks the scope ${scope}. The owner of the account can make one that has it.`;
}
