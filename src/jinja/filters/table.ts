// All builtin filters by name.
import type { MethodTable } from '../methods/signature.ts';
import { table } from '../methods/signature.ts';
import { htmlFilters } from './html.ts';
import { numberFilters } from './numbers.ts';
import { sequenceFilters } from './sequences.ts';
import { textFilters } from './text.ts';

export const filters: MethodTable = table({
  ...textFilters,
  ...sequenceFilters,
  ...numberFilters,
  ...htmlFilters,
});

/** Filters that read the render's context: never evaluated while compiling. */
export const contextFilters: ReadonlySet<string> = new Set([
  'map',
  'random',
  'reject',
  'rejectattr',
  'select',
  'selectattr',
]);
