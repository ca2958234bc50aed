// The typed client's operations as TypeScript, made from the OpenAPI document: names, types and
// comments of every call.
import { OPERATIONS } from '../src/operations/all.ts';
import { itemsOf } from '../src/operations/lists.ts';
import type { Operation } from '../src/operations/operation.ts';
import { describeApi } from '../src/rest/openapi/document.ts';
import { EVERY_HOOK_TYPE } from '../src/webhooks/event-body.ts';

type Schema = {
  type?: string | string[];
  description?: string;
  $ref?: string;
  const?: unknown;
  enum?: unknown[];
  anyOf?: Schema[];
  oneOf?: Schema[];
  allOf?: Schema[];
  items?: Schema;
  properties?: Record<string, Schema | false>;
  required?: string[];
  additionalProperties?: boolean | Schema;
};

interface Described {
  paths: Record<string, Record<string, DescribedOperation>>;
  components: { schemas: Record<string, Schema> };
}

interface DescribedOperation {
  parameters: {
    name: string;
    in: string;
    required: boolean;
    description?: string;
    schema: Schema;
  }[];
  requestBody?: { content: { 'application/json': { schema: Schema } } };
  responses: Record<string, { content: { 'application/json': { schema: Schema } } }>;
}

export function describeClient(): string {
  const api = describeApi() as Described;
  const operations = group(api, '');
  return indent([
    '// Generated from the operations by `npm run generate`; change them there.',
    "import type { CallOptions, Pages } from './calls.ts';",
    '',
    ...typesIn(api, operations),
    '/** Every operation, by resource. */',
    `export interface Operations ${operations}`,
    '',
    '/** The event types of webhooks. */',
    `export const EVENT_TYPES = [${EVERY_HOOK_TYPE.map((type) => `'${type}'`).join(', ')}] as const;`,
    '',
    '/** Method, path and what may be retried, by the name of the call. */',
    'export const ROUTES = {',
    ...OPERATIONS.map((operation) => `  '${operation.client}': ${route(operation)},`),
    '} as const;',
    '',
  ]);
}

/** The named schemas that the text mentions, and those that they mention. */
function typesIn({ components: { schemas } }: Described, text: string): string[] {
  const types = new Map<string, string>();
  const mention = (where: string): void => {
    for (const [name, schema] of Object.entries(schemas)) {
      if (types.has(name) || !new RegExp(`\\b${name}\\b`).test(where)) continue;
      const declared = declaration(name, schema);
      types.set(name, `${comment(schema.description)}export ${declared}`);
      mention(declared);
    }
  };
  mention(text);
  return Object.keys(schemas).flatMap((name) => types.get(name) ?? []);
}

/** By the braces at the ends of lines. */
function indent(parts: string[]): string {
  let depth = 0;
  return parts
    .join('\n')
    .split('\n')
    .map((line) => {
      if (/^[}\]]/.test(line)) depth--;
      const indented = line === '' ? '' : '  '.repeat(depth) + line.trimStart();
      if (/[{[]$/.test(line) && !/^\/?\*/.test(line)) depth++;
      return indented;
    })
    .join('\n');
}

function route({ rest: { method, path, ifMatch }, effect, output }: Operation): string {
  const marks = [
    ...(effect === 'sends' ? ['sends: true'] : []),
    ...(itemsOf(output) === undefined ? [] : ['list: true']),
    ...(ifMatch === undefined ? [] : [`ifMatch: '${ifMatch}'`]),
  ];
  return `{ method: '${method}', path: '${path}'${marks.map((mark) => `, ${mark}`).join('')} }`;
}

/** The calls of a resource as an interface; '' is the client itself. */
function group(api: Described, prefix: string): string {
  const lines: string[] = [];
  const groups = new Set<string>();
  for (const operation of OPERATIONS) {
    if (!operation.client.startsWith(prefix)) continue;
    const [name, ...deeper] = operation.client.slice(prefix.length).split('.');
    if (deeper.length > 0) groups.add(name!);
    else lines.push(method(api, name!, operation));
  }
  for (const name of groups) lines.push(`${name}: ${group(api, `${prefix}${name}.`)};`);
  return `{\n${lines.join('\n')}\n}`;
}

