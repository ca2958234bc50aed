// OpenAPI 3.1, made from the operations. Served at /openapi.json; the committed copy is checked fresh.
import { z } from 'zod';
import { OPERATIONS } from '../operations/all.ts';
import type { Operation } from '../operations/operation.ts';

type Schema = Record<string, unknown>;

export function describeApi(baseUrl = 'http://127.0.0.1:3000'): object {
  const components: Record<string, Schema> = { Problem: PROBLEM };
  const paths: Record<string, Record<string, object>> = {};
  for (const operation of OPERATIONS) {
    const { method, path } = operation.rest;
    paths[path] = {
      ...paths[path],
      [method.toLowerCase()]: describeOperation(operation, components),
    };
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Sandmartin',
      version: '1',
      description:
        'Transactional email that you run yourself: one call queues an email, one call tells its whole story. All bodies are JSON. Answers may gain fields at any time; ignore those that you do not know.',
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: baseUrl }],
    security: [{ apiKey: [] }, { bearer: [] }],
    tags: [...new Set(OPERATIONS.map(tagOf))].map((name) => ({ name, description: TAGS[name] })),
    paths,
    components: {
      securitySchemes: {
        apiKey: { type: 'apiKey', in: 'header', name: 'X-API-Key' },
        bearer: { type: 'http', scheme: 'bearer', description: 'The same API key.' },
      },
      schemas: components,
    },
  };
}

const TAGS: Record<string, string> = {
  send: 'Queue email.',
  messages: 'What was sent and what became of it.',
  templates: 'The catalogue and the account’s own templates, with their versions.',
  suppressions: 'Addresses that the account must not write to any more.',
  audit: 'Who changed what.',
};

const tagOf = ({ client }: Operation): string => client.split('.')[0]!;

function describeOperation(operation: Operation, components: Record<string, Schema>): object {
  const { method, path, status = 200, ifMatch } = operation.rest;
  const { properties, required, ...input } = schemaOf(operation.input, 'input', components) as {
    properties: Record<string, Schema>;
    required?: string[];
  };
  const inPath = [...path.matchAll(/\{(\w+)\}/g)].map((found) => found[1]!);
  const others = Object.keys(properties).filter(
    (name) => !inPath.includes(name) && name !== ifMatch,
  );
  const byQuery = method === 'GET' || method === 'DELETE';
  const mandatory = others.filter((name) => required?.includes(name));
  return {
    operationId: operation.name,
    tags: [tagOf(operation)],
    summary: operation.title,
    description: `${operation.summary}\n\n${needs(operation)}`,
    parameters: [
      ...inPath.map((name) => parameter(name, 'path', properties[name]!, true)),
      ...(byQuery
        ? others.map((name) =>
            parameter(name, 'query', properties[name]!, mandatory.includes(name)),
          )
        : []),
      ...(operation.effect === 'sends' ? [IDEMPOTENCY_KEY] : []),
      ...(ifMatch === undefined ? [] : [IF_MATCH]),
    ],
    ...(byQuery || others.length === 0
      ? {}
      : {
          requestBody: {
            required: mandatory.length > 0,
            content: {
              'application/json': {
                schema: {
                  ...input,
                  properties: Object.fromEntries(others.map((name) => [name, properties[name]])),
                  ...(mandatory.length > 0 ? { required: mandatory } : {}),
                },
              },
            },
          },
        }),
    responses: {
      [status]: {
        description: status === 202 ? 'Queued.' : 'Done.',
        ...(operation.effect === 'sends' ? { headers: LIMIT_HEADERS } : {}),
        content: {
          'application/json': { schema: schemaOf(operation.output, 'output', components) },
        },
      },
      ...Object.fromEntries(errorsOf(operation).map((code) => [String(code), describeError(code)])),
    },
  };
}

const needs = ({ scope }: Operation): string =>
  scope === null ? 'Any key of a paying account will do.' : `Needs the scope \`${scope}\`.`;

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
    'For 24 hours, the same key with the same body answers as the first call did; nothing is sent twice.',
  schema: { type: 'string', minLength: 1, maxLength: 255 },
};

