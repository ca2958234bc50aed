// What the editor holds of a template: everything that a new version is made of.
import type { TemplateVersion } from '../../../../src/client/operations.ts';

type Source = Pick<
  TemplateVersion,
  'subject' | 'preheader' | 'html' | 'text' | 'variables' | 'sample' | 'messages'
>;
export type Draft = Source & Pick<TemplateVersion, 'name' | 'category' | 'description' | 'stream'>;

/** What an email is made from. */
export const sourceOf = ({
  subject,
  preheader,
  html,
  text,
  variables,
  sample,
  messages,
}: Source): Source => ({ subject, preheader, html, text, variables, sample, messages });

export const draftOf = (template: TemplateVersion): Draft => {
  const { name, category, description, stream } = template;
  return { name, category, description, stream, ...sourceOf(template) };
};

export const isSameDraft = (one: Draft, other: Draft): boolean =>
  JSON.stringify(one) === JSON.stringify(other);
