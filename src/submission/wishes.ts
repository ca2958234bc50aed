// What an email asks of us in its header: X-SM-Template and the like, which are acted on and
// removed. Before: email.ts has read the fields. After: the schema of POST /v1/send checks them.
import { Problem } from '../errors.ts';
import { readJson } from '../http/json-bytes.ts';
import { type Field, textOf } from '../mime/fields.ts';
import { nearest } from '../nearest.ts';
import { readInput } from '../operations/read-input.ts';
import { type SendRequest, sendRequest } from '../sending/request.ts';

export interface Wishes extends Partial<SendRequest> {
  idempotencyKey?: string | undefined;
}

const FAMILY = 'x-sm-';
const NAMES = [
  'X-SM-Idempotency-Key',
  'X-SM-Tags',
  'X-SM-Template',
  'X-SM-Variables',
  'X-SM-Stream',
  'X-SM-Locale',
];
const schema = sendRequest.partial();

export function readWishes(fields: readonly Field[]): Wishes | Promise<Wishes> {
  const asked = fields.filter(({ key }) => key.startsWith(FAMILY));
  return asked.length === 0 ? {} : readAsked(asked);
}

async function readAsked(asked: readonly Field[]): Promise<Wishes> {
  const said = new Map<string, string>();
  for (const field of asked) {
    requireKnown(field);
    // Tags may be in several headers; everything else occurs once.
    const before = said.get(field.key);
    if (before !== undefined && field.key !== 'x-sm-tags') {
      throw new Problem('invalid', `The email has two ${field.name} headers. Send one.`);
    }
    said.set(field.key, before === undefined ? textOf(field) : `${before},${textOf(field)}`);
  }
  const given = {
    template: said.get('x-sm-template'),
    variables: await variablesIn(said.get('x-sm-variables')),
    tags: said
      .get('x-sm-tags')
      ?.split(',')
      .map((tag) => tag.trim())
      .filter((tag) => tag !== ''),
    stream: said.get('x-sm-stream'),
    locale: said.get('x-sm-locale'),
  };
  const present = Object.entries(given).filter(([, value]) => value !== undefined);
  return {
    ...readInput(schema, Object.fromEntries(present)),
    idempotencyKey: said.get('x-sm-idempotency-key'),
  };
}

function requireKnown({ name, key }: Field): void {
  if (NAMES.some((known) => known.toLowerCase() === key)) return;
  const meant = nearest(name, NAMES);
  throw new Problem(
    'invalid',
    `${name.slice(0, 100)} is not a header that this service knows.${meant === undefined ? ` It knows ${NAMES.join(', ')}.` : ` Did you mean ${meant}?`}`,
  );
}

async function variablesIn(text: string | undefined): Promise<unknown> {
  if (text === undefined) return undefined;
  try {
    return await readJson(Buffer.from(text));
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    throw new Problem('invalid', `X-SM-Variables: write a JSON object. ${error.detail}`);
  }
}