const IF_MATCH = {
  name: 'If-Match',
  in: 'header',
  required: false,
  description:
    'The ETag of the version that the change is based on. When somebody else changed it meanwhile, the call answers 412 and nothing is done.',
  schema: { type: 'string' },
};

const header = (description: string) => ({ description, schema: { type: 'integer' } });
const LIMIT_HEADERS = {
  'ratelimit-limit': header('Recipients a day.'),
  'ratelimit-remaining': header('How many of them are left today.'),
  'ratelimit-reset': header('Seconds until they are whole again.'),
};

const ERRORS: Record<number, string> = {
  400: 'The request is not valid; `detail` says what to change.',
  401: 'The API key is missing or unknown.',
  402: 'The key belongs to a non-paying account.',
  403: 'The key lacks the scope, a rule of the key forbids it, or from_email is no verified identity of the account.',
  404: 'Not found among what this account can see.',
  409: 'It does not go with what is there; `detail` says why.',
  412: 'Somebody else changed it meanwhile; `detail` says what.',
  429: 'A quota or rate is used up. Wait for `retry-after` seconds.',
  500: 'A fault of the service. It was logged.',
  502: 'The SMTP relay cannot be reached. Try again after `retry-after` seconds.',
  503: 'The service cannot do it right now. Try again after `retry-after` seconds.',
};
const WITH_WAIT = [429, 502, 503];

/** What can go wrong follows from what the operation does. */
function errorsOf({ effect, rest, input }: Operation): number[] {
  const sends = effect === 'sends';
  return [
    ...(Object.keys(input.shape).length > 0 ? [400] : []),
    ...[401, 402, 403],
    ...(rest.path.includes('{') || sends ? [404] : []),
    ...(effect === 'changes' || effect === 'talks' ? [409] : []),
    ...(rest.ifMatch === undefined ? [] : [412]),
    ...(sends ? [429, 502] : []),
    ...[500, 503],
  ];
}

function describeError(status: number): object {
  return {
    description: ERRORS[status],
    ...(WITH_WAIT.includes(status)
      ? {
          headers: {
            'retry-after': {
              description: 'Seconds to wait before the next try.',
              schema: { type: 'integer', minimum: 1 },
            },
          },
        }
      : {}),
    content: { 'application/json': { schema: { $ref: '#/components/schemas/Problem' } } },
  };
}

const PROBLEM: Schema = {
  type: 'object',
  required: ['detail', 'code'],
  properties: {
    detail: { type: 'string', description: 'What is wrong and what to do about it.' },
    code: { type: 'string', description: 'The kind of problem, for programs.' },
    faults: {
      type: 'array',
      description: 'What is wrong where, when something in the request is.',
      items: {
        type: 'object',
        required: ['path', 'message'],
        properties: {
          path: { type: 'string', description: 'Which field, such as `to[2]`.' },
          message: { type: 'string' },
          line: { type: 'integer', description: 'In the text of a template.' },
          column: { type: 'integer' },
        },
      },
    },
  },
};

/** Named schemas (`meta({ id })`) become components; a generator then has a name for each. */
function schemaOf(
  schema: z.ZodType,
  io: 'input' | 'output',
  components: Record<string, Schema>,
): Schema {
  const {
    $schema: _dialect,
    $defs,
    ...made
  } = z.toJSONSchema(schema, {
    io,
    target: 'draft-2020-12',
    override: ({ jsonSchema }) => {
      // Answers may gain fields.
      if (io === 'output' && jsonSchema.additionalProperties === false) {
        delete jsonSchema.additionalProperties;
      }
    },
  }) as Schema & { $defs?: Record<string, Schema> };
  for (const [name, definition] of Object.entries($defs ?? {})) {
    components[name] = pointToComponents(definition) as Schema;
  }
  const { id, ...rest } = pointToComponents(made) as Schema & { id?: string };
  if (id === undefined) return rest;
  components[id] = rest;
  return { $ref: `#/components/schemas/${id}` };
}

function pointToComponents(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value).replaceAll('"#/$defs/', '"#/components/schemas/'));
}
