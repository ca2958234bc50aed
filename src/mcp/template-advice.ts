// Advice after a refusal about a template: the slugs that may have been meant, the variables that
// are missing.
import type { Caller } from '../accounts/directory.ts';
import type { Problem } from '../errors.ts';
import { similarSlugs } from '../nearest.ts';
import type { Offering } from '../templates/offering.ts';
import { missingVariables } from '../templates/variables.ts';
import { OURS } from './fence.ts';

export async function adviseOnTemplate(
  templates: Offering,
  caller: Caller,
  wanted: { slug: unknown; variables?: unknown },
  problem: Problem,
): Promise<Record<string, unknown>> {
  if (typeof wanted.slug !== 'string' || wanted.slug === '') return {};
  if (problem.code === 'not-found') return await adviseOnSlug(templates, caller, wanted.slug);
  if (problem.code === 'invalid') {
    return await adviseOnVariables(templates, caller, wanted.slug, wanted.variables);
  }
  return {};
}

async function adviseOnSlug(templates: Offering, caller: Caller, slug: string) {
  const known = await templates.list(caller.accountId);
  const similar = similarSlugs(
    slug,
    known.map((template) => template.slug),
  );
  if (similar.length === 0) {
    return { next: 'Nothing was done. Call list_templates to see the templates.' };
  }
  return {
    next: 'Nothing was done. Use one of did_you_mean, or call list_templates.',
    did_you_mean: similar,
  };
}

async function adviseOnVariables(
  templates: Offering,
  caller: Caller,
  slug: string,
  given: unknown,
) {
  const template = (await templates.list(caller.accountId)).find((it) => it.slug === slug);
  if (template === undefined) return {};
  const variables = typeof given === 'object' && given !== null ? given : {};
  const missing = missingVariables(template.variables, variables as Record<string, unknown>);
  if (missing.length === 0) return {};
  return {
    next: 'Nothing was sent. Add missing_variables to variables and call again.',
    missing_variables: template.variables
      .filter(({ name }) => missing.includes(name))
      .map(({ name, type, description, example }) => ({
        ...{ name, type, description, example },
        ...(template.own ? {} : { [OURS]: true }),
      })),
  };
}
