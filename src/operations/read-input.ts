// Reading a caller's input: absent, null and "" mean the same; what does not fit is named in a
// sentence that says what to do.
import type { z } from 'zod';
import { type Fault, Problem } from '../errors.ts';
import { nearest } from '../nearest.ts';

const MOST_FAULTS_SHOWN = 5;
/**
 * Limits the number of fields, of entries in a field's list or object, and of fields of objects in
 * a list.
 */
const MOST_ENTRIES = 2000;
const LONGEST_QUOTE = 100;

export function readInput<Schema extends z.ZodObject>(
  schema: Schema,
  raw: unknown,
  { blanksAreAbsent = true } = {},
): z.output<Schema> {
  if (typeof raw !== 'object' || raw === null || Array.isArray(raw)) {
    throw new Problem('invalid', 'The body must be a JSON object.');
  }
  requireModest(raw);
  const given = raw as Record<string, unknown>;
  const parsed = schema.safeParse(blanksAreAbsent ? withoutBlanks(given) : given);
  if (parsed.success) return parsed.data;
  throw notFitting(schema, parsed.error);
}

/** What is wrong with an input, field by field. */
export function notFitting(schema: z.ZodType, { issues }: z.ZodError): Problem {
  const faults = issues
    .slice(0, MOST_FAULTS_SHOWN)
    .flatMap((issue) => describe(schema, issue))
    .slice(0, MOST_FAULTS_SHOWN);
  const sentence = faults.map(({ message }) => message).join('; ');
  const more = issues.reduce((sum, issue) => sum + countOf(issue), 0) - faults.length;
  return new Problem('invalid', more > 0 ? `${sentence}; and ${more} more.` : `${sentence}.`, {
    ...(isMissing(issues[0]) ? { kind: 'missing-field' } : {}),
    faults,
  });
}

/**
 * Checked before the schema looks at each of them: 95,000 unknown fields took it and their
 * description 2 s. What variables hold further down is counted only by http/json-bytes.ts: no
 * schema looks there.
 */
export function requireModest(raw: unknown): void {
  if (typeof raw !== 'object' || raw === null) return;
  const fields = Object.values(raw);
  let entries = fields.length;
  for (const field of fields) {
    if (entries > MOST_ENTRIES) break;
    entries += sizeOf(field);
    if (!Array.isArray(field) || entries > MOST_ENTRIES) continue;
    for (const item of field) entries += sizeOf(item);
  }
  if (entries <= MOST_ENTRIES) return;
  throw new Problem(
    'invalid',
    `The request has more than ${MOST_ENTRIES} fields and entries in lists. No email needs that many; see /openapi.json for the fields.`,
  );
}

function sizeOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  return Array.isArray(value) ? value.length : Object.keys(value).length;
}

const countOf = (issue: z.core.$ZodIssue): number =>
  issue.code === 'unrecognized_keys' ? issue.keys.length : 1;

function withoutBlanks(raw: Record<string, unknown>): Record<string, unknown> {
  const names = Object.keys(raw);
  if (!names.some((name) => isBlank(raw[name]))) return raw;
  // fromEntries defines, it does not assign: a field named __proto__ stays an ordinary unknown
  // field.
  return Object.fromEntries(
    names.filter((name) => !isBlank(raw[name])).map((name) => [name, raw[name]]),
  );
}

const isBlank = (value: unknown): boolean => value === null || value === '';

/** Also for unions, whose schemas say so themselves. */
const isMissing = (issue: z.core.$ZodIssue | undefined): boolean =>
  (issue?.code === 'invalid_type' && issue.message.endsWith('received undefined')) ||
  issue?.message === 'is missing';

/** Each fault as part of a sentence that names the field. */
function describe(schema: z.ZodType, issue: z.core.$ZodIssue): Fault[] {
  const path = showPath(issue.path);
  switch (issue.code) {
    case 'unrecognized_keys': {
      const known = Object.keys(shapeAt(schema, issue.path));
      return issue.keys.slice(0, MOST_FAULTS_SHOWN).map((key) => ({
        path: showPath([...issue.path, key]),
        message: unknownField(path, key.slice(0, LONGEST_QUOTE), known),
      }));
    }
    case 'invalid_type':
      return [
        {
          path,
          message: isMissing(issue)
            ? `${path} is missing`
            : `${path} must be ${article(issue.expected)}`,
        },
      ];
    default:
      return [{ path, message: `${path}${inOurWords(issue)}` }];
  }
}

/** Our schemas' own messages stay; the library's are written for developers of schemas. */
function inOurWords(issue: z.core.$ZodIssue): string {
  if (!/^(Invalid|Too) /.test(issue.message)) return `: ${issue.message}`;
  switch (issue.code) {
    case 'invalid_value':
      return ` must be ${oneOf(issue.values.map(String))}`;
    case 'too_small':
      return ` must ${bound(issue.origin, 'at least', Number(issue.minimum))}`;
    case 'too_big':
      return ` must ${bound(issue.origin, 'at most', Number(issue.maximum))}`;
    case 'invalid_union':
      return ' has a form that is not supported';
    default:
      return ` is not in the right format (${issue.message})`;
  }
}

function oneOf(values: string[]): string {
  const [last, ...others] = [...values].reverse();
  return others.length === 0 ? `${last}` : `${others.reverse().join(', ')} or ${last}`;
}

function bound(origin: string, which: string, limit: number): string {
  if (origin === 'string')
    return `have ${which} ${limit} ${limit === 1 ? 'character' : 'characters'}`;
  if (origin === 'array' || origin === 'set') return `hold ${which} ${limit}`;
  return `be ${which} ${limit}`;
}

function unknownField(path: string, key: string, known: string[]): string {
  const near = nearest(key, known);
  const where = path === '' ? '' : ` in ${path}`;
  return `There is no field "${key}"${where}${near === undefined ? '' : ` (did you mean ${near}?)`}`;
}

function showPath(path: PropertyKey[]): string {
  return path
    .map((part, index) =>
      typeof part === 'number'
        ? `[${part}]`
        : `${index === 0 ? '' : '.'}${String(part).slice(0, LONGEST_QUOTE)}`,
    )
    .join('');
}

const article = (expected: string): string => {
  if (expected === 'record' || expected === 'object') return 'an object';
  return /^[aeiou]/.test(expected) ? `an ${expected}` : `a ${expected}`;
};

/** The fields allowed where the unknown one was: at the top, or inside a list of objects. */
function shapeAt(schema: z.ZodType, path: PropertyKey[]): Record<string, unknown> {
  let at: unknown = schema;
  for (const part of path) {
    let here = at as { def?: { innerType?: unknown; element?: unknown }; shape?: object };
    while (here?.def?.innerType !== undefined) here = here.def.innerType as typeof here;
    at =
      typeof part === 'number'
        ? here?.def?.element
        : (here?.shape as Record<string, unknown> | undefined)?.[part as string];
  }
  let here = at as { def?: { innerType?: unknown }; shape?: object };
  while (here?.def?.innerType !== undefined) here = here.def.innerType as typeof here;
  return (here?.shape ?? {}) as Record<string, unknown>;
}
