// sandmartin template clone, put, publish, rollback, archive: changing what an account has of its own.
import type { Command } from 'commander';
import { getAccount } from '../accounts/accounts.ts';
import type { Database } from '../store/pool.ts';
import {
  archiveTemplate,
  cloneTemplate,
  publishTemplate,
  putTemplate,
  rollBackTemplate,
} from '../templates/account-templates.ts';
import { type Catalog, catalogFolder, loadCatalog } from '../templates/catalog.ts';
import { categories } from '../templates/categories.ts';
import type { AccountTemplate } from '../templates/stored-templates.ts';
import {
  ofAccount,
  print,
  readJsonFile,
  readTextFile,
  wholeNumber,
  withDatabase,
} from './command.ts';

export interface Options {
  json?: boolean;
  account?: number;
  version?: number;
}

export type OwnOptions = Options & { account: number };

export const versionNumber = wholeNumber('--version', 1);

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

export function registerEditing(template: Command): void {
  registerDrafts(template);
  registerUse(template);
}

function registerDrafts(template: Command): void {
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
            : `Version ${saved.version} of "${slug}" is saved as a draft. Put it to use: npx sandmartin template publish ${slug} --account ${options.account}`,
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

export function stateOf(it: AccountTemplate): string {
  if (it.archived) return 'archived';
  if (it.publishedVersion === null) return `draft, version ${it.newestVersion}`;
  const draft = it.newestVersion > it.publishedVersion ? `, newest ${it.newestVersion}` : '';
  return `in use, version ${it.publishedVersion}${draft}`;
}

/** The catalogue, and the database when an account is concerned. */
export async function withCatalog(
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
