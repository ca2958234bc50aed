// openapi.json as the reference reads it: operations by tag, and their fields with references
// resolved. Covers only what our own document uses (src/rest/openapi).
interface Schema {
  $ref?: string;
  type?: string | string[];
  description?: string;
  enum?: unknown[];
  items?: Schema;
  properties?: Record<string, Schema>;
  required?: string[];
  anyOf?: Schema[];
  allOf?: Schema[];
  oneOf?: Schema[];
}

interface Content {
  content?: Record<string, { schema?: Schema }>;
}

interface Described {
  operationId: string;
  summary?: string;
  description?: string;
  tags?: string[];
  parameters?: {
    name: string;
    in: string;
    required?: boolean;
    description?: string;
    schema?: Schema;
  }[];
  requestBody?: Content;
  responses: Record<string, Content>;
}

export interface OpenApi {
  paths: Record<string, Record<string, Described>>;
  components?: { schemas?: Record<string, Schema> };
}

export interface Operation {
  id: string;
  method: string;
  path: string;
  title: string;
  description: string;
  described: Described;
}

export interface Field {
  name: string;
  type: string;
  /** `path`, `query`, `header`; empty: the body. */
  where: string;
  required: boolean;
  description: string;
}

const METHODS = ['get', 'post', 'put', 'patch', 'delete'];

export function operationsOf(
  document: OpenApi,
  search: string,
): { tag: string; operations: Operation[] }[] {
  const words = search.toLowerCase().split(/\s+/).filter(Boolean);
  const groups = new Map<string, Operation[]>();
  for (const [path, item] of Object.entries(document.paths)) {
    for (const [method, described] of Object.entries(item)) {
      if (!METHODS.includes(method)) continue;
      const { operationId: id, summary = id, description = '', tags = ['Other'] } = described;
      const text = `${method} ${path} ${id} ${summary} ${description}`.toLowerCase();
      if (!words.every((word) => text.includes(word))) continue;
      const one = {
        id,
        method: method.toUpperCase(),
        path,
        title: summary,
        description,
        described,
      };
      groups.set(tags[0]!, [...(groups.get(tags[0]!) ?? []), one]);
    }
  }
  return [...groups].map(([tag, operations]) => ({ tag, operations }));
}

export function fieldsOf(
  document: OpenApi,
  { described }: Operation,
  which: 'request' | 'answer',
): Field[] {
  if (which === 'request') {
    const asked = (described.parameters ?? []).map((one) => ({
      name: one.name,
      type: typeOf(document, one.schema),
      where: one.in,
      required: one.required ?? false,
      description: one.description ?? one.schema?.description ?? '',
    }));
    return [...asked, ...bodyOf(document, described.requestBody)];
  }
  const good = Object.keys(described.responses).find((status) => status.startsWith('2'));
  return bodyOf(document, good === undefined ? undefined : described.responses[good]);
}

function bodyOf(document: OpenApi, body: Content | undefined): Field[] {
  const { properties = {}, required = [] } = whole(
    document,
    body?.content?.['application/json']?.schema,
  );
  return Object.entries(properties).map(([name, schema]) => ({
    name,
    type: typeOf(document, schema),
    where: '',
    required: required.includes(name),
    description: schema.description ?? follow(document, schema).description ?? '',
  }));
}

const follow = (document: OpenApi, schema: Schema = {}): Schema =>
  schema.$ref === undefined
    ? schema
    : (document.components?.schemas?.[schema.$ref.split('/').at(-1)!] ?? {});

/** A schema that is combined from several counts as one. */
function whole(document: OpenApi, schema: Schema | undefined): Schema {
  const found = follow(document, schema);
  const parts = [found, ...(found.allOf ?? []).map((part) => follow(document, part))];
  return {
    properties: Object.assign({}, ...parts.map(({ properties }) => properties)),
    required: parts.flatMap(({ required = [] }) => required),
  };
}

function typeOf(document: OpenApi, schema: Schema | undefined): string {
  if (schema?.$ref !== undefined) return schema.$ref.split('/').at(-1)!;
  const choices = schema?.anyOf ?? schema?.oneOf;
  if (choices) return choices.map((one) => typeOf(document, one)).join(' or ');
  if (schema?.enum) return schema.enum.map(String).join(' | ');
  if (schema?.type === 'array') return `list of ${typeOf(document, schema.items)}`;
  return [schema?.type ?? 'any'].flat().join(' or ');
}
