// OpenAPI 3.1, made from the routes and their operations. Served at /openapi.json; the committed copy is checked fresh.
import { z } from 'zod';
import { ROUTES } from './routes.ts';

const ERROR_CAUSES: Record<number, string> = {
  400: 'The request is not valid; `detail` says what to change.',
  401: 'X-API-Key is missing or unknown.',
  402: 'The key belongs to a non-paying account.',
  403: 'from_email is no verified identity of the account, the key lacks the scope, or a rule of the key forbids it.',
  404: 'Not found among what this account can see.',
  429: 'Daily quota or rate limit exceeded. Wait for `retry-after` seconds.',
  502: 'The upstream SMTP relay cannot be reached. Try again after `retry-after` seconds.',
};

export function describeApi(baseUrl?: string): object {
  const paths: Record<string, Record<string, object>> = {};
  for (const route of ROUTES) {
    paths[route.path] = {
      ...paths[route.path],
      [route.method.toLowerCase()]: describeRoute(route),
    };
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Sandmartin',
      version: '1',
      description:
        'Transactional e-mail: one call queues a mail, one call tells its whole story. All bodies are JSON.',
    },
    ...(baseUrl === undefined ? {} : { servers: [{ url: baseUrl }] }),
    security: [{ apiKey: [] }],
    paths,
    components: {
      securitySchemes: { apiKey: { type: 'apiKey', in: 'header', name: 'X-API-Key' } },
      schemas: {
        Error: {
          type: 'object',
          required: ['detail'],
          properties: {
            detail: { type: 'string', description: 'What is wrong and what to do about it.' },
          },
        },
      },
    },
  };
}

function describeRoute(route: (typeof ROUTES)[number]): object {
  const { operation } = route;
  const input = jsonSchema(operation.input, 'input');
  return {
    operationId: operation.name,
    summary: operation.title,
    description: `${operation.summary}\n\nNeeds the scope \`${operation.scope}\`.`,
    ...(route.method === 'POST'
      ? {
          parameters: [
            {
              name: 'Idempotency-Key',
              in: 'header',
              required: false,
              description:
                'For 24 hours, the same key with the same body answers as the first call did; nothing is sent twice.',
              schema: { type: 'string', minLength: 1, maxLength: 255 },
            },
          ],
          requestBody: { required: true, content: { 'application/json': { schema: input } } },
        }
      : { parameters: pathParameters(input) }),
    responses: {
      [route.successStatus]: {
        description: route.successStatus === 202 ? 'Queued.' : 'Found.',
        content: { 'application/json': { schema: jsonSchema(operation.output, 'output') } },
      },
      ...Object.fromEntries(route.errors.map((status) => [status, describeError(status)])),
    },
  };
}

function describeError(status: number): object {
  return {
    description: ERROR_CAUSES[status],
    ...(status === 429 || status === 502
      ? {
          headers: {
            'retry-after': {
              description: 'Seconds to wait before the next try.',
              schema: { type: 'integer', minimum: 1 },
            },
          },
        }
      : {}),
    content: { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } },
  };
}

function pathParameters(input: { properties?: Record<string, object> }): object[] {
  return Object.entries(input.properties ?? {}).map(([name, schema]) => ({
    name,
    in: 'path',
    required: true,
    schema,
  }));
}

function jsonSchema(
  schema: z.ZodType,
  io: 'input' | 'output',
): { properties?: Record<string, object> } {
  const { $schema: _dialect, ...rest } = z.toJSONSchema(schema, { io, target: 'draft-2020-12' });
  return rest as { properties?: Record<string, object> };
}
