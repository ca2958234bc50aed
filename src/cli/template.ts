// sandmartin template list, show, versions, render: the catalogue, and what an account has of its own.
import type { Command } from 'commander';
import { Problem } from '../errors.ts';
import type { Database } from '../store/pool.ts';
import { unknownTemplate } from '../templates/account-templates.ts';
import type { Catalog } from '../templates/catalog.ts';
import { type Category, categories } from '../templates/categories.ts';
import { makeHere } from '../templates/making.ts';
import { createRenderer } from '../templates/rendering.ts';
import { openResolution, openSystemResolution, type Resolve } from '../templates/resolution.ts';
import {
  type AccountTemplate,
  findAccountTemplate,
  listAccountTemplates,
  listTemplateVersions,
  readAccountTemplate,
  readTemplateVersion,
} from '../templates/stored-templates.ts';
import {
  accountNumber,
  ofAccount,
  print,
  readJsonFile,
  table,
  withDatabase,
  withJson,
} from './command.ts';
import {
  type Options,
  type OwnOptions,
  registerEditing,
  stateOf,
  versionNumber,
  withCatalog,
} from './template-edit.ts';

export function registerTemplate(program: Command): void {
  const template = program
    .command('template')
    .description('templates: the catalogue and those of accounts');
  registerReading(template);
  registerRender(template);
  registerEditing(template);
}

// ---- Reading ----------------------------------------------------------------------------------------------------

function registerReading(template: Command): void {
  withJson(template.command('list').description('what can be sent, and drafts of an account'))
    .option('--account <id>', 'with the templates of this account', accountNumber)
    .option('--category <category>', `only ${categories.join(', ')}`, readCategory)
    .action((options: Options & { category?: Category }) =>
      withCatalog(options.account, async (catalog, database) => {
        const all = await listAll(catalog, database, options.account);
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
    .option('--version <n>', 'a version of the account, else the published one', versionNumber)
    .action((slug: string, options: Options) =>
      withCatalog(options.account, async (catalog, database) => {
        const shown = await showOne(catalog, database, slug, options);
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
    (slug: string, options: OwnOptions) =>
      withDatabase(async (database) => {
        const { publishedVersion } = await readAccountTemplate(database, options.account, slug);
        const versions = await listTemplateVersions(database, options.account, slug);
        print(
          options.json,
          versions.map((it) => ({ ...it, published: it.version === publishedVersion })),
          () =>
            table(
              ['VERSION', 'SAVED', 'FROM', 'FIRST PUBLISHED', ''],
              versions.map((it) => [
                String(it.version),
                it.createdAt,
                it.clonedFrom ?? (it.basedOn === null ? 'nothing' : `version ${it.basedOn}`),
                it.publishedAt ?? 'never',
                it.version === publishedVersion ? 'published' : '',
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

async function listAll(
  catalog: Catalog,
  database: Database | undefined,
  accountId: number | undefined,
) {
  const own = database && accountId ? await listAccountTemplates(database, accountId) : [];
  const replaced = new Set(own.filter(isUsed).map((it) => it.slug));
  return [
    ...[...catalog.templates.values()].map(({ slug, name, category, description }) => ({
      ...{ slug, name, category, description },
      source: 'system',
      state: replaced.has(slug) ? 'replaced by the account’s own' : 'in use',
    })),
    ...own.map((it) => ({ ...it, source: 'account', state: stateOf(it) })),
  ];
}

const isUsed = (it: AccountTemplate): boolean => !it.archived && it.publishedVersion !== null;

async function showOne(
  catalog: Catalog,
  database: Database | undefined,
  slug: string,
  { account, version }: Options,
) {
  const own = database && account ? await findAccountTemplate(database, account, slug) : undefined;
  if (own !== undefined) {
    const wanted = version ?? own.publishedVersion ?? own.newestVersion;
    const content = await readTemplateVersion(database!, account!, slug, wanted);
    return { ...own, ...content, source: 'account' };
  }
  const system = catalog.templates.get(slug);
  if (system === undefined) throw unknownTemplate(slug, [...catalog.templates.keys()]);
  const { compiled: _, ...shown } = system;
  return { ...shown, version: null, source: 'system' };
}

// ---- Rendering --------------------------------------------------------------------------------------------------

interface RenderOptions extends Options {
  sample?: boolean;
  variables?: string;
}

function registerRender(template: Command): void {
  withJson(template.command('render <slug>').description('print {subject, html, text} as JSON'))
    .option('--account <id>', 'as this account would send it', accountNumber)
    .option('--version <n>', 'a version of the account, such as a draft', versionNumber)
    .option('--sample', 'with the sample variables of the template')
    .option('--variables <file>', 'with the variables in this JSON file; - is standard input')
    .action((slug: string, options: RenderOptions) => {
      if (options.sample && options.variables !== undefined) {
        throw new Problem('invalid', 'Give either --sample or --variables, not both.');
      }
      if (options.version !== undefined && options.account === undefined) {
        throw new Problem('invalid', '--version: only templates of an account have versions.');
      }
      return withCatalog(options.account, async (catalog, database) => {
        const resolve: Resolve = database
          ? openResolution({ database, catalog, perAccount: (load) => load })
          : openSystemResolution(catalog);
        const account = options.account ?? 0;
        const { template } = await resolve(account, slug, options.version);
        const variables = options.sample ? template.sample : readVariables(options.variables);
        const mail = await createRenderer(resolve, makeHere(catalog))(account, {
          slug,
          version: options.version,
          variables,
        });
        const { subject } = mail;
        const [html, text] = [mail.html.toString(), mail.text.toString()];
        print(options.json, { subject, html, text }, () => [
          JSON.stringify({ subject, html, text }, null, 2),
        ]);
      });
    });
}

function readVariables(file: string | undefined): Record<string, unknown> {
  const variables = file === undefined ? {} : readJsonFile('--variables', file);
  if (typeof variables === 'object' && variables !== null && !Array.isArray(variables)) {
    return variables as Record<string, unknown>;
  }
  throw new Problem('invalid', `--variables: ${file} must hold a JSON object.`);
}
