// Whether the given variables fit a template: types, entries of lists, web addresses, and no name
// that the template does not know. Before it: rendering.ts, with what a sender gave. After it: the
// template is rendered, or each fault is reported with its place.
import { Problem } from '../errors.ts';
import { nearest } from '../nearest.ts';
import { isAbsent, missingVariables, type Variable, type VariableType } from './variables.ts';

/** What a template declares about its variables, and which other names its source reads. */
export interface Fillable {
  slug: string;
  variables: readonly Variable[];
  /**
   * For an account's template, which need not declare what it reads; null: everything is declared.
   */
  reads: ReadonlySet<string> | null;
}

interface Shape {
  type: VariableType;
  /** Of an object; undefined: any. */
  fields?: Map<string, Shape>;
  /** Of a list; undefined: any. */
  entry?: Shape;
  required?: boolean;
}

interface Fault {
  path: string;
  message: string;
}

const MOST_FAULTS = 5;

/** Read by the layout in every template, and set by every render whatever the sender gives. */
const OF_EVERY_RENDER = ['lang', 'dir', 'branding', 'mail'];

/** Throws a Problem that names each variable that is missing, unknown or of the wrong type. */
export function requireFit(
  template: Fillable,
  variables: Record<string, unknown>,
  /** The sender's own subject and text, which may read what the template does not. */
  own: readonly (string | undefined)[] = [],
): void {
  const missing = missingVariables(template.variables, variables);
  if (missing.length > 0) throw missingOnes(template.slug, missing);
  const faults: Fault[] = [];
  const shape = shapeOf(template.variables);
  const isRead = readerOf(template, own);
  for (const name of Object.keys(variables)) {
    const value = variables[name];
    const known = shape.fields!.get(name);
    if (known !== undefined) check(value, known, `variables.${name}`, faults);
    else if (!isRead(name)) faults.push(unknown(shape, name));
    if (faults.length >= MOST_FAULTS) break;
  }
  if (faults.length === 0) return;
  const sentence = faults.map(({ message }) => message).join('; ');
  throw new Problem('invalid', `Template "${template.slug}": ${sentence}.`, { faults });
}

function missingOnes(slug: string, missing: readonly string[]): Problem {
  const paths = missing.map((name) => `variables.${name}`);
  return new Problem(
    'invalid',
    `Template "${slug}" needs variables that are missing or empty: ${paths.join(', ')}.`,
    { faults: paths.map((path) => ({ path, message: `${path} is missing or empty` })) },
  );
}

/** The sender's own sources are searched at most once, however many names there are. */
function readerOf(
  { reads }: Fillable,
  own: readonly (string | undefined)[],
): (name: string) => boolean {
  let ownNames: ReadonlySet<string>[] | undefined;
  const sources = own.filter((source) => source !== undefined);
  const areTooLong = sources.some(({ length }) => length > LONGEST_LOOKED_THROUGH);
  return (name) => {
    if (OF_EVERY_RENDER.includes(name) || reads?.has(name) === true || areTooLong) return true;
    ownNames ??= sources.map(namesReadBy);
    return ownNames.some((names) => names.has(name));
  };
}

/** Longer ones may read any name: searching a batch of them held up everyone. */
const LONGEST_LOOKED_THROUGH = 16 * 1024;

function unknown({ fields }: Shape, name: string): Fault {
  const shown = name.slice(0, 100);
  return {
    path: `variables.${shown}`,
    message: `it has no variable ${shown}${meant(name, [...fields!.keys()])}`,
  };
}

function meant(name: string, known: readonly string[]): string {
  const near = nearest(name, known);
  if (near !== undefined) return ` (did you mean ${near}?)`;
  const shown = known.slice(0, 20).join(', ');
  return known.length === 0 ? '; it has none' : `; it has ${shown}`;
}

function check(value: unknown, shape: Shape, path: string, faults: Fault[]): void {
  if (isAbsent(value) || shape.type === 'any') return;
  const fault = misfit(value, shape);
  if (fault !== undefined) faults.push({ path, message: `${path} ${fault}` });
  else if (shape.type === 'array') checkEntries(value as unknown[], shape, path, faults);
  else if (shape.type === 'object' && shape.fields !== undefined) {
    checkFields(value as Record<string, unknown>, shape.fields, path, faults);
  }
}

function checkEntries(
  entries: readonly unknown[],
  { entry, required }: Shape,
  path: string,
  faults: Fault[],
): void {
  if (entries.length === 0 && required) {
    faults.push({ path, message: `${path} must contain at least one entry` });
  }
  if (entry === undefined || entry.type === 'any') return;
  for (const [index, value] of entries.entries()) {
    const at = `${path}[${index}]`;
    // An empty line of an address is valid; an entry that should be an object must not be empty.
    if (value === null || (value === '' && entry.type !== 'string')) {
      faults.push({ path: at, message: `${at} is empty` });
    } else check(value, entry, at, faults);
    if (faults.length >= MOST_FAULTS) return;
  }
}

