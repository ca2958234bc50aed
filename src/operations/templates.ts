// The account's own templates: copies of system templates and new ones, edited in versions.
import { z } from 'zod';
import {
  archiveTemplate,
  checkSources,
  cloneTemplate,
  publishTemplate,
  putTemplate,
  rollBackTemplate,
} from '../templates/account-templates.ts';
import {
  type AccountTemplate,
  findAccountTemplate,
  listAccountTemplates,
  listTemplateVersions,
  readAccountTemplate,
} from '../templates/stored-templates.ts';
import { readTemplateSource } from '../templates/template-source.ts';
import { finding, lintTemplate } from './lint.ts';
import { listOf, pageOfFew, pageOutOf, WHOLE_FOR_AGENTS } from './lists.ts';
import { operation } from './operation.ts';
import {
  about,
  baseVersion,
  draftInput,
  ownTemplate,
  show,
  showSystem,
  slug,
  stateOf,
  templateVersion,
  versionEntry,
} from './template-shapes.ts';

export const templateOperations = [
  operation({
    name: 'list_own_templates',
    title: 'List the account’s own templates',
    summary: 'The account’s own templates with their versions, drafts and archived ones too.',
    effect: 'reads',
    scope: 'templates:read',
    input: z.strictObject(pageOfFew),
    output: listOf('templates', ownTemplate),
    rest: { method: 'GET', path: '/v1/own-templates' },
    client: 'templates.listOwn',
    tool: {
      brief: 'The account’s own templates, drafts and archived ones too.',
      without: WHOLE_FOR_AGENTS,
    },
    async run({ database, catalog }, { accountId }, wanted) {
      const own = await listAccountTemplates(database, accountId);
      const shown = own.map((template) => show(template, catalog));
      return pageOutOf(shown, wanted, ({ slug }) => slug);
    },
  }),

  operation({
    name: 'list_template_versions',
    title: 'List the versions of a template',
    summary:
      'The versions of one of the account’s own templates, newest first, without their text.',
    effect: 'reads',
    scope: 'templates:read',
    input: z.strictObject({ slug, ...pageOfFew }),
    output: listOf('versions', versionEntry),
    rest: { method: 'GET', path: '/v1/templates/{slug}/versions' },
    client: 'templates.listVersions',
    async run({ database }, { accountId }, { slug, ...wanted }) {
      const { publishedVersion } = await readAccountTemplate(database, accountId, slug);
      const versions = await listTemplateVersions(database, accountId, slug);
      return pageOutOf(
        versions.map(({ version, clonedFrom, basedOn, createdAt, publishedAt }) => ({
          version,
          cloned_from: clonedFrom,
          based_on: basedOn,
          created_at: createdAt,
          published_at: publishedAt,
          published: version === publishedVersion,
        })),
        wanted,
        ({ version }) => String(version),
      );
    },
  }),

  operation({
    name: 'get_template_version',
    title: 'Read a template’s source',
    summary:
      'The source of one version, to change and pass to update_template. Its number is also the ETag.',
    effect: 'reads',
    scope: 'templates:read',
    input: z.strictObject({
      slug,
      version: z
        .string()
        .regex(/^(?:current|newest|system|[1-9]\d{0,8})$/, 'a number, current, newest or system')
        .default('current')
        .describe(
          'A number, or: newest, the one saved last; system, the catalogue’s; current, the published one, or the newest, or the system’s.',
        )
        .meta({ example: 'newest' }),
    }),
    output: templateVersion,
    rest: { method: 'GET', path: '/v1/templates/{slug}/versions/{version}' },
    client: 'templates.getVersion',
    tool: { brief: 'The source of a version: read the newest before you change it.' },
    async run(deps, { accountId }, { slug, version }) {
      const { own, system, content, ...found } = await readTemplateSource(
        deps,
        accountId,
        slug,
        version,
      );
      const { subject, preheader, html, text, variables, sample, messages } = content;
      const { name, description } = content;
      return {
        ...(own === undefined ? showSystem(system!) : show(own, deps.catalog)),
        ...{ name, description, version: found.version },
        ...{ subject, preheader, html, text, variables, sample, messages },
      };
    },
  }),

  operation({
    name: 'clone_template',
    title: 'Clone a template',
    summary:
      'Copies a system template, or one of the account’s own, so that the account can change it. If the slug stays the same, sends use the copy from now on.',
    effect: 'changes',
    scope: 'templates:write',
    input: z.strictObject({
      slug: slug.describe('Slug of the template to copy.'),
      as: z.string().max(64).optional().describe('Slug of the copy; the same by default.'),
    }),
    output: ownTemplate,
    rest: { method: 'POST', path: '/v1/templates/{slug}/clone', status: 201 },
    client: 'templates.clone',
    tool: {
      brief: 'Makes a copy for the account to change: a draft until it is published.',
      destructive: false,
    },
    async run(deps, { accountId }, { slug, as = slug }, via) {
      const template = show(await cloneTemplate(deps, accountId, slug, as), deps.catalog);
      via.note({ target: template.slug, after: { cloned_from: slug } });
      return template;
    },
  }),

  operation({
    name: 'update_template',
    title: 'Change a template',
    summary:
      'Saves a new version of one of the account’s own templates, or creates a template. Fields you leave out keep their values. It is a draft until it is published; earlier versions are kept.',
    effect: 'changes',
    scope: 'templates:write',
    input: z.strictObject({
      slug,
      name: about.name.optional(),
      category: about.category.optional(),
      description: about.description.optional(),
      stream: about.stream
        .optional()
        .describe('The stream that its emails go through from now on; null: `transactional`.'),
      ...draftInput,
      from_version: z
        .number()
        .int()
        .min(1)
        .optional()
        .describe('The version that fields you leave out are taken from; the newest by default.'),
      publish: z
        .boolean()
        .default(false)
        .describe('Whether emails are made from the new version at once.'),
      base_version: baseVersion,
    }),
    output: ownTemplate.extend({
      version: z.number().int().describe('The version just saved.'),
      findings: z
        .array(finding)
        .describe('What receivers and readers would object to, filled with its sample.'),
    }),
    rest: { method: 'PUT', path: '/v1/templates/{slug}', ifMatch: 'base_version' },
    client: 'templates.put',
    tool: {
      brief:
        'Saves a new version of one of your own templates, or a new one: a draft until published.',
      without: ['from_version'],
    },
    before: (deps, { accountId }, { slug, ...change }) =>
      checkSources(deps, accountId, slug, change),
    async run(deps, { accountId }, input, via) {
      const { slug, publish, from_version: from, base_version: base, ...change } = input;
      const before = await findAccountTemplate(deps.database, accountId, slug);
      const { template, version, draft } = await putTemplate(deps, accountId, slug, change, {
        from,
        base,
      });
      const put = publish ? await publishTemplate(deps, accountId, slug, version) : template;
      via.note({ target: slug, before: before ? newestOf(before) : null, after: newestOf(put) });
      const { name, description } = draft;
      return { ...show(put, deps.catalog), name, description, version, findings: [] };
    },
    async after(deps, { accountId }, saved) {
      return { ...saved, findings: await lintTemplate(deps, accountId, saved) };
    },
  }),

  operation({
    name: 'publish_template',
    title: 'Publish a version of a template',
    summary:
      'Sends use this version from now on. Publishing a version of an archived template brings the template back.',
    effect: 'changes',
    scope: 'templates:write',
    input: z.strictObject({
      slug,
      version: z.number().int().min(1).describe('The version to put live.'),
      base_version: baseVersion,
    }),
    output: ownTemplate,
    rest: { method: 'POST', path: '/v1/templates/{slug}/publish', ifMatch: 'base_version' },
    client: 'templates.publish',
    tool: { brief: 'Sends use this version from now on.', idempotent: true },
    async run(deps, { accountId }, { slug, version, base_version }, via) {
      const before = await readAccountTemplate(deps.database, accountId, slug);
      const after = await publishTemplate(deps, accountId, slug, version, base_version);
      via.note(used(slug, before, after));
      return show(after, deps.catalog);
    },
  }),

  operation({
    name: 'roll_back_template',
    title: 'Roll a template back',
    summary:
      'Sends use the previously published version again. The newer one is kept and can be published again.',
    effect: 'changes',
    scope: 'templates:write',
    input: z.strictObject({
      slug,
      published_version: z
        .number()
        .int()
        .min(1)
        .optional()
        .describe(
          'The version to take back. If another one is live by now, nothing changes (412).',
        ),
    }),
    output: ownTemplate,
    rest: { method: 'POST', path: '/v1/templates/{slug}/roll-back' },
    client: 'templates.rollBack',
    tool: { brief: 'Puts the previously published version live again.' },
    async run({ database, catalog }, { accountId }, { slug, published_version }, via) {
      const before = await readAccountTemplate(database, accountId, slug);
      const after = await rollBackTemplate(database, accountId, slug, published_version);
      via.note(used(slug, before, after));
      return show(after, catalog);
    },
  }),

  operation({
    name: 'archive_template',
    title: 'Archive a template',
    summary:
      'Takes a template out of use: sends use the system template with that slug again, if there is one. Its versions are kept; publishing one brings it back.',
    effect: 'changes',
    scope: 'templates:write',
    input: z.strictObject({ slug }),
    output: ownTemplate,
    rest: { method: 'POST', path: '/v1/templates/{slug}/archive' },
    client: 'templates.archive',
    tool: { brief: 'Takes one of your own templates out of use.' },
    async run({ database, catalog }, { accountId }, { slug }, via) {
      const before = await readAccountTemplate(database, accountId, slug);
      const after = await archiveTemplate(database, accountId, slug);
      via.note(used(slug, before, after));
      return show(after, catalog);
    },
  }),
];

const used = (slug: string, before: AccountTemplate, after: AccountTemplate) => {
  const shown = (it: AccountTemplate) => ({
    state: stateOf(it),
    published_version: it.publishedVersion,
  });
  return { target: slug, before: shown(before), after: shown(after) };
};

/** For the audit: the newest version, and whether sends use it. */
const newestOf = ({ newestVersion, publishedVersion }: AccountTemplate) => ({
  version: newestVersion,
  published: publishedVersion === newestVersion,
});
