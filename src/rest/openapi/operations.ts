// One operation in OpenAPI's words: what it takes by path, query, header and body, and what it
// answers.
import { itemsOf } from '../../operations/lists.ts';
import type { Operation } from '../../operations/operation.ts';
import { givesETag, takesIfMatch } from '../../operations/preconditions.ts';
import { ETAG, LIMIT_HEADERS, REQUEST_ID, responseNamed } from './responses.ts';
import { type Schema, type Schemas, typeName } from './schemas.ts';

export function describeOperation(operation: Operation, tag: string, schemas: Schemas): object {
  const { name, title, summary, rest, effect } = operation;
  const { status = 200 } = rest;
  return {
    operationId: name,
    tags: [tag],
    summary: title,
    description: `${summary}\n\n${needs(operation)}`,
    ...describeInput(operation, schemas),
    responses: {
      [status]: {
        description: status === 202 ? 'Queued.' : 'Done.',
        headers: {
          ...REQUEST_ID,
          ...(givesETag(operation) ? ETAG : {}),
          ...(effect === 'sends' ? LIMIT_HEADERS : {}),
        },
        content: {
          'application/json': { schema: answerOf(operation, schemas) },
          ...(operation.rest.file ? BYTES : {}),
        },
      },
      ...Object.fromEntries(refusalsOf(operation).map((code) => [code, responseNamed(code)])),
    },
  };
}

/** Whoever accepts this type gets the file itself. */
const BYTES = { 'application/octet-stream': { schema: { type: 'string', format: 'binary' } } };

const needs = ({ scope }: Operation): string =>
  scope === null ? 'Any key of a paying account works.' : `Needs the scope \`${scope}\`.`;

function describeInput(operation: Operation, schemas: Schemas): object {
  const { name, rest, input, effect } = operation;
  const { method, path, ifMatch, oneOf, list, headers = {} } = rest;
  const { properties, required, ...object } = schemas.inline(input, 'input') as {
    properties: Record<string, Schema>;
    required?: string[];
  };
  const inPath = [...path.matchAll(/\{(\w+)\}/g)].map((found) => found[1]!);
  const others = Object.keys(properties).filter((it) => !inPath.includes(it) && it !== ifMatch);
  const mandatory = others.filter((it) => required?.includes(it));
  const byQuery = method === 'GET' || method === 'DELETE';
  const parameters = [
    ...inPath.map((it) => parameter(it, 'path', properties[it]!, true)),
    ...(byQuery
      ? others.map((it) => parameter(it, 'query', properties[it]!, mandatory.includes(it)))
      : []),
    ...(effect === 'sends' ? [IDEMPOTENCY_KEY] : []),
    ...(takesIfMatch(operation) ? [IF_MATCH] : []),
    ...Object.entries(headers).map(([it, header]) =>
      parameter(header, 'header', properties[it]!, false),
    ),
  ];
  if (byQuery || others.length === 0) return { parameters };
  const fields = {
    ...object,
    properties: Object.fromEntries(others.map((it) => [it, properties[it]])),
    ...(mandatory.length > 0 ? { required: mandatory } : {}),
    ...(oneOf === undefined
      ? {}
      : { oneOf: Object.entries(oneOf).map(([it, schema]) => schemas.name(it, schema)) }),
  };
  const orList = (field: string): Schema => {
    const { description: _, ...items } = properties[field]!;
    return { oneOf: [items, schemas.name(`${typeName(name)}Object`, fields)] };
  };
  const body = schemas.name(`${typeName(name)}Request`, list === undefined ? fields : orList(list));
  return {
    parameters,
    requestBody: {
      required: mandatory.length > 0 || oneOf !== undefined,
      content: { 'application/json': { schema: body } },
    },
  };
}

/** Every answer has a name, so that generators need not make one up. */
function answerOf({ name, output }: Operation, schemas: Schemas): Schema {
  const made = schemas.of(output, 'output');
  if (made.$ref !== undefined) return made;
  const item = itemsOf(output) === undefined ? undefined : itemName(made);
  return schemas.name(item === undefined ? `${typeName(name)}Answer` : `${item}List`, made);
}

const itemName = ({ properties }: { properties?: { data?: { items?: Schema } } }) =>
  (properties?.data?.items?.$ref as string | undefined)?.split('/').at(-1);

const parameter = (name: string, place: string, full: Schema, required: boolean): object => {
  const { description, example, ...schema } = full;
  return {
    name,
    in: place,
    required,
    ...(description === undefined ? {} : { description }),
    ...(example === undefined ? {} : { example }),
    schema,
  };
};

const IDEMPOTENCY_KEY = {
  name: 'Idempotency-Key',
  in: 'header',
  required: false,
  description:
    'For 24 hours, a call with the same key and body gets the same answer as the first; nothing is sent twice.',
  schema: { type: 'string', minLength: 1, maxLength: 255 },
};

const IF_MATCH = {
  name: 'If-Match',
  in: 'header',
  required: false,
  description:
    'The ETag of what the change is based on. If someone else has changed it since, the call answers 412, says what changed, and does nothing.',
  schema: { type: 'string' },
};

/** What can go wrong follows from what the operation does. */
function refusalsOf(operation: Operation): number[] {
  const { effect, rest } = operation;
  const sends = effect === 'sends';
  return [
    ...[400, 401, 402, 403],
    ...(rest.path.includes('{') || sends ? [404] : []),
    ...(effect === 'changes' || effect === 'talks' ? [409] : []),
    ...(takesIfMatch(operation) ? [412] : []),
    ...(sends ? [429, 502] : []),
    ...[500, 503],
  ];
}
