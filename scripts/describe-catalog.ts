// docs/template-catalogue.md from the catalogue: every system template with what it is for and what
// it needs.
import type { Catalog, SystemTemplate } from '../src/templates/catalog.ts';
import { categories } from '../src/templates/categories.ts';

export function describeCatalog({ templates }: Pick<Catalog, 'templates'>): string {
  const all = [...templates.values()];
  return `# The template catalogue

<!-- Generated from catalog/. Do not edit. -->

${all.length} templates in ${categories.length} categories. How to send them, brand them and write your own: [templates.md](templates.md).
To see them: \`npm run gallery\`.

${categories
  .map((category) =>
    section(
      category,
      all.filter((template) => template.category === category),
    ),
  )
  .join('\n')}`;
}

function section(category: string, templates: SystemTemplate[]): string {
  const rows = templates.map((template) => {
    const named = (required: boolean) =>
      template.variables
        .filter((variable) => variable.required === required)
        .map(
          (variable) =>
            `\`${variable.name}\`${variable.type === 'string' ? '' : ` (${variable.type})`}`,
        )
        .join(', ');
    return `| \`${template.slug}\` | ${template.description} | ${named(true)} | ${named(false)} |`;
  });
  return `## ${category[0]!.toUpperCase()}${category.slice(1)}

| slug | for | required | optional |
| --- | --- | --- | --- |
${rows.join('\n')}
`;
}
