// A tool: an operation as an agent sees it. Everything about it comes from the operation's
// definition.
import type { CallToolResult, Tool as ListedTool } from '@modelcontextprotocol/server';
import { z } from 'zod';
import type { Caller } from '../accounts/directory.ts';
import type { Problem } from '../errors.ts';
import type { OperationDeps } from '../operations/deps.ts';
import { itemsOf } from '../operations/lists.ts';
import type { Operation } from '../operations/operation.ts';

/** Facts that help to get it right the next time, beside the detail of a refusal. */
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
  /** The operation's answer in the words of the tool: a list goes by the name of what is in it. */
  show: (answer: Record<string, unknown>) => NonNullable<CallToolResult['structuredContent']>;
}

export function toolOf(operation: Operation, advise?: Advise): Tool {
  const { name, title, summary, input, output, tool = {} } = operation;
  const items = itemsOf(output);
  return {
    operation,
    advise,
    listed: {
      name,
      title,
      description: [summary, tool.advice].filter(Boolean).join(' '),
      inputSchema: jsonSchema(input, 'input'),
      outputSchema: jsonSchema(items === undefined ? output : renamed(output, items), 'output'),
      annotations: { title, ...hintsOf(operation) },
    },
    show:
      items === undefined
        ? (answer) => answer
        : ({ data, has_more: _, next }) => ({ [items]: data, ...(next === null ? {} : { next }) }),
  };
}

function hintsOf({ effect, rest, tool = {} }: Operation) {
  const reads = effect === 'reads';
  return {
    readOnlyHint: reads,
    destructiveHint: tool.destructive ?? !(reads || effect === 'sends'),
    idempotentHint: tool.idempotent ?? rest.method !== 'POST',
    openWorldHint: effect === 'talks' || effect === 'sends',
  };
}

const renamed = ({ shape }: z.ZodObject, items: string): z.ZodObject =>
  z.object({
    [items]: shape.data as z.ZodType,
    next: z
      .string()
      .optional()
      .describe('Give it back as `cursor` to continue; absent: that is all.'),
  });

type ObjectSchema = ListedTool['inputSchema'];

function jsonSchema(schema: z.ZodObject, io: 'input' | 'output'): ObjectSchema {
  return z.toJSONSchema(schema, {
    io,
    target: 'draft-2020-12',
    reused: 'inline',
    override,
  }) as ObjectSchema;
}

/**
 * Makes schemas that every client understands: `example` is OpenAPI's word, and some take `{}` for
 * a fault.
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