function checkFields(
  given: Record<string, unknown>,
  fields: ReadonlyMap<string, Shape>,
  path: string,
  faults: Fault[],
): void {
  for (const [name, field] of fields) {
    if (field.required && isAbsent(Object.hasOwn(given, name) ? given[name] : undefined)) {
      faults.push({
        path: `${path}.${name}`,
        message: `${path}.${name} is missing or empty`,
      });
    }
  }
  for (const name of Object.keys(given)) {
    if (faults.length >= MOST_FAULTS) return;
    const field = fields.get(name);
    if (field !== undefined) check(given[name], field, `${path}.${name}`, faults);
    else {
      const at = `${path}.${name.slice(0, 100)}`;
      const message = `${path} has no ${name.slice(0, 100)}${meant(name, [...fields.keys()])}`;
      faults.push({ path: at, message });
    }
  }
}

/** What is wrong with a value by itself; undefined: nothing. */
function misfit(value: unknown, { type, fields }: Shape): string | undefined {
  const found = kindOf(value);
  switch (type) {
    // A number prints as it was written; True, a list or an object in a sentence is never intended.
    case 'string':
      return found === 'text' || found === 'a number' ? undefined : `must be text, not ${found}`;
    case 'number':
      return found === 'a number' ? undefined : `must be a number, not ${found}`;
    case 'boolean':
      return found === 'a boolean' ? undefined : `must be true or false, not ${found}`;
    case 'array':
      return found === 'a list' ? undefined : `must be a list, not ${found}`;
    case 'object':
      if (found === 'an object') return undefined;
      return `must be an object${fields ? ` with ${[...fields.keys()].join(', ')}` : ''}, not ${found}`;
    case 'url':
      if (found !== 'text') return `must be a web address, not ${found}`;
      return isWebAddress(value as string)
        ? undefined
        : 'must be a complete web address that begins with https:// or http://';
    case 'any':
      return undefined;
  }
}

function kindOf(value: unknown): string {
  if (typeof value === 'string') return 'text';
  if (typeof value === 'number' || typeof value === 'bigint' || value instanceof Number) {
    return 'a number';
  }
  if (typeof value === 'boolean') return 'a boolean';
  return Array.isArray(value) ? 'a list' : 'an object';
}

/** Programs that read email drop white space inside an address, so there must be none. */
export const isWebAddress = (text: string): boolean =>
  /^https?:\/\/[^\s\p{Cc}\p{Cf}<>"\\]+$/iu.test(text) && URL.canParse(text);

// What is declared as a tree, made once per template.

const shapes = new WeakMap<readonly Variable[], Shape>();

function shapeOf(variables: readonly Variable[]): Shape {
  const known = shapes.get(variables);
  if (known !== undefined) return known;
  const root: Shape = { type: 'object', fields: new Map() };
  for (const { name, type, items, required } of variables) {
    const path = name.split('.');
    const last = path.pop()!;
    let at = root;
    for (const part of path) at = within(at, part);
    const { fields } = at.fields?.get(last) ?? {};
    const entry = items === undefined ? undefined : entryOf(items);
    at.fields?.set(last, {
      ...{ type, required },
      ...(entry && { entry }),
      ...(fields && { fields }),
    });
  }
  shapes.set(variables, root);
  return root;
}

/** The object that a path goes through. */
function within({ fields }: Shape, name: string): Shape {
  const known = fields!.get(name);
  if (known?.fields !== undefined) return known;
  const made: Shape = { type: 'object', ...known, fields: new Map() };
  if (made.type !== 'any') made.type = 'object';
  fields!.set(name, made);
  return made;
}

function entryOf(items: NonNullable<Variable['items']>): Shape {
  if (typeof items === 'string') return { type: items };
  const fields = new Map(items.map(({ name, type, required }) => [name, { type, required }]));
  return { type: 'object', fields };
}

// Which names a source reads.

const namesOf = new Map<string, ReadonlySet<string>>();
const MOST_REMEMBERED = 200;
const LONGEST_REMEMBERED = 4096;

/**
 * Every word inside its Jinja2 tags: more than it reads, never less. Found from tag to tag, so that
 * a source of nothing but opening braces takes no longer than any other.
 */
export function namesReadBy(source: string): ReadonlySet<string> {
  const known = namesOf.get(source);
  if (known !== undefined) return known;
  const names = new Set<string>();
  for (let at = source.indexOf('{'); at !== -1; at = source.indexOf('{', at)) {
    const close = source[at + 1] === '{' ? '}}' : source[at + 1] === '%' ? '%}' : undefined;
    if (close === undefined) {
      at++;
      continue;
    }
    const end = source.indexOf(close, at + 2);
    const inside = source.slice(at + 2, end === -1 ? undefined : end);
    for (const [word] of inside.matchAll(/[\p{L}_][\p{L}\p{N}_]*/gu)) names.add(word);
    if (end === -1) break;
    at = end + 2;
  }
  if (source.length <= LONGEST_REMEMBERED) {
    namesOf.set(source, names);
    if (namesOf.size > MOST_REMEMBERED) namesOf.delete(namesOf.keys().next().value!);
  }
  return names;
}
