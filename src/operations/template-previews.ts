// Templates before anyone gets them: rendered to look at, and sent to one address as a test.
import { z } from 'zod';
import type { Caller } from '../accounts/directory.ts';
import { Problem } from '../errors.ts';
import { cameThrough } from '../messages/message.ts';
import { ownSender } from '../notices/own-sender.ts';
import { acceptSend } from '../sending/accept.ts';
import { sendAnswer } from '../sending/request.ts';
import { readSizes } from '../sending/stored-content.ts';
import type { StoredHead } from '../sending/stored-head.ts';
import type { Database, Queryable } from '../store/pool.ts';
import { readBranding } from '../templates/account-branding.ts';
import { renderDraft, renderEach, renderPreview } from '../templates/previews.ts';
import { variableValues } from '../templates/variables.ts';
import { finding, lintWhole } from './lint.ts';
import { listed, listOf } from './lists.ts';
import { noContent, noMessage, requireOpen } from './message-lookup.ts';
import { messageId } from './messages.ts';
import { operation, requireScope, type Via } from './operation.ts';
import { draftInput, slug } from './template-shapes.ts';

const MOST_PREVIEWS = 60;

const renderedEmail = z
  .object({
    subject: z.string().describe('The subject.'),
    html: z.string().describe('The HTML, without tracking.'),
    text: z.string().describe('The plain text.'),
  })
  .meta({ id: 'RenderedEmail' });

export const fault = z.object({
  path: z.string().describe('The part that is wrong, such as html.'),
  message: z.string().describe('What is wrong with it.'),
  line: z.number().int().optional().describe('The line, from 1.'),
  column: z.number().int().optional().describe('The column, from 1.'),
});

/** An email, or why there is none. */
export const preview = z
  .object({
    slug: z.string().describe('Slug of the template.'),
    email: renderedEmail.nullable().describe('The email; null: it cannot be rendered.'),
    faults: z.array(fault).describe('Why it cannot be rendered.'),
  })
  .meta({ id: 'TemplatePreview' });

export const slugs = (most: number) =>
  z.array(z.string().max(64)).min(1).max(most).describe(`Which templates; at most ${most}.`);

export const shown = {
  slug,
  version: z
    .number()
    .int()
    .min(1)
    .optional()
    .describe('A version of the account’s own; what sends use by default.'),
  draft: z
    .strictObject(draftInput)
    .optional()
    .describe('Parts that are not saved; they replace those of the version.'),
  variables: variableValues().optional().describe('What it is filled with; its sample by default.'),
  locale: z
    .string()
    .optional()
    .describe('Its language, such as `de`; the account’s own by default.'),
};

export const variablesOf = messageId
  .optional()
  .describe('A message made from the template, whose variables are used instead.');

export const previewOperations = [
  operation({
    name: 'render_template',
    title: 'Render a template',
    summary:
      'Renders a template with these variables and the account’s branding. Nothing is sent. Errors come with line and column.',
    effect: 'reads',
    scope: 'templates:read',
    input: z.strictObject({
      ...shown,
      variables_of: variablesOf,
    }),
    output: renderedEmail
      .extend({
        findings: z
          .array(finding)
          .describe('What receivers and readers would object to (lint_email).'),
      })
      .meta({ id: 'RenderedTemplate' }),
    rest: { method: 'POST', path: '/v1/templates/{slug}/render' },
    client: 'templates.render',
    tool: {
      brief: 'Renders a template with these variables. Nothing is sent.',
      idempotent: true,
    },
    async run(deps, caller, { variables_of, ...request }, via) {
      const { accountId } = caller;
      const filled = variables_of && (await filledLike(deps.database, caller, variables_of, via));
      const wanted = { ...filled, ...request, ...(filled && { variables: filled.variables }) };
      const { email, sent } = await renderPreview(deps, accountId, wanted);
      const asSent = { ...email, html: sent, broadcast: false, unsubscribe: false };
      return { ...email, findings: await lintWhole(deps, accountId, asSent) };
    },
  }),

  operation({
    name: 'render_templates',
    title: 'Render several templates',
    summary: 'Several templates with their samples and the account’s branding, for a gallery.',
    effect: 'reads',
    scope: 'templates:read',
    input: z.strictObject({ slugs: slugs(MOST_PREVIEWS), locale: shown.locale }),
    output: listOf('previews', preview),
    rest: { method: 'POST', path: '/v1/templates/render' },
    client: 'templates.renderSeveral',
    run: async (deps, { accountId }, { slugs, locale }) =>
      listed(await renderEach(deps, accountId, slugs, { locale }), null),
  }),

  operation({
    name: 'send_test_email',
    title: 'Send a test of a template',
    summary:
      'Sends what render_template shows to one address, tagged `test`. It counts like any other email.',
    effect: 'sends',
    scope: 'email:send',
    input: z.strictObject({
      ...shown,
      to: z.string().max(320).describe('Who gets it.').meta({ example: 'ada@example.com' }),
      from_email: z
        .string()
        .max(600)
        .optional()
        .describe('Sender; the account’s first verified one by default.'),
    }),
    output: sendAnswer,
    rest: { method: 'POST', path: '/v1/templates/{slug}/test-send', status: 202 },
    client: 'templates.testSend',
    async run(deps, caller, { to, from_email, ...request }, via) {
      // Not every key that sends may see drafts.
      requireScope(caller, 'templates:read');
      const { accountId } = caller;
      const { subject, html, text, files } = await renderDraft(deps, accountId, request);
      const from = from_email ?? (await firstSender(deps.database, accountId));
      const { door, idempotencyKey } = via;
      const test = {
        from_email: from,
        to: [to],
        subject,
        html: html.toString(),
        text: text.toString(),
        attachments: files.map((file) => ({
          filename: file.filename,
          content_type: file.contentType,
          content_id: file.contentId,
          content_base64: Buffer.from(file.content).toString('base64'),
        })),
        tags: ['test'],
      };
      const { answer, limit } = await acceptSend(deps, caller, test, { door, idempotencyKey });
      via.limit = limit;
      return answer;
    },
  }),
];

/** With its variables, in its language. */
export async function filledLike(
  database: Database,
  caller: Caller,
  id: string,
  via: Via,
): Promise<Pick<StoredHead, 'variables' | 'locale'>> {
  requireScope(caller, 'messages:read');
  const { accountId, keyId, limits } = caller;
  const { uuid } = await requireOpen(database, accountId, id, via);
  const isOthers =
    limits?.ownMessages === true &&
    keyId !== null &&
    !(await cameThrough(database, accountId, uuid, keyId));
  if (isOthers) throw noMessage(id);
  const content = await readSizes(database, accountId, uuid);
  if (content === undefined) throw noContent(id);
  const { variables, locale } = content.head;
  if (variables !== undefined) return { variables, locale };
  throw new Problem(
    'invalid',
    `variables_of: the variables of ${id} were not kept. It was not made from a template, or had more than 8 KB of variables.`,
    { at: 'variables_of' },
  );
}

async function firstSender(database: Queryable, accountId: number): Promise<string> {
  const address = await ownSender(database, accountId);
  if (address === undefined) {
    throw new Problem(
      'forbidden',
      'This account has no verified sender yet. Add a domain or an address to send from.',
    );
  }
  const { fields, accountName } = await readBranding(database, accountId);
  return `"${(fields.brand_name ?? accountName).replace(/["\\]/g, '')}" <${address}>`;
}
