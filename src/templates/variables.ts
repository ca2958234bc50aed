// The variables schema of a template: what a sender has to give, and what is missing from what was
// given. Before it: a send with `variables`. After it: variable-fit.ts, which checks the types of
// what was given, and rendering.
import { z } from 'zod';
import { Problem } from '../errors.ts';

/** `url` is a web address; `any`, for variables that declare no type, is not checked. */
export const VARIABLE_TYPES = [
  'string',
  'number',
  'boolean',
  'url',
  'array',
  'object',
  'any',
] as const;
export type VariableType = (typeof VARIABLE_TYPES)[number];

/** What an entry of a list is: a value of one type, or an object with these fields. */
export const entryShape = z.union([
  z.enum(VARIABLE_TYPES),
  z
    .array(
      z.strictObject({
        name: z
          .string()
          .max(200)
          .regex(/^[A-Za-z_]\w*$/, 'must be a name'),
        required: z.boolean().default(false),
        type: z.enum(VARIABLE_TYPES).default('string'),
      }),
    )
    .min(1)
    .max(50),
]);

export const variableSchema = z.strictObject({
  /** A name, or a path into objects such as `event.name`. */
  name: z
    .string()
    .max(200)
    .regex(/^[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*$/, 'must be a name or a path such as event.name'),
  required: z.boolean(),
  type: z.enum(VARIABLE_TYPES).default('any'),
  /** For an array; absent: its entries are not checked. */
  items: entryShape.optional(),
  description: z.string().max(1000).default(''),
  example: z.unknown().optional(),
});

/**
 * How many objects and lists of `variables` may be inside one another. No template reads deeper.
 */
const MOST_DEPTH = 100;

/**
 * Values for a template. Their depth is checked before anything walks them: copying, printing and
 * storing are recursive.
 */
export const variableValues = (message?: string) =>
  z.record(z.string(), z.unknown(), message).refine(isShallow, {
    message: `must be objects and lists nested at most ${MOST_DEPTH} deep`,
    abort: true,
  });

/** Level by level, without recursion. */
function isShallow(variables: Record<string, unknown>): boolean {
  let level: unknown[] = [variables];
  for (let depth = 0; level.length > 0; depth++) {
    if (depth === MOST_DEPTH) return false;
    const next: unknown[] = [];
    for (const value of level)
      for (const item of Array.isArray(value) ? value : Object.values(value as object))
        if (typeof item === 'object' && item !== null) next.push(item);
    level = next;
  }
  return true;
}

export type Variable = z.infer<typeof variableSchema>;

/**
 * The paths of required variables that are missing, in the order of the schema. `null` and `''`
 * count as missing, as in the rest of a send request: an email with an empty name or link is never
 * what the sender meant.
 */
export function missingVariables(
  schema: readonly Pick<Variable, 'name' | 'required'>[],
  variables: Record<string, unknown>,
): string[] {
  return schema
    .filter(({ name, required }) => required && isAbsent(valueAt(variables, name)))
    .map(({ name }) => name);
}

/** Own properties only: `constructor` is not a variable that someone gave. */
export function valueAt(variables: Record<string, unknown>, path: string): unknown {
  let value: unknown = variables;
  for (const key of path.split('.')) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return undefined;
    value = (value as Record<string, unknown>)[key];
  }
  return value;
}

export function isAbsent(value: unknown): boolean {
  return value === undefined || value === null || value === '';
}

/**
 * As deep as a template can follow, and as many as one list of a template may have
 * (jinja/budget.ts).
 */
const DEEPEST = 200;
const MOST_VALUES = 250_000;

/**
 * Roughly how many bytes they have; throws a Problem if they are larger, or nested deeper, than can
 * be passed to a thread at once.
 */
export function sizeOfVariables(variables: Record<string, unknown>): number {
  let bytes = 0;
  let values = 0;
  let level: unknown[] = [variables];
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > DEEPEST) throw tooLarge(`are nested more than ${DEEPEST} deep`);
    const next: unknown[] = [];
    for (const value of level) {
      if (typeof value === 'string') bytes += value.length;
      else if (typeof value === 'object' && value !== null) {
        const inside = Array.isArray(value) ? value : Object.values(value);
        values += inside.length;
        if (values > MOST_VALUES) throw tooLarge(`hold more than ${MOST_VALUES} values`);
        for (const one of inside) next.push(one);
      }
    }
    level = next;
  }
  return bytes + values * 16;
}

const tooLarge = (what: string): Problem =>
  new Problem('invalid', `variables ${what}. Pass only what the template shows.`, {
    at: 'variables',
  });
