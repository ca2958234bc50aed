// If-Match: a change applies only to what its caller has read. The editable fields of a thing are
// those that its GET shows and its PATCH or PUT accepts. Its ETag has a mark for each of them, so
// that a refusal can name those that someone else has changed. Templates and the branding have
// their own versions instead (`rest.ifMatch`). Before it: rest/serve-operations.ts reads the
// header. After it: perform.ts checks right before the change, under the thing's lock.
import { createHash } from 'node:crypto';
import type { Caller } from '../accounts/directory.ts';
import { type Fault, Problem } from '../errors.ts';
import { OPERATIONS } from './all.ts';
import type { OperationDeps } from './deps.ts';
import type { Operation, Via } from './operation.ts';

interface Thing {
  read: Operation;
  /** The fields that two people may both want to edit. */
  fields: readonly string[];
}

type Values = Record<string, unknown>;

const EDITS = ['PATCH', 'PUT'];

const isAt =
  (path: string) =>
  ({ rest }: Operation): boolean =>
    rest.path === path;

/** By the path that reads, edits and deletes them. */
const THINGS: ReadonlyMap<string, Thing> = new Map(
  OPERATIONS.filter(({ rest }) => rest.method === 'GET').flatMap((read): [string, Thing][] => {
    const { path } = read.rest;
    const edits = OPERATIONS.filter(isAt(path)).filter(({ rest }) => EDITS.includes(rest.method));
    if (edits.some(({ rest }) => rest.ifMatch !== undefined)) return [];
    const taken = new Set(edits.flatMap(({ input }) => Object.keys(input.shape)));
    // A field that the GET takes too identifies the thing.
    const fields = Object.keys(read.output.shape).filter(
      (name) => taken.has(name) && !(name in read.input.shape),
    );
    return fields.length === 0 ? [] : [[path, { read, fields }]];
  }),
);

/** Whether If-Match is honoured: elsewhere it is refused, since a caller would rely on it. */
export const takesIfMatch = ({ rest }: Operation): boolean =>
  rest.ifMatch !== undefined ||
  (THINGS.has(rest.path) && (EDITS.includes(rest.method) || rest.method === 'DELETE'));

export const noIfMatch = ({ rest: { method, path } }: Pick<Operation, 'rest'>): Problem =>
  new Problem(
    'invalid',
    `${method} ${path} does not take If-Match: it edits nothing that has an ETag. Send the call without it.`,
    { at: 'If-Match' },
  );

/** Whether its answer has an ETag. */
export const givesETag = ({ rest, output }: Operation): boolean =>
  rest.ifMatch === undefined && rest.method !== 'GET'
    ? EDITS.includes(rest.method) && hasAll(THINGS.get(rest.path), output.shape)
    : THINGS.has(rest.path) || 'version' in output.shape;

const hasAll = (thing: Thing | undefined, shape: object): boolean =>
  thing?.fields.every((name) => name in shape) ?? false;

/** In quotes, as in the header; undefined: there is none. */
export function etagOf(operation: Operation, answer: Values): string | undefined {
  if (!givesETag(operation)) return undefined;
  const thing = THINGS.get(operation.rest.path);
  if (thing !== undefined) return `"${marksOf(thing, answer)}"`;
  return typeof answer.version === 'number' ? `"${answer.version}"` : undefined;
}

/** 36 bits per field: two values have the same mark once in 69 billion times. */
const MARK_LENGTH = 6;

const marksOf = ({ fields }: Thing, values: Values): string =>
  fields.map((name) => markOf(values[name])).join('');

const markOf = (value: unknown): string =>
  createHash('sha256')
    .update(JSON.stringify(value ?? null))
    .digest('base64url')
    .slice(0, MARK_LENGTH);

/** What perform.ts checks before a change; undefined: If-Match does not apply. */
export function precondition(
  { rest }: Operation,
  ifMatch: string | undefined,
  caller: Caller,
  input: Values,
): Via['precondition'] {
  const thing = THINGS.get(rest.path);
  if (ifMatch === undefined || thing === undefined) return undefined;
  return async (deps, via) => {
    const now = await readThing(thing, deps, caller, input, via).catch((error: unknown) => {
      throw rest.method === 'PUT' && isNotFound(error) ? isGone(error) : error;
    });
    if (ifMatch.trim() === '*') return;
    const known = ifMatch.split(',').map(tagIn);
    const marks = marksOf(thing, now);
    if (!known.includes(marks)) throw changedMeanwhile(thing, known[0]!, now);
  };
}

async function readThing(
  { read }: Thing,
  deps: OperationDeps,
  caller: Caller,
  input: Values,
  via: Via,
): Promise<Values> {
  const named = Object.keys(read.input.shape).filter((name) =>
    read.rest.path.includes(`{${name}}`),
  );
  const wanted = read.input.parse(Object.fromEntries(named.map((name) => [name, input[name]])));
  return await read.run(deps, caller, wanted, via);
}

const isNotFound = (error: unknown): error is Problem =>
  error instanceof Problem && error.code === 'not-found';

/** A PUT would create it again. */
const isGone = ({ detail }: Problem): Problem =>
  new Problem('stale', `${detail} To create it, send the call without If-Match.`, {
    at: 'If-Match',
  });

/** `W/"…"`, `"…"` or the bare marks. */
function tagIn(text: string): string {
  const marks = /^(?:W\/)?"?([\w-]+)"?$/.exec(text.trim())?.[1];
  if (marks !== undefined) return marks;
  throw new Problem('stale', 'If-Match: pass the ETag that you got with what you read.', {
    at: 'If-Match',
  });
}

function changedMeanwhile({ fields }: Thing, known: string, now: Values): Problem {
  const changed = fields.filter((name, n) => {
    const mark = known.slice(n * MARK_LENGTH, (n + 1) * MARK_LENGTH);
    return mark !== markOf(now[name]);
  });
  return new Problem(
    'stale',
    `Someone changed this after you read it: ${changed.join(', ')}. Read it, apply your change to it and try again.`,
    { faults: changed.map((path) => nowIs(path, now[path])) },
  );
}

const LONGEST_VALUE_SHOWN = 300;

const nowIs = (path: string, value: unknown): Fault => ({
  path,
  message: `${path} is now ${JSON.stringify(value ?? null).slice(0, LONGEST_VALUE_SHOWN)}`,
});
