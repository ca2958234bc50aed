// Lint: what receivers and readers would object to in an email, before it is sent. Findings are
// advice; nothing is refused because of them.
import { z } from 'zod';
import { Problem } from '../errors.ts';
import { isTooLongToLint, LINT_RULES, type LintedEmail, type LintFinding } from '../lint/lint.ts';
import { DEFAULT_STREAM } from '../messages/stream.ts';
import { findStream } from '../streams/streams.ts';
import { renderDraft } from '../templates/previews.ts';
import { variableValues } from '../templates/variables.ts';
import type { OperationDeps } from './deps.ts';
import { operation } from './operation.ts';

export const finding = z
  .object({
    rule: z.enum(LINT_RULES).describe('What kind of thing it is.'),
    severity: z
      .enum(['error', 'warning'])
      .describe(
        'error: readers see something broken, or receivers reject it. warning: it costs trust.',
      ),
    message: z.string().describe('What was found.'),
    hint: z.string().describe('What to do.'),
  })
  .meta({ id: 'LintFinding' });

export const lintOperations = [
  operation({
    name: 'lint_email',
    title: 'Check an email before it is sent',
    summary:
      'Lists what mailbox providers and readers would object to in an email: no text part, images only, links that cannot work, HTML that Gmail clips, a subject that reads like spam, placeholders without a value and more. Give the email itself (subject, html, text), or a template with variables. Nothing is sent and no link is followed.',
    effect: 'reads',
    scope: 'email:send',
    input: z.strictObject({
      subject: z.string().max(2000).optional().describe('The subject.'),
      html: z.string().max(5_000_000).optional().describe('The HTML.'),
      text: z.string().max(5_000_000).optional().describe('The text part.'),
      template: z
        .string()
        .max(64)
        .optional()
        .describe('Slug of a template, instead of subject, html and text.'),
      variables: variableValues()
        .optional()
        .describe('What the template is filled with; its sample by default.'),
      locale: z.string().optional().describe('Language of the template, such as `de`.'),
      stream: z
        .string()
        .max(64)
        .default(DEFAULT_STREAM)
        .describe('The stream that it would go through.'),
      headers: z
        .record(z.string(), z.string())
        .optional()
        .describe('Headers that it would have, such as List-Unsubscribe.'),
    }),
    output: z.object({
      findings: z.array(finding).describe('Empty: nothing was found.'),
    }),
    rest: { method: 'POST', path: '/v1/lint' },
    client: 'lint.check',
    tool: {
      brief: 'What mailbox providers and readers would object to in an email.',
      idempotent: true,
    },
    async run(deps, { accountId }, { stream, headers, ...of }) {
      const email = await emailOf(deps, accountId, of);
      const { kind, unsubscribe } = await findStream(deps.database, accountId, stream);
      const own = Object.keys(headers ?? {}).some((it) => it.toLowerCase() === 'list-unsubscribe');
      return {
        findings: await lintWhole(deps, accountId, {
          ...email,
          broadcast: kind === 'broadcast',
          unsubscribe: (unsubscribe && deps.linksWork()) || own,
        }),
      };
    },
  }),
];

/** A Problem if it takes longer than untrusted text may. */
export async function lintWhole(
  deps: Pick<OperationDeps, 'lint'>,
  accountId: number,
  email: LintedEmail,
): Promise<LintFinding[]> {
  const found = await deps.lint(accountId, email);
  if (found === undefined) throw tooLong();
  return found;
}

const tooLong = (): Problem =>
  new Problem('invalid', 'html: this email takes too long to check. Make it smaller.', {
    at: 'html',
  });

/** The findings for an email as it is stored, or would be. */
export async function findingsIn(
  deps: Pick<OperationDeps, 'database' | 'lint'>,
  accountId: number,
  email: Record<'html' | 'text', string | Buffer | null> & { subject: string },
  stream: string | null,
): Promise<LintFinding[]> {
  if (isTooLongToLint(email)) throw tooLong();
  const { kind, unsubscribe } = await findStream(
    deps.database,
    accountId,
    stream ?? DEFAULT_STREAM,
  );
  return await lintWhole(deps, accountId, {
    subject: email.subject,
    html: email.html === null ? null : email.html.toString(),
    text: email.text === null ? null : email.text.toString(),
    broadcast: kind === 'broadcast',
    unsubscribe,
  });
}

interface Given {
  subject?: string | undefined;
  html?: string | undefined;
  text?: string | undefined;
  template?: string | undefined;
  variables?: Record<string, unknown> | undefined;
  locale?: string | undefined;
}

async function emailOf(deps: OperationDeps, accountId: number, given: Given) {
  const { template, variables, locale, subject, html, text } = given;
  if (template === undefined) {
    if (variables !== undefined) {
      const detail = 'variables: they fill a template. Give `template` as well.';
      throw new Problem('invalid', detail, { at: 'variables' });
    }
    if (html === undefined && text === undefined) {
      const detail = 'html: give the email: html, text or both; or a template.';
      throw new Problem('invalid', detail, { at: 'html' });
    }
    return { subject: subject ?? '', html: html ?? null, text: text ?? null };
  }
  if (html !== undefined || text !== undefined) {
    const detail = 'template: give either a template or html and text.';
    throw new Problem('invalid', detail, { at: 'template' });
  }
  const made = await renderDraft(deps, accountId, { slug: template, variables, locale });
  const { html: shown, text: plain } = made;
  return { subject: subject ?? made.subject, html: shown.toString(), text: plain.toString() };
}

/** The findings for a template filled with its sample; none if it cannot be rendered. */
export async function lintTemplate(
  deps: OperationDeps,
  accountId: number,
  wanted: { slug: string; version: number; stream: string | null },
): Promise<LintFinding[]> {
  try {
    const made = await renderDraft(deps, accountId, wanted);
    const { kind, unsubscribe } = await findStream(
      deps.database,
      accountId,
      wanted.stream ?? DEFAULT_STREAM,
    );
    const [html, text] = [made.html.toString(), made.text.toString()];
    const email = { subject: made.subject, html, text };
    const broadcast = kind === 'broadcast';
    return await lintWhole(deps, accountId, {
      ...{ ...email, broadcast, unsubscribe: unsubscribe && deps.linksWork() },
    });
  } catch (error) {
    // It is already saved. Rendering reports that its sample does not fill it.
    if (error instanceof Problem) return [];
    throw error;
  }
}
