// Schemas as agents read them in every conversation: names, types and one sentence each. Any
// further constraint is checked when the tool is called, and explained then.

type Fields = Record<string, unknown>;

const LEFT_OUT = new Set([
  ...['$schema', 'examples', 'example', 'format', 'additionalProperties', 'default', 'pattern'],
  ...['minLength', 'maxLength', 'minimum', 'maximum', 'minItems', 'maxItems', 'propertyNames'],
  ...['exclusiveMinimum', 'exclusiveMaximum'],
]);

/** With more fields than this, optional fields get no description. */
const MOST_TOLD = 1;

/** `told`: fields that another tool already describes; undefined: every field is described. */
export function compactInput(schema: Fields, told?: ReadonlySet<string>): Fields {
  const { properties = {}, $defs: _, ...rest } = compact(schema) as Schema;
  const required = new Set(rest.required ?? []);
  const names = Object.keys(properties);
  const isTold = (name: string): boolean =>
    told !== undefined && (told.has(name) || (names.length > MOST_TOLD && !required.has(name)));
  const entries = Object.entries(properties).map(([name, field]) => [
    name,
    isTold(name) ? bare(field) : flat(field),
  ]);
  return { ...rest, properties: Object.fromEntries(entries) };
}

interface Schema extends Fields {
  properties?: Record<string, Fields>;
  required?: string[];
}

/** All that is said of an answer is that it is an object: an agent reads it when it arrives. */
export const ANY_OBJECT = { type: 'object' } as const;

/** Fields inside the entries of a list get no description. */
function flat(field: Fields): Fields {
  const { items, properties } = field;
  if (isObject(properties)) return { ...field, properties: barely(properties) };
  if (!isObject(items)) return field;
  if (!isObject(items.properties)) return { ...field, items: bare(items) };
  return { ...field, items: { ...items, properties: barely(items.properties) } };
}

const barely = (properties: Fields): Fields =>
  Object.fromEntries(Object.entries(properties).map(([name, one]) => [name, bare(one as Fields)]));

const isObject = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

function compact(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(compact);
  if (typeof schema !== 'object' || schema === null) return schema;
  return Object.fromEntries(
    Object.entries(ofOneType(schema as Fields))
      .filter(([name, value]) => !LEFT_OUT.has(name) || isField(name, value))
      .map(([name, value]) => [
        name,
        name === 'description' && typeof value === 'string' ? inShort(value) : compact(value),
      ]),
  );
}

/**
 * One type, even where null or a single value is allowed instead: Gemini refuses a field without a
 * type or with several, and with it every call of the conversation.
 */
function ofOneType({ anyOf, ...schema }: Fields): Fields {
  if (Array.isArray(schema.type))
    return { ...schema, type: schema.type.find((it) => it !== 'null') };
  if (!Array.isArray(anyOf)) return schema;
  const types = (anyOf as Fields[]).filter(({ type }) => type !== 'null');
  return { ...schema, ...(types.find(({ type }) => type === 'array') ?? types[0]) };
}

/** A field that happens to be named `format`. */
const isField = (name: string, value: unknown): boolean =>
  name !== 'propertyNames' &&
  name !== 'additionalProperties' &&
  typeof value === 'object' &&
  value !== null &&
  'type' in value;

/**
 * Its type alone, plus its values if they are few. OpenAI refuses an array without an item type.
 */
const bare = ({ type = 'object', enum: values, items }: Fields): Fields => ({
  type,
  ...(isObject(items) ? { items: bare(items) } : {}),
  ...(Array.isArray(values) && values.length <= MOST_VALUES ? { enum: values } : {}),
});

const MOST_VALUES = 7;

const LONGEST_FIELD = 40;

/** The first sentence; if that is long, the part before its first aside. */
export function inShort(text: string): string {
  const [first = text] = sentencesOf(text);
  if (first.length <= LONGEST_FIELD) return first;
  const [main = first] = first.replace(/ \([^)]*\)/g, '').split(/(?<=.{20})[;:,] /);
  return main.endsWith('.') ? main : `${main}.`;
}

/**
 * Whether the title says more than the name, which clients show if there is no title. A title that
 * contains every word of the name does not.
 */
export function saysMore(title: string, name: string): boolean {
  const words = title.toLowerCase().split(' ');
  const said = (word: string): boolean =>
    words.some((it) => it.startsWith(word) || it === OTHER_WORDS[word]);
  return !name.split('_').every(said);
}

const OTHER_WORDS: Record<string, string> = {
  get: 'read',
  set: 'change',
  update: 'change',
  create: 'add',
  put: 'create',
};

const sentencesOf = (text: string): string[] => text.split(/(?<=\.) (?=[A-Z`]|[a-z]+_)/);
