// A tool: an operation as an agent sees it. One definition is all it takes: listing, checking, running and errors follow from it.
import type { Tool as ListedTool, ToolAnnotations } from '@modelcontextprotocol/server';
import { z } from 'zod';
import type { Caller } from '../accounts/directory.ts';
import type { Scope } from '../accounts/keys.ts';
import type { Problem } from '../errors.ts';

export interface ToolDefinition<Deps, Input extends z.ZodObject, Output extends z.ZodObject> {
  name: string;
  title: string;
  description: string;
  /** What the caller's key must allow; null: any key of a paying account. */
  scope: Scope | null;
  input: Input;
  output: Output;
  annotations: Required<Omit<ToolAnnotations, 'title'>>;
  run(deps: Deps, caller: Caller, input: z.output<Input>): Promise<z.output<Output>>;
  /** Facts that help to get it right the next time, beside the detail of a refusal. */
  advise?(
    deps: Deps,
    caller: Caller,
    wanted: Record<string, unknown>,
    problem: Problem,
  ): Promise<Record<string, unknown>>;
}

export interface Tool<Deps> extends ToolDefinition<Deps, z.ZodObject, z.ZodObject> {
  /** As tools/list shows it; made once. */
  listed: ListedTool;
}

export function defineTool<Deps, Input extends z.ZodObject, Output extends z.ZodObject>(
  definition: ToolDefinition<Deps, Input, Output>,
): Tool<Deps> {
  const { name, title, description, annotations } = definition;
  return {
    ...(definition as unknown as ToolDefinition<Deps, z.ZodObject, z.ZodObject>),
    listed: {
      name,
      title,
      description,
      inputSchema: jsonSchema(definition.input, 'input'),
      outputSchema: jsonSchema(definition.output, 'output'),
      annotations: { title, ...annotations },
    },
  };
}

type ObjectSchema = ListedTool['inputSchema'];

function jsonSchema(schema: z.ZodObject, io: 'input' | 'output'): ObjectSchema {
  return z.toJSONSchema(schema, { io, target: 'draft-2020-12', override }) as ObjectSchema;
}

/** Makes schemas that every client understands: `example` is OpenAPI's word, and some take `{}` for a fault. */
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

/** Hints for tools that change nothing. */
export const READS = {
  readOnlyHint: true,
  destructiveHint: false,
  idempotentHint: true,
  openWorldHint: false,
} as const;
