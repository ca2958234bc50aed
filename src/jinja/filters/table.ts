// All builtin filters by name.
import type { MethodTable } from '../methods/signature.ts';
import { table } from '../methods/signature.ts';
import type { Native } from '../running.ts';
import { htmlFilters } from './html.ts';
import { numberFilters } from './numbers.ts';
import { selectingFilters } from './selecting.ts';
import { sequenceFilters } from './sequences.ts';
import { sortingFilters } from './sorting.ts';
import { textFilters } from './text.ts';

/**
 * Filters that Jinja2 passes the environment or the escaping mode first; error messages about
 * arguments show it.
 */
const GIVEN_ONE_MORE = new Set(
  'attr first groupby join last max min replace sort sum tojson truncate unique urlize wordwrap xmlattr'.split(
    ' ',
  ),
);
const SYNC = new Set('first groupby join list slice sum unique'.split(' '));
const OTHER_NAMES: Record<string, string> = {
  d: 'do_default',
  e: 'escape',
  escape: 'escape',
  safe: 'do_mark_safe',
  string: 'soft_str',
};
const BUILTINS: Record<string, string> = { abs: 'abs', count: 'len', length: 'len' };

function asInPython(name: string, fn: Native): Native {
  const builtin = BUILTINS[name];
  if (builtin !== undefined) return { ...fn, builtin: { name: builtin } };
  const python = OTHER_NAMES[name] ?? `${SYNC.has(name) ? 'sync_' : ''}do_${name}`;
  return { ...fn, python: { name: python, hidden: GIVEN_ONE_MORE.has(name) ? 2 : 1 } };
}

const all = {
  ...textFilters,
  ...sequenceFilters,
  ...selectingFilters,
  ...sortingFilters,
  ...numberFilters,
  ...htmlFilters,
};

export const filters: MethodTable = table(
  Object.fromEntries(Object.entries(all).map(([name, fn]) => [name, asInPython(name, fn)])),
);

/** Filters that read the render's context: never evaluated while compiling. */
export const contextFilters: ReadonlySet<string> = new Set(
  'map random reject rejectattr select selectattr'.split(' '),
);
