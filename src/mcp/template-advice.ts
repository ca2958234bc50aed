// Advice after a refusal that has to do with a template: the slugs that may have been meant, the variables that are missing.
import type { Caller } from '../accounts/directory.ts';
import type { Problem } from '../errors.ts';
import { similarSlugs } from '../nearest.ts';
import type { TemplateCatalog } from '../operations/list-templates.ts';

export async function adviseOnTemplate(
  templates: TemplateCatalog,
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

async function adviseOnSlug(templates: TemplateCatalog, caller: Caller, slug: string) {
  const known = (await templates.list(caller.accountId)).map((template) => template.slug);
  const suggestions = similarSlugs(slug, known);
  return {
    next:
      suggestions.length > 0
        ? 'Nothing was done. Use one of did_you_mean, or call list_templates.'
        : 'Nothing was done. Call list_templates for the templates there are.',
    did_you_mean: suggestions,
  };
}

async function adviseOnVariables(
  templates: TemplateCatalog,
  caller: Caller,
  slug: string,
  given: unknown,
) {
  const template = await templates.get(caller.accountId, slug);
  const filled = new Set(typeof given === 'object' && given !== null ? Object.keys(given) : []);
  const missing = template?.variables.filter(({ name, required }) => required && !filled.has(name));
  if (missing === undefined || missing.length === 0) return {};
  return {
    next: 'Nothing was sent. Add missing_variables to variables and call again.',
    missing_variables: missing.map(({ name, type, description, example }) => ({
      name,
      type,
      description,
      example,
    })),
  };
}
