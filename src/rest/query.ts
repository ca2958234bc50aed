// A query string as the input of an operation: its texts become numbers, booleans and lists where
// the schema wants them.
import type { z } from 'zod';

type Values = Record<string, string | string[]>;

/** What does not fit is left as it is: the schema then says what it expects. */
export function readQuery(schema: z.ZodObject, query: Values): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(query).map(([name, value]) => [name, convert(schema.shape[name], value)]),
  );
}

function convert(field: unknown, value: string | string[]): unknown {
  const type = innermost(field);
  if (type?.def.type === 'array') return Array.isArray(value) ? value : value.split(',');
  if (Array.isArray(value)) return value;
  if (type?.def.type === 'number' && /^-?\d+(\.\d+)?$/.test(value)) return Number(value);
  if (type?.def.type === 'boolean' && /^(true|false)$/.test(value)) return value === 'true';
  return value;
}

interface Typed {
  def: { type: string; innerType?: Typed };
}

function innermost(field: unknown): Typed | undefined {
  let at = field as Typed | undefined;
  while (at?.def.innerType !== undefined) at = at.def.innerType;
  return at;
}
