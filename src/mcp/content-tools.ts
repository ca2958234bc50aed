// Content work as agents do it. What a person would see on the page, an agent must be told or
// asked: copies are drafts, a change names the version it starts from, a version is rendered before
// it goes live, replacing a system template takes explicit consent, and variables that disappear
// are named.
import { z } from 'zod';
import { Problem } from '../errors.ts';
import type { OperationDeps } from '../operations/deps.ts';
import { type Operation, operation } from '../operations/operation.ts';
import { suppressionOperations } from '../operations/suppressions.ts';
import { templateOperations } from '../operations/templates.ts';
import { cloneTemplate } from '../templates/account-templates.ts';
import { renderDraft } from '../templates/previews.ts';
import { findAccountTemplate, readTemplateVersion } from '../templates/stored-templates.ts';
import { type Tool, toolOf } from './tool.ts';

const named = (operations: readonly object[], name: string): Operation =>
  (operations as readonly Operation[]).find((it) => it.name === name)!;

const clone = named(templateOperations, 'clone_template');
const update = named(templateOperations, 'update_template');
const publish = named(templateOperations, 'publish_template');
const remove = named(suppressionOperations, 'remove_suppression');

const replaces_system = z
  .boolean()
  .optional()
  .describe('Yes, it replaces the system template of this slug.');

const told = {
  note: z.string().optional().describe('What else that means.'),
  variables_dropped: z.array(z.string()).optional().describe('Variables it no longer takes.'),
};

type Input = Record<string, unknown> & { slug: string; version?: number; publish?: boolean };

const cloneAsAgent = operation({
  ...clone,
  summary: 'Makes a copy for the account to change: a draft until it is published.',
  input: clone.input.extend({ replaces_system }),
  output: clone.output.extend(told),
  async run(deps, { accountId }, input, via) {
    const { slug, as = slug, replaces_system: yes } = input as Input & { as?: string };
    const another = `Name another slug for the copy in \`as\`, such as my-${slug}`;
    await requireWord(deps, accountId, as as string, yes === true, another);
    await cloneTemplate(deps, accountId, slug, as as string, { published: false });
    via.note({ target: as as string, after: { cloned_from: slug } });
    const own = await findAccountTemplate(deps.database, accountId, as as string);
    const { name, category, description, stream } = own!;
    const has_system = deps.catalog.templates.has(as as string);
    return {
      ...{ slug: as, name, category, description, stream, state: 'draft' },
      ...{ published_version: null, newest_version: 1, has_system },
      note: has_system
        ? 'A draft. Once published, it replaces the system template of this slug.'
        : 'A draft: nothing can be sent with it before publish_template.',
    };
  },
});

const updateAsAgent = operation({
  ...update,
  input: update.input.extend({ replaces_system }),
  output: update.output.extend(told),
  async before(deps, caller, input) {
    await update.before?.(deps, caller, input);
    const { slug, base_version, publish: live } = input as Input & { base_version?: number };
    const own = await findAccountTemplate(deps.database, caller.accountId, slug);
    if (own !== undefined && base_version === undefined) {
      throw new Problem(
        'stale',
        `base_version is missing. The newest version of this template is ${own.newestVersion}: read it, and name it as base_version.`,
        { at: 'base_version', see: 'get_template_version' },
      );
    }
    if (live) await requireRendered(deps, caller.accountId, input as Input);
  },
  async run(deps, caller, { replaces_system: yes, ...input }, via) {
    const { slug, publish: live } = input as Input;
    await requireWord(deps, caller.accountId, slug, yes === true, 'Choose another slug');
    const known = live ? await variablesInUse(deps, caller.accountId, slug) : [];
    const saved = await update.run(deps, caller, input, via);
    return { ...saved, ...(await dropped(deps, caller.accountId, slug, known)) };
  },
});

const publishAsAgent = operation({
  ...publish,
  output: publish.output.extend(told),
  before: (deps, { accountId }, { slug, version }) =>
    requireRendered(deps, accountId, { slug, version } as Input),
  async run(deps, caller, input, via) {
    const { slug } = input as Input;
    const known = await variablesInUse(deps, caller.accountId, slug);
    const live = await publish.run(deps, caller, input, via);
    return { ...live, ...(await dropped(deps, caller.accountId, slug, known)) };
  },
});

/** The recipient reported an email as spam: only a person may say that they want email again. */
const removeAsAgent = operation({
  ...remove,
  async run(deps, caller, input, via) {
    const removed = await remove.run(deps, caller, input, via);
    if (removed.reason !== 'complaint') return removed;
    // The transaction rolls back, and with it the removal.
    throw new Problem(
      'forbidden',
      'This recipient complained about an email. Only a person can allow the address again, on the page Suppressions of the dashboard.',
    );
  },
});

/** Once published, it changes the emails of every program that uses the slug, unnoticed. */
async function requireWord(
  { database, catalog }: OperationDeps,
  accountId: number,
  slug: string,
  given: boolean,
  another: string,
): Promise<void> {
  if (given || !catalog.templates.has(slug)) return;
  if ((await findAccountTemplate(database, accountId, slug)) !== undefined) return;
  throw new Problem(
    'conflict',
    `There is a system template with the slug ${slug}: every send that names it would use yours once it is published. ${another}, or set replaces_system to true if you want that.`,
    { at: 'replaces_system' },
  );
}

/**
 * A version that goes live must render with its sample; otherwise a Problem says where it fails.
 */
async function requireRendered(
  deps: OperationDeps,
  accountId: number,
  { slug, version, subject, preheader, html, text, variables, sample, messages }: Input,
): Promise<void> {
  const own = await findAccountTemplate(deps.database, accountId, slug);
  const changed = { subject, preheader, html, text, variables, sample, messages };
  const draft = Object.fromEntries(
    Object.entries(changed).filter(([, value]) => value !== undefined),
  );
  await renderDraft(deps, accountId, { slug, version: version ?? own?.newestVersion, draft });
}

/** The variables of the version that is sent under the slug now. */
async function variablesInUse(
  { database, catalog }: OperationDeps,
  accountId: number,
  slug: string,
): Promise<string[]> {
  const own = await findAccountTemplate(database, accountId, slug);
  const live = own?.archived ? null : (own?.publishedVersion ?? null);
  const { variables } =
    live === null
      ? (catalog.templates.get(slug) ?? { variables: [] })
      : await readTemplateVersion(database, accountId, slug, live);
  return variables.map(({ name }) => name);
}

async function dropped(
  deps: OperationDeps,
  accountId: number,
  slug: string,
  known: readonly string[],
): Promise<{ variables_dropped?: string[]; note?: string }> {
  const now = new Set(known.length === 0 ? [] : await variablesInUse(deps, accountId, slug));
  const gone = known.filter((name) => !now.has(name));
  if (gone.length === 0) return {};
  return {
    variables_dropped: gone,
    note: 'Sends that still give variables_dropped are refused from now on. Tell whoever sends it.',
  };
}

export const CONTENT_TOOLS: readonly Tool[] = [
  cloneAsAgent,
  updateAsAgent,
  publishAsAgent,
  removeAsAgent,
].map((it) => toolOf(it, undefined, new Set(['slug', 'address'])));
