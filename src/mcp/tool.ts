// A tool: an operation as an agent sees it. Everything about it comes from the operation's
// definition.
import type { CallToolResult, Tool as ListedTool } from '@modelcontextprotocol/server';
import { z } from 'zod';
import type { Caller } from '../accounts/directory.ts';
import type { Problem } from '../errors.ts';
import type { OperationDeps } from '../operations/deps.ts';
import { itemsOf } from '../operations/lists.ts';
import type { Operation } from '../operations/operation.ts';
import { ANY_OBJECT, compactInput, saysMore } from './compact.ts';

/** Facts that help the caller get it right next time, in addition to the detail of a refusal. */
export type Advise = (
  deps: OperationDeps,
  caller: Caller,
  wanted: Record<string, unknown>,
  problem: Problem,
) => Promise<Record<string, unknown>>;

export interface Tool {
  operation: Operation;
  advise: Advise | undefined;
  /** As tools/list shows it; made once. */
  listed: ListedTool;
  /** Who sees it, unless that is everyone with its scope. */
  isFor?: (caller: Caller) => boolean;
  /** Parts of its answer that are our own words, whatever their fields are called. */
  ours?: (part: Record<string, unknown>) => boolean;
  /** The operation's answer in the tool's terms: a list is named after what is in it. */
  show: (answer: Record<string, unknown>) => NonNullable<CallToolResult['structuredContent']>;
}

/** `told`: fields that another tool describes, which every agent reads too. */
export function toolOf(operation: Operation, advise?: Advise, told?: ReadonlySet<string>): Tool {
  const { name, title, summary, input, output, tool = {} } = operation;
  const items = itemsOf(output);
  const hidden = Object.fromEntries((tool.without ?? []).map((field) => [field, true]));
  const shown = input.omit(hidden as Record<never, true>);
  return {
    operation,
    advise,
    listed: {
      name,
      ...(saysMore(title, name) ? { title } : {}),
      description: tool.brief ?? summary,
      inputSchema: compactInput(jsonSchema(shown), told) as ObjectSchema,
      outputSchema: ANY_OBJECT,
      annotations: hintsOf(operation),
    },
    show:
      items === undefined
        ? (answer) => answer
        : ({ data, has_more: _, next }) => ({ [items]: data, ...(next === null ? {} : { next }) }),
  };
}

/** Without the protocol's defaults: a tool counts as read-only only if it says so. */
function hintsOf({ effect, rest, tool = {} }: Operation) {
  const closed = effect === 'reads' || effect === 'changes' ? { openWorldHint: false } : {};
  if (effect === 'reads') return { readOnlyHint: true, ...closed };
  const destructive = tool.destructive ?? effect !== 'sends';
  const idempotent = tool.idempotent ?? rest.method !== 'POST';
  return {
    ...(destructive ? {} : { destructiveHint: false }),
    ...(idempotent ? { idempotentHint: true } : {}),
    ...closed,
  };
}

/** Names of fields whose values come from a closed list, wherever they occur. */
export function listedFields(output: z.ZodObject): ReadonlySet<string> {
  const known = closed.get(output) ?? closedIn(output);
  closed.set(output, known);
  return known;
}

const closed = new WeakMap<z.ZodObject, ReadonlySet<string>>();

function closedIn(output: z.ZodObject): ReadonlySet<string> {
  const [yes, no] = [new Set<string>(), new Set<string>()];
  const walk = (schema: unknown, name: string): void => {
    if (typeof schema !== 'object' || schema === null) return;
    const { type, enum: values, const: one, properties, items, ...rest } = schema as Closed;
    const isText = type === 'string' || (Array.isArray(type) && type.includes('string'));
    if (isText) (values === undefined && one === undefined ? no : yes).add(name);
    for (const inside of [rest.anyOf, rest.oneOf, rest.allOf].flat()) walk(inside, name);
    for (const inside of Object.values(rest.$defs ?? {})) walk(inside, '');
    walk(items, name);
    for (const [field, inside] of Object.entries(properties ?? {})) walk(inside, field);
  };
  walk(z.toJSONSchema(output, { reused: 'inline', unrepresentable: 'any' }), '');
  return new Set([...yes].filter((name) => !no.has(name)));
}

interface Closed {
  type?: string | string[];
  enum?: unknown[];
  const?: unknown;
  properties?: Record<string, unknown>;
  items?: unknown;
  anyOf?: unknown[];
  oneOf?: unknown[];
  allOf?: unknown[];
  $defs?: Record<string, unknown>;
}

type ObjectSchema = ListedTool['inputSchema'];

/**
 * A named schema must still be an object at the top level: the protocol requires its type there.
 */
function jsonSchema(schema: z.ZodObject): ObjectSchema {
  const { $ref, $defs, ...made } = z.toJSONSchema(schema, {
    io: 'input',
    target: 'draft-2020-12',
    reused: 'inline',
    override,
  });
  const { [$ref?.split('/').at(-1) ?? '']: named, ...others } = $defs ?? {};
  const more = Object.keys(others).length > 0 ? { $defs: others } : {};
  return { ...made, ...named, ...more } as ObjectSchema;
}

/**
 * Makes schemas that every client understands: `example` belongs to OpenAPI, and some clients take
 * `{}` for an error.
 */
function override({ jsonSchema: made }: { jsonSchema: Record<string, unknown> }): void {
  if ('example' in made) {
    made.examples = [made.example];
    delete made.example;
  }
  const more = made.additionalProperties;
  if (typeof more === 'object' && more !== null && Object.keys(more).length === 0) {
    made.additionalProperties = true;
  }
}
