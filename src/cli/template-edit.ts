// sandmartin template clone, put, publish, rollback, archive: changing an account's own templates.
import type { Command } from 'commander';
import type { Operations, OwnTemplate } from '../client/operations.ts';
import { categories } from '../templates/categories.ts';
import { ofAccount, print, readJsonFile, readTextFile, wholeNumber } from './command.ts';
import { withOperations } from './operations.ts';

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
  messages?: string;
  from?: number;
  publish?: boolean;
}

export function registerEditing(template: Command): void {
  registerDrafts(template);
  registerUse(template);
}

function registerDrafts(template: Command): void {
  ofAccount(
    template.command('clone <slug>').description('copy a template so that you can change it'),
  )
    .option('--as <slug>', 'the slug of the copy; the same by default')
    .action((slug: string, { account, json, as }: OwnOptions & { as?: string }) =>
      withOperations(account, async (api) => {
        const made = await api.templates.clone({ slug, as });
        print(json, made, () => [
          `Account ${account} now has "${made.slug}", a copy of ${slug}, in use as version 1.`,
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
    .option('--messages <file>', 'JSON object of texts by language and key, for t()')
    .option('--name <name>', 'its name')
    .option('--category <category>', categories.join(', '))
    .option('--description <text>', 'when to use it')
    .option(
      '--from <n>',
      'the version to start from, by default the newest; what you do not give stays as it is',
      wholeNumber('--from', 1),
    )
    .option('--publish', 'publish it at once')
    .action((slug: string, options: PutOptions) =>
      withOperations(options.account, async (api) => {
        const saved = await api.templates.put({ slug, ...changeOf(options) });
        print(options.json, saved, () => [
          options.publish
            ? `Version ${saved.version} of "${slug}" is saved and in use.`
            : `Version ${saved.version} of "${slug}" is saved as a draft. Publish it: npx sandmartin template publish ${slug} --account ${options.account}`,
          ...saved.findings.map(({ severity, message, hint }) => `${severity}: ${message} ${hint}`),
        ]);
      }),
    );
}

type Change = Omit<Parameters<Operations['templates']['put']>[0], 'slug'>;

/** The operation checks the content of the files. */
function changeOf(options: PutOptions): Change {
  const { name, category, description, subject, preheader, html, text } = options;
  const { schema, sample, messages } = options;
  return {
    ...{ name, category: category as Change['category'], description, subject, preheader },
    html: html && readTextFile('--html', html),
    text: text && readTextFile('--text', text),
    variables: schema ? (readJsonFile('--schema', schema) as Change['variables']) : undefined,
    sample: sample ? (readJsonFile('--sample', sample) as Change['sample']) : undefined,
    messages: messages ? (readJsonFile('--messages', messages) as Change['messages']) : undefined,
    from_version: options.from,
    publish: options.publish,
  };
}

function registerUse(template: Command): void {
  ofAccount(template.command('publish <slug>').description('send this version from now on'))
    .option('--version <n>', 'the version; the newest by default', versionNumber)
    .action((slug: string, options: OwnOptions) =>
      withOperations(options.account, async ({ templates }) => {
        const version = options.version ?? (await newestOf(templates, slug));
        printUse(options, await templates.publish({ slug, version }));
      }),
    );
  ofAccount(
    template.command('rollback <slug>').description('go back to the version used before'),
  ).action((slug: string, options: OwnOptions) =>
    withOperations(options.account, async (api) =>
      printUse(options, await api.templates.rollBack({ slug })),
    ),
  );
  ofAccount(
    template.command('archive <slug>').description('take it out of use; publish brings it back'),
  ).action((slug: string, options: OwnOptions) =>
    withOperations(options.account, async (api) =>
      printUse(options, await api.templates.archive({ slug })),
    ),
  );
}

/** The operation refuses if there is none. */
const newestOf = async ({ listVersions }: Operations['templates'], slug: string): Promise<number> =>
  (await listVersions({ slug })).data[0]!.version;

const printUse = (options: Options, template: OwnTemplate): void =>
  print(options.json, template, () => [`"${template.slug}" is ${stateOf(template)}.`]);

export function stateOf({ state, published_version, newest_version }: OwnTemplate): string {
  if (state === 'archived') return state;
  if (published_version === null) return `draft, version ${newest_version}`;
  const draft = newest_version! > published_version ? `, newest ${newest_version}` : '';
  return `in use, version ${published_version}${draft}`;
}
