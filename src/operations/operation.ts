// An operation: one thing callers can do, defined once. REST routes, OpenAPI, MCP tools, the typed
// client, the dashboard's calls and the tables in docs/api.md are generated from these definitions
// (all.ts lists them); perform.ts runs them for every door.
import type { z } from 'zod';
import type { Caller } from '../accounts/directory.ts';
import { isOperators, type Scope } from '../accounts/scopes.ts';
import type { Change } from '../audit/audit.ts';
import { type LimitState, Problem } from '../errors.ts';
import type { Door } from '../messages/door.ts';
import type { Queryable } from '../store/pool.ts';
import type { OperationDeps } from './deps.ts';

/**
 * What running it affects:
 * - `reads` changes nothing.
 * - `changes` is one transaction, and its audit row is part of it.
 * - `talks` also contacts others (DNS, a webhook endpoint, people by email): no transaction stays
 *   open meanwhile, so the audit row follows at its end.
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
  /** One or two sentences: what it does and returns. */
  summary: string;
  effect: Effect;
  /** The scope the caller needs; null: any key of a paying account. */
  scope: Scope | null;
  /**
   * It shows or changes emails no matter who sent them, or reports them to someone: not for keys
   * with the rule `own_messages`. Operations that name one message by `sm_mail_id` do not need
   * this: perform.ts checks whose it is.
   */
  ofAllEmails?: true;
  /** It reads stored emails with all that is in them: few run at a time (whole-emails.ts). */
  ofWholeEmails?: true;
  input: Input;
  output: Output;
  rest: RestShape;
  /** Its place in the typed client, such as `suppressions.list`. */
  client: string;
  /** How agents see it; absent: they do not see it. */
  tool?: ToolShape;
  /** Slow work that does not need the database: done before the transaction of `changes` begins. */
  before?(deps: OperationDeps, caller: Caller, input: z.output<Input>): Promise<void>;
  /** What it changes, if another path leads to the same thing; otherwise its path says it. */
  thing?(caller: Caller, input: z.output<Input>): string;
  /** Locks the row of a thing that workers change too: they do not wait for other callers. */
  lock?(database: Queryable, caller: Caller, input: z.output<Input>): Promise<void>;
  run(
    deps: OperationDeps,
    caller: Caller,
    input: z.output<Input>,
    via: Via,
  ): Promise<z.output<Output>>;
  /** Slow additions to the answer: made after the transaction of `changes`. */
  after?(deps: OperationDeps, caller: Caller, output: z.output<Output>): Promise<z.output<Output>>;
}

export interface RestShape {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /**
   * In OpenAPI's notation; each `{name}` is a field of the input. Other fields come in the query
   * (GET, DELETE) or the body.
   */
  path: string;
  /** Default 200. */
  status?: number;
  /**
   * For things stored in versions: the output's `version` is the ETag, and If-Match is this field
   * of the input. A base that is no longer the newest is a Problem `stale`, which says what the
   * other change was. Other things do not need this: see preconditions.ts.
   */
  ifMatch?: string;
  /** If the body is a list, it becomes this field of the input. */
  list?: string;
  /** Fields of the input that may come as a header, by its name. */
  headers?: Record<string, string>;
  /**
   * Which fields of the body belong together, by name, in JSON Schema. Not part of `input`, because
   * agents' programs refuse tools that have it at the top level.
   */
  oneOf?: Record<string, Record<string, unknown>>;
  /**
   * The output is `{filename, content_type, content_base64}`: a client that accepts
   * application/octet-stream gets the bytes.
   */
  file?: true;
}

export interface ToolShape {
  /** A shorter summary: agents read it in every conversation. */
  brief?: string;
  /** Fields that agents have no use for: accepted, but not shown. */
  without?: readonly string[];
  /** It may overwrite or delete existing data. Default: true for everything that does not read. */
  destructive?: boolean;
  /** Repeating the call changes nothing more. Default: true, except for POST. */
  idempotent?: boolean;
}

/** How a call came in, and what it returns to its door. */
export interface Via {
  door: Door;
  requestId: string;
  /** The person behind a session; null: a key, or a command on the machine. */
  person: Person | null;
  idempotencyKey?: string | undefined;
  /** Refuses to change what the caller has not read: see preconditions.ts. */
  precondition?: ((deps: OperationDeps, via: Via) => Promise<void>) | undefined;
  /** Called by `changes` and `talks`: what the audit should contain. */
  note: (change: Change) => void;
  /** Takes what to stop when the caller no longer waits for the answer. */
  onGone?: ((stop: () => void) => void) | undefined;
  /** Ends the connection of a caller that does not read the answer. */
  hangUp?: (() => void) | undefined;
  /** Set by sends: the state of the daily quota. */
  limit?: LimitState | null;
  /** Set by sends: what is wrong with what was accepted. */
  warnings?: readonly string[];
}

export interface Person {
  id: string;
  email: string;
  name: string;
  operator: boolean;
}

/** For the types: input and output are checked against the schemas where they are written. */
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
    : `This API key lacks the scope ${scope}. The owner of the account can create one that has it.`;
}
