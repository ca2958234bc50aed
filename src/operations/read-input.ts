// Reading a caller's input: absent, null and "" are one; what does not fit is named in a sentence that says what to do.
import type { z } from 'zod';
import { type Fault, Problem } from '../errors.ts';
import { nearest } from '../nearest.ts';

const MOST_FAULTS_SHOWN = 5;

export function readInput<Schema extends z.ZodObject>(
  schema: Schema,
  raw: unknown,
  { blanksAreAbsent = true } = {},
): z.output<Schema> {
  if (typeof raw !== 'object' || raw === null || Array.isArray(raw)) {
    throw new Problem('invalid', 'The body must be a JSON object.');
  }
  const given = raw as Record<string, unknown>;
  const parsed = schema.safeParse(blanksAreAbsent ? withoutBlanks(given) : given);
  if (parsed.success) return parsed.data;
  const faults = parsed.error.issues.flatMap((issue) => describe(schema, issue));
  const shown = faults.slice(0, MOST_FAULTS_SHOWN);
  const sentence = shown.map(({ message }) => message).join('; ');
  const more = faults.length - shown.length;
  throw new Problem('invalid', more > 0 ? `${sentence}; and ${more} more.` : `${sentence}.`, {
    faults: shown,
  });
}

function withoutBlanks(raw: Record<string, unknown>): Record<string, unknown> {
  const names = Object.keys(raw);
  if (!names.some((name) => isBlank(raw[name]))) return raw;
  // fromEntries defines, it does not assign: a field named __proto__ stays just an unknown field.
  return Object.fromEntries(
    names.filter((name) => !isBlank(raw[name])).map((name) => [name, raw[name]]),
  );
}

const isBlank = (value: unknown): boolean => value === null || value === '';

/** Each fault as a part of a sentence that names the field. */
function describe(schema: z.ZodObject, issue: z.core.$ZodIssue): Fault[] {
  const path = showPath(issue.path);
  switch (issue.code) {
    case 'unrecognized_keys': {
      const known = Object.keys(shapeAt(schema, issue.path));
      return issue.keys.map((key) => ({ path, message: unknownField(path, key, known) }));
    }
    case 'invalid_type':
      return [
        {
          path,
          message: issue.message.endsWith('received undefined')
            ? `${path} is missing`
            : `${path} must be ${article(issue.expected)}`,
        },
      ];
    default:
      return [{ path, message: `${path}: ${issue.message}` }];
  }
}

function unknownField(path: string, key: string, known: string[]): string {
  const near = nearest(key, known);
  const where = path === '' ? '' : ` in ${path}`;
  return `There is no field "${key.slice(0, 100)}"${where}${near === undefined ? '' : ` (did you mean ${near}?)`}`;
}

function showPath(path: PropertyKey[]): string {
  return path
    .map((part, index) =>
      typeof part === 'number' ? `[${part}]` : index === 0 ? String(part) : `.${String(part)}`,
    )
    .join('');
}

const article = (expected: string): string => {
  if (expected === 'record' || expected === 'object') return 'an object';
  return /^[aeiou]/.test(expected) ? `an ${expected}` : `a ${expected}`;
};

/** The fields that were possible where the unknown one stood: at the top, or inside a list of objects. */
function shapeAt(schema: z.ZodObject, path: PropertyKey[]): Record<string, unknown> {
  let at: unknown = schema;
  for (const part of path) {
    let here = at as { def?: { innerType?: unknown; element?: unknown }; shape?: object };
    while (here.def?.innerType !== undefined) here = here.def.innerType as typeof here;
    at =
      typeof part === 'number'
        ? here.def?.element
        : (here.shape as Record<string, unknown>)[part as string];
  }
  let here = at as { def?: { innerType?: unknown }; shape?: object };
  while (here.def?.innerType !== undefined) here = here.def.innerType as typeof here;
  return (here.shape ?? {}) as Record<string, unknown>;
}
