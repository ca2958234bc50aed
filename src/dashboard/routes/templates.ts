// Templates: the gallery, one with its versions, previews, and everything that changes an account's own.
import { z } from 'zod';
import { Problem } from '../../errors.ts';
import { ownSender } from '../../notices/own-sender.ts';
import { acceptSend } from '../../sending/accept.ts';
import { readBranding } from '../../templates/account-branding.ts';
import {
  archiveTemplate,
  cloneTemplate,
  publishTemplate,
  putTemplate,
  rollBackTemplate,
} from '../../templates/account-templates.ts';
import { categories } from '../../templates/categories.ts';
import { listTemplateVersions, readAccountTemplate } from '../../templates/stored-templates.ts';
import { variableSchema, variableValues } from '../../templates/variables.ts';
import type { Works } from '../route.ts';
import { faultsIn, previewOf, renderPreview } from '../template-preview.ts';
import { listTemplateRows, readTemplateDetail } from '../template-views.ts';

const MOST_PREVIEWS = 60;

const source = z.string().max(256 * 1024);
const variables = variableValues();
const version = z.number().int().min(1);
export const slugs = (most: number) => z.array(z.string().max(64)).max(most);

const draftFields = {
  subject: source.optional(),
  preheader: source.optional(),
  html: source.optional(),
  text: source.nullable().optional(),
  variables: z.array(variableSchema).max(200).optional(),
  sample: variables.optional(),
};

type Names =
  | 'listTemplates'
  | 'getTemplate'
  | 'listTemplateVersions'
  | 'previewTemplate'
  | 'previewTemplates'
  | 'cloneTemplate'
  | 'saveTemplate'
  | 'publishTemplate'
  | 'rollBackTemplate'
  | 'archiveTemplate'
  | 'testSend';

export const templateRoutes: Works<Names> = {
  listTemplates: {
    query: z.strictObject({ category: z.enum(categories).optional() }),
    async run(deps, { accountId, query }) {
      const rows = await listTemplateRows(deps, accountId);
      const { category } = query;
      return { templates: rows.filter((row) => !category || row.category === category) };
    },
  },

  getTemplate: {
    query: z.strictObject({ version: z.string().max(20).optional() }),
    run: (deps, { accountId, params, query }) =>
      readTemplateDetail(deps, accountId, params.slug, query.version),
  },

  listTemplateVersions: {
    async run({ database }, { accountId, params }) {
      const { publishedVersion } = await readAccountTemplate(database, accountId, params.slug);
      const versions = await listTemplateVersions(database, accountId, params.slug);
      return {
        versions: versions.map((it) => ({ ...it, published: it.version === publishedVersion })),
      };
    },
  },

  previewTemplate: {
    body: z.strictObject({
      slug: z.string().max(64),
      version: version.optional(),
      draft: z.strictObject(draftFields).optional(),
      variables: variables.optional(),
      branding: z.record(z.string(), z.unknown()).optional(),
    }),
    run: (deps, { accountId, body }) => previewOf(deps, accountId, body),
  },

  previewTemplates: {
    body: z.strictObject({ slugs: slugs(MOST_PREVIEWS) }),
    async run(deps, { accountId, body }) {
      const previews = [];
      for (const slug of body.slugs) {
        previews.push({ slug, ...(await previewOf(deps, accountId, { slug })) });
      }
      return { previews };
    },
  },

  cloneTemplate: {
    body: z.strictObject({ as: z.string().max(64).optional() }),
    async run(deps, { accountId, params, body }) {
      const made = await cloneTemplate(deps, accountId, params.slug, body.as);
      return await readTemplateDetail(deps, accountId, made.slug);
    },
  },

  saveTemplate: {
    body: z.strictObject({
      ...draftFields,
      name: z.string().optional(),
      category: z.enum(categories).optional(),
      description: z.string().optional(),
      basedOn: version.optional(),
    }),
    async run(deps, { accountId, params, body, reply }) {
      const { basedOn, ...change } = body;
      try {
        const saved = await putTemplate(deps, accountId, params.slug, change, basedOn);
        return await readTemplateDetail(deps, accountId, params.slug, String(saved.version));
      } catch (error) {
        if (!(error instanceof Problem) || error.code !== 'invalid') throw error;
        // As any refusal, and where it is wrong.
        const refusal = { detail: error.detail, faults: faultsIn(error, params.slug) };
        return reply.code(400).send(refusal) as never;
      }
    },
  },

  publishTemplate: {
    body: z.strictObject({ version: version.optional() }),
    async run(deps, { accountId, params, body }) {
      await publishTemplate(deps.database, accountId, params.slug, body.version);
      return await readTemplateDetail(deps, accountId, params.slug);
    },
  },

  rollBackTemplate: {
    async run(deps, { accountId, params }) {
      await rollBackTemplate(deps.database, accountId, params.slug);
      return await readTemplateDetail(deps, accountId, params.slug);
    },
  },

  archiveTemplate: {
    async run(deps, { accountId, params }) {
      await archiveTemplate(deps.database, accountId, params.slug);
      return await readTemplateDetail(deps, accountId, params.slug);
    },
  },

  testSend: {
    body: z.strictObject({
      to: z.string().max(320),
      from: z.string().max(600).optional(),
      version: version.optional(),
      draft: z.strictObject(draftFields).optional(),
      variables: variables.optional(),
    }),
    async run(deps, { accountId, params, body }) {
      const { to, from, ...shown } = body;
      const mail = await renderPreview(deps, accountId, { slug: params.slug, ...shown });
      const caller = await deps.directory.member(accountId);
      const request = {
        from_email: from ?? (await senderOrProblem(deps.database, accountId)),
        to: [to],
        ...mail,
        tags: ['test'],
      };
      const { answer } = await acceptSend(deps, caller, request, { door: 'dashboard' });
      return { id: answer.id };
    },
  },
};

async function senderOrProblem(
  database: Parameters<typeof ownSender>[0],
  accountId: number,
): Promise<string> {
  const address = await ownSender(database, accountId);
  if (address === undefined) {
    throw new Problem(
      'forbidden',
      'This account has no verified sender yet. Add a domain or an address under Senders.',
    );
  }
  const { fields } = await readBranding(database, accountId);
  return fields.brand_name ? `"${fields.brand_name.replace(/["\\]/g, '')}" <${address}>` : address;
}
