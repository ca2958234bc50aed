// The same templates with other delimiters. Used by generator.ts.

/** What stands for {% %} {{ }} {# #}, in that order. */
export const SYNTAXES: readonly (readonly string[])[] = [
  ['<%', '%>', '${', '}', '<#', '#>'],
  ['<%', '%>', '<%=', '%>', '<%#', '%>'],
  ['<!--', '-->', '<$', '$>', '<!--#', '#-->'],
  ['{%', '%}', '[[', ']]', '{#', '#}'],
  ['((*', '*))', '(((', ')))', '((=', '=))'],
  ['@', '@', '{{', '}}', '{#', '#}'],
];
const STANDARD = ['{%', '%}', '{{', '}}', '{#', '#}'];
const OPTIONS = [
  'block_start',
  'block_end',
  'variable_start',
  'variable_end',
  'comment_start',
  'comment_end',
];

export function otherSyntax(
  templates: Record<string, string>,
  options: Record<string, unknown>,
  syntax: readonly string[],
): void {
  for (const [name, source] of Object.entries(templates))
    templates[name] = source.replace(
      /\{%|%\}|\{\{|\}\}|\{#|#\}/g,
      (mark) => syntax[STANDARD.indexOf(mark)]!,
    );
  for (const [i, option] of OPTIONS.entries()) options[`${option}_string`] = syntax[i];
}
