// What the editor offers while someone types: the template's own variables with their descriptions,
// the macros of macros.html with theirs (read from the file itself), filters after a bar, and the
// fields of branding. Tags and loops are CodeMirror's own.
import type { Completion, CompletionContext, CompletionResult } from '@codemirror/autocomplete';
import macrosSource from '../../../../catalog/macros.html?raw';
import type { Draft } from './draft.ts';
import { FILTERS } from './filters.ts';

type Variables = Draft['variables'];

const MACRO = /(?:\{#-\s*((?:(?!-#\}).)*?)\s*-#\}\s*)?\{%-\s*macro (\w+)\(([^)]*)\)/gs;

export const macros: readonly Completion[] = [...macrosSource.matchAll(MACRO)].map(
  ([, words, name, args]) => ({
    label: name!,
    type: 'function',
    detail: `(${args})`,
    ...(words && { info: words.replaceAll(/\s+/g, ' ') }),
  }),
);

const filters: readonly Completion[] = Object.entries(FILTERS).map(([label, info]) => ({
  ...{ label, info, type: 'function' },
}));

const ALWAYS: readonly Completion[] = [
  { label: 'branding', type: 'variable', info: 'Names, colours and links of the account' },
  { label: 'ui', type: 'namespace', info: 'The macros, once macros.html is imported as ui' },
];

/** A name may be a path, such as `event.name`: its first part is at the top. */
const variablesOf = (variables: Variables): readonly Completion[] => [
  ...partsUnder(variables, []),
  ...ALWAYS,
];

/** After `ui.` the macros, after a variable the fields that it is known to have. */
export const propertiesOf = (
  variables: Variables,
  path: readonly string[],
): readonly Completion[] =>
  path.length === 1 && path[0] === 'ui' ? macros : partsUnder(variables, path);

function partsUnder(variables: Variables, path: readonly string[]): Completion[] {
  const found = new Map<string, Completion>();
  for (const { name, type, required, description } of variables) {
    const parts = name.split('.');
    const label = parts[path.length];
    if (label === undefined || path.some((part, at) => parts[at] !== part)) continue;
    const whole = parts.length === path.length + 1;
    if (found.has(label) && !whole) continue;
    found.set(label, {
      label,
      type: path.length === 0 ? 'variable' : 'property',
      ...(whole && { detail: required ? `${type}, required` : type }),
      ...(whole && description && { info: description }),
    });
  }
  return [...found.values()];
}

/** After a bar inside {{ }} or {% %}. */
export function completeFilter(context: CompletionContext): CompletionResult | null {
  const before = context.matchBefore(/\{[{%][^{}%]*\|\s*\w*$/);
  if (before === null) return null;
  const word = /\w*$/.exec(before.text)![0];
  return { from: context.pos - word.length, options: [...filters], validFor: /^\w*$/ };
}

/**
 * Where an expression may begin with a name: not the name of a tag, filter or field, and not in
 * text.
 */
export const completeVariable =
  (variables: () => Variables) =>
  (context: CompletionContext): CompletionResult | null => {
    const inside = context.matchBefore(/\{[{%][^{}%]*$/)?.text;
    if (inside === undefined || /\{%-?\s*\w*$|[|.'"]\s*\w*$/.test(inside)) return null;
    const word = /\w*$/.exec(inside)![0];
    if (word === '' && !context.explicit) return null;
    return {
      from: context.pos - word.length,
      options: [...variablesOf(variables())],
      validFor: /^\w*$/,
    };
  };
