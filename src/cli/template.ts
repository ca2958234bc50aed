// sandmartin template list, show, versions, render: the catalogue, and an account's own templates.
import type { Command } from 'commander';
import { Problem } from '../errors.ts';
import { unknownTemplate } from '../templates/account-templates.ts';
import { showCarried } from '../templates/carried-file.ts';
import { type Catalog, catalogFolder, loadCatalog } from '../templates/catalog.ts';
import { type Category, categories } from '../templates/categories.ts';
import { makeHere } from '../templates/making.ts';
import { createRenderer } from '../templates/rendering.ts';
import { openSystemResolution } from '../templates/resolution.ts';
import { sampleIn } from '../templates/samples.ts';
import { accountNumber, ofAccount, print, readJsonFile, table, withJson } from './command.ts';
import { withOperations } from './operations.ts';
import {
  type Options,
  type OwnOptions,
  registerEditing,
  stateOf,
  versionNumber,
} from './template-edit.ts';

export function registerTemplate(program: Command): void {
  const template = program
    .command('template')
    .description('templates: the catalogue and those of accounts');
  registerReading(template);
  registerRender(template);
  registerEditing(template);
}

// ---- Reading ------------------------------------------------------------------------------------

function registerReading(template: Command): void {
  withJson(template.command('list').description('what can be sent, and drafts of an account'))
    .option('--account <id>', 'with the templates of this account', accountNumber)
    .option('--category <category>', `only ${categories.join(', ')}`, readCategory)
    .action((options: Options & { category?: Category }) =>
      listAll(options.account).then((all) => {
        const shown = all.filter((it) => (options.category ?? it.category) === it.category);
        print(options.json, shown, () =>
          table(
            ['SLUG', 'CATEGORY', 'NAME', 'SOURCE', 'STATE'],
            shown.map((it) => [it.slug, it.category, it.name, it.source, it.state]),
          ),
        );
      }),
    );

  withJson(template.command('show <slug>').description('one template with its source'))
    .option('--account <id>', 'as this account has it', accountNumber)
    .option(
      '--version <n>',
      'a version of the account’s own; by default the published one',
      versionNumber,
    )
    .action((slug: string, options: Options) =>
      showOne(slug, options).then((shown) => {
        print(options.json, shown, () => [
          `${shown.slug} (${shown.category}): ${shown.name}, ${shown.version === null ? 'system template' : `version ${shown.version}`}`,
          shown.description,
          '',
          `Subject:   ${shown.subject}`,
          `Preheader: ${shown.preheader}`,
          '',
          ...table(
            ['VARIABLE', 'REQUIRED', 'TYPE', 'DESCRIPTION'],
            shown.variables.map((it) => [
              it.name,
              it.required ? 'yes' : 'no',
              it.type,
              it.description,
            ]),
          ),
          '',
          shown.html,
        ]);
      }),
    );

  ofAccount(template.command('versions <slug>').description('every version that was saved')).action(
    (slug: string, { account, json }: OwnOptions) =>
      withOperations(account, async (api) => {
        const { data } = await api.templates.listVersions({ slug });
        print(json, data, () =>
          table(
            ['VERSION', 'SAVED', 'FROM', 'FIRST PUBLISHED', ''],
            data.map((it) => [
              String(it.version),
              it.created_at,
              it.cloned_from ?? (it.based_on === null ? 'nothing' : `version ${it.based_on}`),
              it.published_at ?? 'never',
              it.published ? 'published' : '',
            ]),
          ),
        );
      }),
  );
}

function readCategory(text: string): Category {
  const category = categories.find((known) => known === text);
  if (category !== undefined) return category;
  throw new Problem(
    'invalid',
    `--category must be one of ${categories.join(', ')}, not "${text}".`,
  );
}

/** The catalogue is on the machine: without an account no database is needed. */
async function listAll(account: number | undefined) {
  const own =
    account === undefined
      ? []
      : (await withOperations(account, async (api) => await api.templates.listOwn())).data;
  const replaced = new Set(own.filter((it) => it.state === 'published').map((it) => it.slug));
  return [
    ...[...catalogue().templates.values()].map(({ slug, name, category, description }) => ({
      ...{ slug, name, category, description },
      source: 'system',
      state: replaced.has(slug) ? 'replaced by the account’s own' : 'in use',
    })),
    ...own.map((it) => ({ ...it, source: 'account', state: stateOf(it) })),
  ];
}

const catalogue = (): Catalog => loadCatalog(catalogFolder);

async function showOne(slug: string, { account, version }: Options) {
  if (account !== undefined) {
    return await withOperations(account, (api) =>
      api.templates.getVersion({ slug, version: version === undefined ? 'current' : `${version}` }),
    );
  }
  const { templates } = catalogue();
  const system = templates.get(slug);
  if (system === undefined) throw unknownTemplate(slug, [...templates.keys()]);
  const { compiled: _, ...shown } = system;
  return { ...shown, version: null };
}

// ---- Rendering ----------------------------------------------------------------------------------

interface RenderOptions extends Options {
  sample?: boolean;
  variables?: string;
  locale?: string;
}

function registerRender(template: Command): void {
  withJson(template.command('render <slug>').description('print {subject, html, text} as JSON'))
    .option('--account <id>', 'as this account would send it', accountNumber)
    .option('--version <n>', 'a version of the account’s own, such as a draft', versionNumber)
    .option('--sample', 'with the sample variables of the template')
    .option('--variables <file>', 'with the variables in this JSON file; - is standard input')
    .option('--locale <tag>', 'in this language, such as de')
    .action((slug: string, options: RenderOptions) => {
      if (options.sample && options.variables !== undefined) {
        throw new Problem('invalid', 'Give either --sample or --variables, not both.');
      }
      if (options.version !== undefined && options.account === undefined) {
        throw new Problem('invalid', '--version: only templates of an account have versions.');
      }
      return render(slug, options).then((email) =>
        print(options.json, email, () => [JSON.stringify(email, null, 2)]),
      );
    });
}

async function render(slug: string, options: RenderOptions) {
  const { account, version, sample, locale } = options;
  const variables = sample ? undefined : readVariables(options.variables);
  if (account !== undefined) {
    return await withOperations(account, (api) =>
      api.templates.render({ slug, version, variables, locale }),
    );
  }
  const catalog = catalogue();
  const resolve = openSystemResolution(catalog);
  const { template } = await resolve(0, slug);
  const email = await createRenderer(resolve, makeHere(catalog))(0, {
    slug,
    variables: variables ?? sampleIn(catalog.phrases, template.sample, [locale]),
    locale,
  });
  const { subject, html, text, files } = email;
  return { subject, html: showCarried(html.toString(), files), text: text.toString() };
}

function readVariables(file: string | undefined): Record<string, unknown> {
  const variables = file === undefined ? {} : readJsonFile('--variables', file);
  if (typeof variables === 'object' && variables !== null && !Array.isArray(variables)) {
    return variables as Record<string, unknown>;
  }
  throw new Problem('invalid', `--variables: ${file} must contain a JSON object.`);
}
