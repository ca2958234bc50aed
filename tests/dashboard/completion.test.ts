// What the editor offers: every filter of the engine, with its words.
import { expect, it } from 'vitest';
import { filters } from '../../src/jinja/filters/table.ts';
import { FILTERS } from '../../web/src/pages/templates/filters.ts';

it('knows every filter of the engine, and no other', () => {
  const known = Object.keys(filters instanceof Map ? Object.fromEntries(filters) : filters);
  expect(Object.keys(FILTERS).sort()).toEqual(known.sort());
});
