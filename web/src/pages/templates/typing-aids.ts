// What helps while someone types in the source: completion, closing brackets, search. A chunk of
// its own, fetched when the editor first gets the focus (source-editor.tsx).
import {
  autocompletion,
  closeBrackets,
  closeBracketsKeymap,
  completionKeymap,
} from '@codemirror/autocomplete';
import { html } from '@codemirror/lang-html';
import { jinjaCompletionSource, jinjaLanguage } from '@codemirror/lang-jinja';
import { highlightSelectionMatches, searchKeymap } from '@codemirror/search';
import { EditorState, type Extension, Prec } from '@codemirror/state';
import { keymap } from '@codemirror/view';
import { completeFilter, completeVariable, propertiesOf } from './completion.ts';
import type { Draft } from './draft.ts';

export { startCompletion } from '@codemirror/autocomplete';

/**
 * Braces and tags are not closed automatically: typing `{% if x %}` or `<p>a</p>` to the end
 * produced a second `%}` or `</p>`, which Jinja2 takes for text.
 */
const ONLY_THESE = { closeBrackets: { brackets: ['(', '[', "'", '"'] } };

export const typingAids = (variables: () => Draft['variables']): Extension => [
  Prec.highest(EditorState.languageData.of(() => [ONLY_THESE])),
  closeBrackets(),
  autocompletion(),
  html({ autoCloseTags: false }).support,
  [
    completeFilter,
    completeVariable(variables),
    jinjaCompletionSource({ properties: (path) => propertiesOf(variables(), path) }),
  ].map((autocomplete) => jinjaLanguage.data.of({ autocomplete })),
  highlightSelectionMatches(),
  keymap.of([...closeBracketsKeymap, ...searchKeymap, ...completionKeymap]),
];
