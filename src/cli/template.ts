// sandmartin template: the catalogue, and an account's own templates: clone, put, publish, roll back, render.
import type { Command } from 'commander';
import { getAccount } from '../accounts/accounts.ts';
import { Problem } from '../errors.ts';
import type { Database } from '../store/pool.ts';
import {
  archiveTemplate,
  cloneTemplate,
  publishTemplate,
  putTemplate,
  rollBackTemplate,
  unknownTemplate,
} from '../templates/account-templates.ts';
import {
  type Catalog,
  type Category,
  catalogFolder,
  categories,
  loadCatalog,
} from '../templates/catalog.ts';
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
  print,
  readJsonFile,
  readTextFile,
  table,
  wholeNumber,
  withDatabase,
  withJson,
} from './command.ts';

interface Options {
  json?: boolean;
  account?: number;
  version?: number;
}

type OwnOptions = Options & { account: number };

const versionNumber = wholeNumber('--version', 1);

export function registerTemplate(program: Command): void {
  const template = program
    .command('template')
    .description('templates: the catalogue and those of accounts');
  registerReading(template);
  registerRender(template);
  registerEditing(template);
  registerUse(template);
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

function stateOf(it: AccountTemplate): string {
  if (it.archived) return 'archived';
  if (it.publishedVersion === null) return `draft, version ${it.newestVersion}`;
  const draft = it.newestVersion > it.publishedVersion ? `, newest ${it.newestVersion}` : '';
  return `in use, version ${it.publishedVersion}${draft}`;
}

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
        const mail = await createRenderer(resolve)(account, {
          slug,
          version: options.version,
          variables,
        });
        const { subject, html, text } = mail;
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

// ---- Editing ----------------------------------------------------------------------------------------------------

interface PutOptions extends OwnOptions {
  name?: string;
  category?: string;
  description?: string;
  subject?: string;
  preheader?: string;
  html?: string;
  text?: string;
  schema?: string;
  sample?: string;
  from?: number;
  publish?: boolean;
}

function registerEditing(template: Command): void {
  ofAccount(template.command('clone <slug>').description('make a system template one’s own'))
    .option('--as <slug>', 'under another slug')
    .action((slug: string, options: OwnOptions & { as?: string }) =>
      withCatalog(options.account, async (catalog, database) => {
        const deps = { catalog, database: database! };
        const made = await cloneTemplate(deps, options.account, slug, options.as);
        print(options.json, made, () => [
          `Account ${made.accountId} has "${made.slug}" now, a copy of the system template ${slug}, in use as version 1.`,
        ]);
      }),
    );

  ofAccount(template.command('put <slug>').description('save a new version, as a draft'))
    .option('--html <file>', 'the HTML, in Jinja2; - is standard input')
    .option('--text <file>', 'the plain text, in Jinja2; an empty file: derived from the HTML')
    .option('--subject <jinja>', 'the subject')
    .option('--preheader <jinja>', 'the line that inboxes show beside the subject')
    .option('--schema <file>', 'JSON list of {name, required, type, description, example}')
    .option('--sample <file>', 'JSON object of variables to show it with')
    .option('--name <name>', 'what people call it')
    .option('--category <category>', categories.join(', '))
    .option('--description <text>', 'when to use it')
    .option(
      '--from <n>',
      'the version to change, else the newest; what is not given stays as there',
      wholeNumber('--from', 1),
    )
    .option('--publish', 'put it to use at once')
    .action((slug: string, options: PutOptions) =>
      withCatalog(options.account, async (catalog, database) => {
        const deps = { catalog, database: database! };
        const saved = await putTemplate(
          deps,
          options.account,
          slug,
          changeOf(options),
          options.from,
        );
        const put = options.publish
          ? await publishTemplate(deps.database, options.account, slug, saved.version)
          : saved.template;
        print(options.json, { ...put, version: saved.version }, () => [
          options.publish
            ? `Version ${saved.version} of "${slug}" is saved and in use.`
            : `Version ${saved.version} of "${slug}" is saved as a draft. Put it to use: sandmartin template publish ${slug} --account ${options.account}`,
        ]);
      }),
    );
}

function changeOf(options: PutOptions): Parameters<typeof putTemplate>[3] {
  const { name, category, description, subject, preheader, html, text, schema, sample } = options;
  return {
    ...{ name, category, description, subject, preheader },
    html: html && readTextFile('--html', html),
    text: text && readTextFile('--text', text),
    variables: schema && readJsonFile('--schema', schema),
    sample: sample && readJsonFile('--sample', sample),
  };
}

function registerUse(template: Command): void {
  ofAccount(template.command('publish <slug>').description('from now on, send this version'))
    .option('--version <n>', 'which, else the newest', versionNumber)
    .action((slug: string, options: OwnOptions) =>
      withDatabase(async (database) => {
        const { account, version } = options;
        printUse(options, await publishTemplate(database, account, slug, version));
      }),
    );
  ofAccount(
    template.command('rollback <slug>').description('back to the version used before'),
  ).action((slug: string, options: OwnOptions) =>
    withDatabase(async (database) =>
      printUse(options, await rollBackTemplate(database, options.account, slug)),
    ),
  );
  ofAccount(
    template.command('archive <slug>').description('take it out of use; publish brings it back'),
  ).action((slug: string, options: OwnOptions) =>
    withDatabase(async (database) =>
      printUse(options, await archiveTemplate(database, options.account, slug)),
    ),
  );
}

const printUse = (options: Options, template: AccountTemplate): void =>
  print(options.json, template, () => [`"${template.slug}" is ${stateOf(template)}.`]);

// ---- What they share --------------------------------------------------------------------------------------------

const ofAccount = (command: Command): Command =>
  withJson(command).requiredOption('--account <id>', 'the account', accountNumber);

/** The catalogue, and the database when an account is concerned. */
async function withCatalog(
  account: number | undefined,
  work: (catalog: Catalog, database: Database | undefined) => Promise<void>,
): Promise<void> {
  const catalog = loadCatalog(catalogFolder);
  if (account === undefined) await work(catalog, undefined);
  else {
    await withDatabase(async (database) => {
      await getAccount(database, account);
      await work(catalog, database);
    });
  }
}
