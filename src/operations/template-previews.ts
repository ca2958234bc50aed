// Templates before anybody gets them: rendered for the eye, and sent to one address as a test.
import { z } from 'zod';
import { Problem } from '../errors.ts';
import { ownSender } from '../notices/own-sender.ts';
import { acceptSend } from '../sending/accept.ts';
import { sendAnswer } from '../sending/request.ts';
import type { Queryable } from '../store/pool.ts';
import { readBranding } from '../templates/account-branding.ts';
import { renderEach, renderPreview } from '../templates/previews.ts';
import { variableValues } from '../templates/variables.ts';
import { listed, listOf } from './lists.ts';
import { operation, requireScope } from './operation.ts';
import { draftInput, slug } from './templates.ts';

const MOST_PREVIEWS = 60;

const renderedMail = z
  .object({
    subject: z.string().describe('The subject.'),
    html: z.string().describe('The HTML, without tracking.'),
    text: z.string().describe('The plain text.'),
  })
  .meta({ id: 'RenderedMail' });

/** A mail, or why there is none. */
export const preview = z
  .object({
    slug: z.string().describe('Slug of the template.'),
    mail: renderedMail.nullable().describe('The mail; null: it cannot be rendered.'),
    faults: z
      .array(
        z.object({
          path: z.string().describe('The part that is wrong, such as html.'),
          message: z.string().describe('What is wrong with it.'),
          line: z.number().int().optional().describe('The line, from 1.'),
          column: z.number().int().optional().describe('The column, from 1.'),
        }),
      )
      .describe('Why it cannot be rendered.'),
  })
  .meta({ id: 'TemplatePreview' });

export const slugs = (most: number) =>
  z.array(z.string().max(64)).min(1).max(most).describe(`Which templates; at most ${most}.`);

const shown = {
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
    .describe('Parts that are not saved, over those of the version.'),
  variables: variableValues().optional().describe('What it is filled with; its sample by default.'),
};

export const previewOperations = [
  operation({
    name: 'render_template',
    title: 'Render a template',
    summary:
      'The email that a template makes with these variables and the account’s branding, without sending anything. What is wrong is told with line and column.',
    effect: 'reads',
    scope: 'templates:read',
    input: z.strictObject(shown),
    output: renderedMail,
    rest: { method: 'POST', path: '/v1/templates/{slug}/render' },
    client: 'templates.render',
    tool: { idempotent: true },
    run: (deps, { accountId }, input) => renderPreview(deps, accountId, input),
  }),

  operation({
    name: 'render_templates',
    title: 'Render several templates',
    summary: 'Several templates with their samples and the account’s branding, for a gallery.',
    effect: 'reads',
    scope: 'templates:read',
    input: z.strictObject({ slugs: slugs(MOST_PREVIEWS) }),
    output: listOf('previews', preview),
    rest: { method: 'POST', path: '/v1/templates/render' },
    client: 'templates.renderSeveral',
    run: async (deps, { accountId }, { slugs }) =>
      listed(await renderEach(deps, accountId, slugs), null),
  }),

  operation({
    name: 'send_test_email',
    title: 'Send a test of a template',
    summary:
      'Sends what render_template shows to one address, with the tag `test`. It counts as any other email.',
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
      // Drafts are not for every key that sends.
      requireScope(caller, 'templates:read');
      const { accountId } = caller;
      const mail = await renderPreview(deps, accountId, request);
      const from = from_email ?? (await firstSender(deps.database, accountId));
      const { door, idempotencyKey } = via;
      const test = { from_email: from, to: [to], ...mail, tags: ['test'] };
      const { answer, limit } = await acceptSend(deps, caller, test, { door, idempotencyKey });
      via.limit = limit;
      return answer;
    },
  }),
];

async function firstSender(database: Queryable, accountId: number): Promise<string> {
  const address = await ownSender(database, accountId);
  if (address === undefined) {
    throw new Problem(
      'forbidden',
      'This account has no verified sender yet. Add a domain or an address to send from.',
    );
  }
  const { fields } = await readBranding(database, accountId);
  return fields.brand_name ? `"${fields.brand_name.replace(/["\\]/g, '')}" <${address}>` : address;
}
