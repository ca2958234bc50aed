// Missing variables are found by path, and only by what the sender really gave.
import { describe, expect, it } from 'vitest';
import { missingVariables, variableSchema, variableValues } from '../../src/templates/variables.ts';

const schema = [
  { name: 'name', required: true },
  { name: 'event.name', required: true },
  { name: 'event.venue.city', required: true },
  { name: 'note', required: false },
];

describe('missingVariables', () => {
  it('names every missing path in the order of the schema', () => {
    expect(missingVariables(schema, {})).toEqual(['name', 'event.name', 'event.venue.city']);
    expect(missingVariables(schema, { name: 'A', event: { venue: {} } })).toEqual([
      'event.name',
      'event.venue.city',
    ]);
  });

  it('is content with values of any kind but null and empty text', () => {
    const event = { name: 0, venue: { city: false } };
    expect(missingVariables(schema, { name: [], event })).toEqual([]);
    expect(missingVariables(schema, { name: '', event })).toEqual(['name']);
    expect(missingVariables(schema, { name: null, event })).toEqual(['name']);
  });

  it('does not take what every object inherits for a value', () => {
    const inherited = [{ name: 'constructor', required: true }];
    expect(missingVariables(inherited, {})).toEqual(['constructor']);
    expect(missingVariables([{ name: 'a.length', required: true }], { a: 'text' })).toEqual([
      'a.length',
    ]);
  });
});

describe('variableSchema', () => {
  it('takes names and paths and fills in what is left out', () => {
    expect(variableSchema.parse({ name: 'event.name', required: true })).toEqual({
      name: 'event.name',
      required: true,
      type: 'any',
      description: '',
    });
  });

  it.each(['', '1st', 'a b', 'a..b', '.a', 'a.', 'a[0]', 'a-b'])('refuses the name %j', (name) => {
    expect(variableSchema.safeParse({ name, required: true }).success).toBe(false);
  });
});

describe('values', () => {
  const nested = (depth: number, open: string, close: string): unknown =>
    JSON.parse(`${open.repeat(depth)}1${close.repeat(depth)}`);

  it('are at most 100 objects and lists inside one another, whatever door they come by', () => {
    const fits = (value: unknown) => variableValues().safeParse(value).success;
    expect(fits({})).toBe(true);
    expect(fits(nested(100, '{"a":', '}'))).toBe(true);
    expect(fits({ a: nested(99, '[', ']') })).toBe(true);
    expect(fits(nested(101, '{"a":', '}'))).toBe(false);
    // Further than anything recursive could follow.
    expect(fits(nested(7_000, '{"a":', '}'))).toBe(false);
    expect(fits({ a: nested(7_000, '[', ']') })).toBe(false);
  });
});
