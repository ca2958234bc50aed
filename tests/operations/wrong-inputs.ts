// Inputs that do not fit, made from an operation's own schema: an unknown field, each required one
// missing, each of a wrong type.
import { z } from 'zod';
import type { Operation } from '../../src/operations/operation.ts';
import type { Fields } from './world.ts';

export interface WrongInput {
  field: string;
  wrong: Fields;
  /**
   * `never`: what is in a path or a query is always a text, so it cannot be wrong in this way
   * there.
   */
  byQuery: 'also' | 'never';
}

type Schema = {
  type?: string | string[];
  enum?: unknown[];
  const?: unknown;
  anyOf?: Schema[];
  oneOf?: Schema[];
};

export function wrongInputs({ input, rest }: Operation, good: Fields): WrongInput[] {
  const { properties = {}, required = [] } = z.toJSONSchema(input, {
    io: 'input',
    unrepresentable: 'any',
    reused: 'inline',
  }) as { properties?: Record<string, Schema>; required?: string[] };
  const inPath = (field: string) => rest.path.includes(`{${field}}`);
  const asText = rest.method === 'GET' || rest.method === 'DELETE';
  const found: WrongInput[] = [
    { field: 'no_such_field', wrong: { ...good, no_such_field: 'x' }, byQuery: 'also' },
  ];
  for (const field of required) {
    const { [field]: _, ...wrong } = good;
    found.push({ field, wrong, byQuery: inPath(field) ? 'never' : 'also' });
  }
  for (const [field, schema] of Object.entries(properties)) {
    const value = wrongValue(schema, asText);
    if (value === undefined) continue;
    const onlyText = inPath(field) || (asText && value !== NONSENSE);
    found.push({
      field,
      wrong: { ...good, [field]: value },
      byQuery: onlyText ? 'never' : 'also',
    });
  }
  return found;
}

const NONSENSE = 'nonsense';

/**
 * A value of a type that the field has not; a text where a text can be wrong. Undefined: it takes
 * anything.
 */
function wrongValue(schema: Schema, preferText: boolean): unknown {
  const types = typesOf(schema);
  if (types.length === 0) return undefined;
  if (!types.includes('string') && !(preferText && types.includes('array'))) return NONSENSE;
  if (preferText && enumerated(schema)) return NONSENSE;
  return [{ no: 'sense' }, 7, true].find((value) => !types.includes(typeOf(value)));
}

const typeOf = (value: unknown): string => (typeof value === 'number' ? 'integer' : typeof value);

const enumerated = ({ enum: values, const: one, anyOf }: Schema): boolean =>
  values !== undefined || one !== undefined || (anyOf?.some(enumerated) ?? false);

function typesOf({ type, enum: values, const: one, anyOf, oneOf }: Schema): string[] {
  const options = anyOf ?? oneOf;
  if (options !== undefined) {
    const each = options.map(typesOf);
    return each.some((types) => types.length === 0) ? [] : each.flat();
  }
  if (type !== undefined) {
    const types = [type].flat();
    return types.includes('number') ? [...types, 'integer'] : types;
  }
  const known = values ?? (one === undefined ? [] : [one]);
  return known.map(typeOf);
}