function method(api: Described, name: string, operation: Operation): string {
  const { rest, title, summary, output } = operation;
  const described = api.paths[rest.path]![rest.method.toLowerCase()]!;
  const input = inputOf(api, described, operation);
  const needed = (input.required ?? []).length > 0 || input.oneOf !== undefined;
  const answer =
    described.responses[String(rest.status ?? 200)]!.content['application/json'].schema;
  const result =
    itemsOf(output) === undefined
      ? `Promise<${type(answer)}>`
      : `Pages<${type((resolved(api, answer).properties!.data as Schema).items!)}>`;
  return `${comment(`${title}. ${summary}`)}${name}(input${needed ? '' : '?'}: ${type(input)}, options?: CallOptions): ${result};`;
}

/** Path, query and body as one object, as every call takes it. */
function inputOf(
  api: Described,
  described: DescribedOperation,
  { input, rest }: Operation,
): Schema {
  const any = resolved(api, described.requestBody?.content['application/json'].schema ?? {});
  // A body that may also be a list: here that is a field of the object.
  const body = rest.list === undefined ? any : resolved(api, any.oneOf!.at(-1)!);
  const parameters = described.parameters.filter((parameter) => parameter.in !== 'header');
  const properties = {
    ...Object.fromEntries(
      parameters.map(({ name, schema, description }) => [
        name,
        { ...schema, ...(description === undefined ? {} : { description }) },
      ]),
    ),
    ...body.properties,
  };
  if (rest.ifMatch !== undefined && rest.ifMatch in input.shape) {
    properties[rest.ifMatch] = {
      type: 'integer',
      description: 'The version that the change is based on.',
    };
  }
  return {
    type: 'object',
    ...(body.oneOf === undefined ? {} : { oneOf: body.oneOf }),
    properties,
    required: [
      ...parameters.filter((it) => it.required).map((it) => it.name),
      ...(body.required ?? []),
    ],
  };
}

const resolved = ({ components }: Described, schema: Schema): Schema =>
  schema.$ref === undefined ? schema : components.schemas[schema.$ref.split('/').at(-1)!]!;

const declaration = (name: string, schema: Schema): string =>
  schema.type === 'object' && schema.oneOf === undefined
    ? `interface ${name} ${type(schema)}\n`
    : `type ${name} = ${type(schema)};\n`;

function type(schema: Schema | false): string {
  if (schema === false) return 'never';
  if (schema.$ref !== undefined) return schema.$ref.split('/').at(-1)!;
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (schema.enum !== undefined) return schema.enum.map((it) => JSON.stringify(it)).join(' | ');
  if (schema.properties !== undefined && schema.oneOf !== undefined) {
    return `${objectType(schema)} & (${schema.oneOf.map(type).join(' | ')})`;
  }
  const union = schema.anyOf ?? schema.oneOf;
  if (union !== undefined) return union.map(type).join(' | ');
  if (schema.allOf !== undefined) return schema.allOf.map(type).join(' & ');
  if (Array.isArray(schema.type)) {
    return schema.type.map((one) => type({ ...schema, type: one })).join(' | ');
  }
  switch (schema.type) {
    case 'integer':
    case 'number':
      return 'number';
    case 'string':
    case 'boolean':
    case 'null':
      return schema.type;
    case 'array':
      return listType(type(schema.items ?? {}));
    case 'object':
      return objectType(schema);
    default:
      return 'unknown';
  }
}

function objectType({ properties, required = [], additionalProperties }: Schema): string {
  if (properties === undefined || Object.keys(properties).length === 0) {
    const value = typeof additionalProperties === 'object' ? type(additionalProperties) : 'unknown';
    return properties !== undefined || additionalProperties === false
      ? 'Record<string, never>'
      : `Record<string, ${value}>`;
  }
  const lines = Object.entries(properties).map(
    ([name, schema]) =>
      `${comment(schema === false ? undefined : schema.description)}${name}${required.includes(name) ? '' : '?'}: ${type(schema)}${required.includes(name) ? '' : ' | undefined'};`,
  );
  return `{\n${lines.join('\n')}\n}`;
}

/** Unions and objects in a list need brackets around them. */
const listType = (item: string): string => (/^\w+$/.test(item) ? `${item}[]` : `(${item})[]`);

const comment = (text: string | undefined): string =>
  text === undefined ? '' : `/** ${text.replaceAll('*/', '* /')} */\n`;
