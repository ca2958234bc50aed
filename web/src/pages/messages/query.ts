// The one search box for messages: `to:ada@example.net subject:invoice status:bounced after:7d`, in
// any order. Parsed into what the API's search takes; errors are explained in words.

import type { Input } from '../../operations.ts';
import { statuses } from '../../parts/status.tsx';

export type Filter = Omit<NonNullable<Input<'messages.list'>>, 'cursor' | 'limit'>;

export interface Query {
  filter: Filter;
  faults: string[];
}

/** The fields, with their meanings, in the order of the help. */
export const FIELDS = {
  to: 'An address, @ and a domain, or a part of one',
  from: 'The sender: an address, or @ and a domain',
  subject: 'Whole words of the subject',
  template: 'The slug of the template',
  tag: 'A whole tag',
  stream: 'The name of the stream',
  status: `scheduled, ${statuses.join(', ')}`,
  after: 'A day such as 2026-11-15, or how long ago: 2h, 7d',
  before: 'The same',
  id: 'A message id',
} as const;
export type Field = keyof typeof FIELDS;

/** A field with its value, which may be in quotation marks, or a bare word. */
const TERMS = /(?:([a-z]+):)?(?:"([^"]*)"?|(\S+))/gi;

export interface Term {
  field: string | undefined;
  value: string;
}

export const termsOf = (text: string): Term[] =>
  [...text.matchAll(TERMS)].map(([, field, quoted, bare]) => ({
    field: field?.toLowerCase(),
    value: quoted ?? bare ?? '',
  }));

export function readQuery(text: string, nowMs: number): Query {
  const query: Query = { filter: {}, faults: [] };
  for (const { field, value } of termsOf(text))
    readTerm(query, field ?? guess(value), value, nowMs);
  return query;
}

/** A bare word means what it looks like. */
function guess(word: string): Field {
  if (word.startsWith('msg_')) return 'id';
  return word.includes('@') ? 'to' : 'subject';
}

function readTerm({ filter, faults }: Query, field: string, value: string, nowMs: number): void {
  if (value === '') return;
  switch (field) {
    case 'to':
      filter.recipient = value;
      break;
    case 'from':
      filter.from_email = value;
      break;
    case 'subject':
      filter.words = filter.words === undefined ? value : `${filter.words} ${value}`;
      break;
    case 'template':
    case 'tag':
    case 'stream':
    case 'id':
      filter[field] = value;
      break;
    case 'status':
      readStatus({ filter, faults }, value.toLowerCase());
      break;
    case 'after':
    case 'before': {
      const at = readTime(value, nowMs);
      if (at === undefined)
        faults.push(`${field}:${value} is not a time. Write 2026-11-15, 2h or 7d.`);
      else filter[field] = at;
      break;
    }
    default:
      faults.push(`You cannot search by ${field}:. Use one of ${Object.keys(FIELDS).join(', ')}.`);
  }
}

function readStatus({ filter, faults }: Query, value: string): void {
  const status = statuses.find((it) => it === value);
  if (value === 'scheduled') filter.scheduled = true;
  else if (status !== undefined) filter.status = status;
  else faults.push(`There is no status ${value}. Use one of scheduled, ${statuses.join(', ')}.`);
}

const UNITS = { m: 60_000, h: 3_600_000, d: 86_400_000, w: 7 * 86_400_000 };

function readTime(text: string, nowMs: number): string | undefined {
  const ago = /^(\d{1,5})([mhdw])$/.exec(text);
  if (ago) {
    return new Date(nowMs - Number(ago[1]) * UNITS[ago[2] as keyof typeof UNITS]).toISOString();
  }
  if (!/^\d{4}-\d\d-\d\d/.test(text)) return undefined;
  // A day without a time is the day in the reader's time zone.
  const at = new Date(/T/.test(text) ? text : `${text}T00:00`);
  return Number.isNaN(at.getTime()) ? undefined : at.toISOString();
}

/** With the field set to this value, or without it. */
export function withField(text: string, field: Field, value: string): string {
  const kept = termsOf(text).filter((term) => term.field !== field);
  return [...kept, ...(value === '' ? [] : [{ field, value }])].map(writeTerm).join(' ');
}

export const fieldIn = (text: string, field: Field): string =>
  termsOf(text).find((term) => term.field === field)?.value ?? '';

const writeTerm = ({ field, value }: Term): string => {
  const word = /\s/.test(value) ? `"${value}"` : value;
  return field === undefined ? word : `${field}:${word}`;
};

/** For links from other pages. */
export const queryOf = (fields: Partial<Record<Field, string | undefined>>): string =>
  Object.entries(fields)
    .filter((entry): entry is [string, string] => entry[1] !== undefined && entry[1] !== '')
    .map(([field, value]) => writeTerm({ field, value }))
    .join(' ');
