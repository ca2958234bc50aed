// The tables of docs/api.md and docs/mcp.md, made from the operations and the event kinds: calls,
// parameters, scopes, tools and events. They stand between markers; what is written around them
// stays.
import { readFileSync } from 'node:fs';
import { toJSONSchema } from 'zod';
import { EVENT_KINDS } from '../src/events/kinds.ts';
import { TOOLS } from '../src/mcp/tools.ts';
import { OPERATIONS } from '../src/operations/all.ts';
import type { Operation } from '../src/operations/operation.ts';
import { takesIfMatch } from '../src/operations/preconditions.ts';
import { sendEmail } from '../src/operations/send-email.ts';
import { between, table } from './marked-tables.ts';

/** The document with its tables made again. */
export function withTables(file: string): string {
  return Object.entries(TABLES).reduce(
    (text, [name, make]) => between(text, name, make),
    readFileSync(file, 'utf8'),
  );
}

const TABLES: Record<string, () => string> = { send, calls, scopes, tools, events };

const code = (text: string): string => `\`${text}\``;

/** The fields of a send, as its schema describes them. */
function send(): string {
  const { properties = {}, required = [] } = schemaOf(sendEmail);
  return table(
    ['field', 'type', ''],
    Object.entries(properties).map(([name, field]) => [
      code(name),
      typeOf(field as JsonSchema),
      `${required.includes(name) ? 'Required. ' : ''}${(field as JsonSchema).description ?? ''}`,
    ]),
  );
}

function typeOf({ type, items, properties }: JsonSchema): string {
  if (type === 'array') return `${typeOf(items as JsonSchema)}[]`;
  if (properties === undefined) return String(type);
  return code(`{${Object.keys(properties).join(', ')}}`);
}

type JsonSchema = ReturnType<typeof schemaOf>;

const schemaOf = ({ input }: Pick<Operation, 'input'>) =>
  toJSONSchema(input, { io: 'input', unrepresentable: 'any' });

function calls(): string {
  return table(
    ['call', 'scope', 'parameters', 'what it does'],
    OPERATIONS.map((operation) => [
      code(`${operation.rest.method} ${operation.rest.path}`),
      operation.scope === null ? 'none' : code(operation.scope),
      parametersOf(operation).map(code).join(', '),
      operation.summary,
    ]),
  );
}

/** Beside those in the path; `?` after what may be left out. */
function parametersOf(operation: Operation): string[] {
  const { input, rest } = operation;
  const { properties = {}, required = [] } = schemaOf({ input });
  const names = Object.keys(properties).filter(
    (name) => !rest.path.includes(`{${name}}`) && name !== rest.ifMatch,
  );
  return [...names, ...(takesIfMatch(operation) ? ['If-Match'] : [])].map((name) =>
    required.includes(name) ? name : `${name}?`,
  );
}

function scopes(): string {
  const all = new Set(OPERATIONS.flatMap(({ scope }) => scope ?? []));
  return table(
    ['scope', 'allows you to'],
    [...all].map((wanted) => [
      code(wanted),
      OPERATIONS.filter(({ scope }) => scope === wanted)
        .map(({ title }) => title[0]!.toLowerCase() + title.slice(1))
        .join('; '),
    ]),
  );
}

function tools(): string {
  return table(
    ['tool', 'scope', 'what it does'],
    TOOLS.map(({ operation: { name, scope, summary } }) => [
      code(name),
      scope === null ? 'none' : code(scope),
      summary,
    ]),
  );
}

function events(): string {
  return table(
    ['type', 'webhook', 'fields', 'what happened'],
    Object.entries(EVENT_KINDS).map(([type, { hook, fields, summary }]) => [
      code(type),
      hook === null ? 'none' : code(hook),
      Object.keys(fields).map(code).join(', '),
      summary,
    ]),
  );
}
