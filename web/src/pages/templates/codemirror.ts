// CodeMirror as this app uses it: colours that follow the scheme, the CSP's nonce, Jinja2 over
// HTML. Loaded on demand.
import { jinjaLanguage } from '@codemirror/lang-jinja';
import { HighlightStyle, syntaxHighlighting } from '@codemirror/language';
import type { Extension } from '@codemirror/state';
import { EditorView } from '@codemirror/view';
import { tags } from '@lezer/highlight';
import { styleNonce } from '../../nonce.ts';

const look = EditorView.theme({
  '&': { fontSize: '12.5px', height: '100%', backgroundColor: 'var(--surface)' },
  '&.cm-focused': { outline: 'none' },
  '.cm-scroller': { fontFamily: 'var(--mantine-font-family-monospace)', lineHeight: '1.65' },
  '.cm-content': { caretColor: 'var(--mantine-color-text)', padding: '12px 0' },
  '.cm-cursor': { borderLeftColor: 'var(--mantine-color-text)' },
  '.cm-gutters': {
    backgroundColor: 'var(--ground)',
    color: 'var(--mantine-color-dimmed)',
    borderRight: '1px solid var(--edge)',
  },
  '.cm-activeLine': { backgroundColor: 'color-mix(in srgb, var(--tone-good) 6%, transparent)' },
  '.cm-activeLineGutter': { backgroundColor: 'var(--hover)' },
  '&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground':
    { backgroundColor: 'color-mix(in srgb, var(--tone-good) 24%, transparent)' },
  '.cm-tooltip': {
    backgroundColor: 'var(--surface)',
    border: '1px solid var(--edge)',
    borderRadius: '8px',
    overflow: 'hidden',
  },
  // CodeMirror's own markers are white, and use a character that few fonts have.
  '.cm-collapsedLines': { background: 'var(--hover)', color: 'var(--mantine-color-dimmed)' },
  '.cm-collapsedLines:before, .cm-collapsedLines:after': { content: '"…"' },
  '.cm-panels': { backgroundColor: 'var(--ground)', color: 'inherit' },
});

const colours = HighlightStyle.define([
  { tag: [tags.tagName, tags.angleBracket], color: 'var(--code-tag)' },
  { tag: tags.attributeName, color: 'var(--code-name)' },
  { tag: [tags.attributeValue, tags.string], color: 'var(--code-string)' },
  { tag: [tags.keyword, tags.operatorKeyword, tags.controlKeyword], color: 'var(--code-keyword)' },
  { tag: [tags.variableName, tags.propertyName], color: 'var(--code-variable)' },
  { tag: [tags.number, tags.bool], color: 'var(--code-keyword)' },
  { tag: tags.comment, color: 'var(--mantine-color-dimmed)', fontStyle: 'italic' },
  { tag: [tags.brace, tags.bracket], color: 'var(--code-keyword)' },
]);

/** Jinja2 over HTML. */
export const language: Extension = jinjaLanguage;

export const appearance: Extension = [
  look,
  syntaxHighlighting(colours),
  EditorView.cspNonce.of(styleNonce),
  EditorView.lineWrapping,
];
