// Rehearsals: before publishing, a version of a template, or a draft, is tried on the last emails
// that were really sent from it. Nothing is sent.
import { z } from 'zod';
import type { Fault } from '../errors.ts';
import type { Message } from '../messages/message.ts';
import { searchMessages } from '../messages/search.ts';
import { readSizes } from '../sending/stored-content.ts';
import type { Database } from '../store/pool.ts';
import { type PreviewRequest, type RenderedEmail, tryPreview } from '../templates/previews.ts';
import { readTemplateSource } from '../templates/template-source.ts';
import type { OperationDeps } from './deps.ts';
import { isSealed, messageUuid } from './message-lookup.ts';
import { operation, requireScope, type Via } from './operation.ts';
import { fault, shown } from './template-previews.ts';

const MOST_SENDS = 20;

const rehearsedSend = z
  .object({
    sm_mail_id: z.string().describe('The message whose variables were used.'),
    created_at: z.string().describe('When it was accepted: ISO 8601, UTC.'),
    recipients: z.array(z.string()).describe('Who it went to.'),
    subject_now: z
      .string()
      .nullable()
      .describe('Its subject with what sends use now; null: that cannot be rendered.'),
    subject: z.string().nullable().describe('Its subject then; null: it would fail.'),
    changed: z
      .array(z.enum(['subject', 'html', 'text']))
      .describe('What would be different from what sends use now.'),
    faults: z.array(fault).describe('Why it would fail; empty: it would not.'),
  })
  .meta({ id: 'RehearsedSend' });

export const rehearseTemplate = operation({
  name: 'rehearse_template',
  title: 'Rehearse a version of a template',
  summary:
    'Renders a version, or a draft, with the variables of the template’s latest emails, and compares it with what sends use now. Says which emails would change or fail. Nothing is sent.',
  effect: 'reads',
  scope: 'templates:read',
  input: z.strictObject({
    slug: shown.slug,
    version: shown.version,
    draft: shown.draft,
    limit: z
      .number()
      .int()
      .min(1)
      .max(MOST_SENDS)
      .default(MOST_SENDS)
      .describe(`On how many of the last emails; ${MOST_SENDS} by default, which is the most.`),
  }),
  output: z.object({
    sends: z.array(rehearsedSend).describe('The emails, newest first.'),
    unkept: z
      .number()
      .int()
      .describe(
        'How many of the last emails it could not be tried on, because their variables were not kept (they are kept with the content, up to 8 KB).',
      ),
  }),
  rest: { method: 'POST', path: '/v1/templates/{slug}/rehearse' },
  client: 'templates.rehearse',
  tool: {
    brief: 'What a version or draft would change in the template’s last emails.',
    idempotent: true,
  },
  async run(deps, caller, { slug, version, draft, limit }, via) {
    // Subjects contain what was sent.
    requireScope(caller, 'messages:read');
    const { accountId } = caller;
    await readTemplateSource(
      deps,
      accountId,
      slug,
      version === undefined ? 'current' : `${version}`,
    );
    const { messages } = await searchMessages(deps.database, accountId, {
      ...{ template: slug, limit },
      keyId: caller.limits?.ownMessages ? caller.keyId : null,
    });
    const kept = await withVariables(deps.database, messages, via);
    const sends = [];
    for (const { message, variables, locale } of kept) {
      const now = { slug, variables, locale };
      sends.push(await rehearse(deps, message, now, { ...now, version, draft }));
    }
    return { sends, unkept: messages.length - sends.length };
  },
});

interface Kept {
  message: Message;
  variables: Record<string, unknown>;
  /** The language it was written in. */
  locale: string | undefined;
}

async function withVariables(
  database: Database,
  messages: readonly Message[],
  via: Via,
): Promise<Kept[]> {
  const kept: Kept[] = [];
  for (const message of messages) {
    if (isSealed(message.door, via)) continue;
    const content = await readSizes(database, message.accountId, messageUuid(message.id));
    const { variables, locale } = content?.head ?? {};
    if (variables !== undefined) kept.push({ message, variables, locale });
  }
  return kept;
}

async function rehearse(
  deps: OperationDeps,
  { id, accountId, createdAt, recipients }: Message,
  now: PreviewRequest,
  then: PreviewRequest,
): Promise<z.output<typeof rehearsedSend>> {
  const before = await tryPreview(deps, accountId, now);
  const after = await tryPreview(deps, accountId, then);
  return {
    sm_mail_id: id,
    created_at: createdAt,
    recipients,
    subject_now: before.email?.subject ?? null,
    subject: after.email?.subject ?? null,
    changed: differences(before.email, after.email),
    faults: after.faults as Fault[],
  };
}

const PARTS = ['subject', 'html', 'text'] as const;

const differences = (one: RenderedEmail | null, other: RenderedEmail | null) =>
  PARTS.filter((part) => one?.[part] !== other?.[part]);
