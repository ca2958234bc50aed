// Rehearsals: before they go into every email, a version of a template, a draft or a branding is
// tried on the last emails that were really sent. Nothing is sent.
import { z } from 'zod';
import type { Caller } from '../accounts/directory.ts';
import type { Fault } from '../errors.ts';
import type { Message } from '../messages/message.ts';
import { searchMessages } from '../messages/search.ts';
import { readSizes } from '../sending/stored-content.ts';
import type { Database } from '../store/pool.ts';
import { readBranding } from '../templates/account-branding.ts';
import { changeBranding } from '../templates/branding.ts';
import { type PreviewRequest, type RenderedEmail, tryPreview } from '../templates/previews.ts';
import { findAccountTemplate } from '../templates/stored-templates.ts';
import { readTemplateSource } from '../templates/template-source.ts';
import { unsavedBranding } from './branding.ts';
import type { OperationDeps } from './deps.ts';
import { isSealed, messageUuid } from './message-lookup.ts';
import { operation, requireScope, type Via } from './operation.ts';
import { fault, shown } from './template-previews.ts';

const MOST_SENDS = 20;

const rehearsedSend = z
  .object({
    sm_mail_id: z.string().describe('The message whose variables were used.'),
    template: z.string().describe('The template that it was made from.'),
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

const rehearsal = z.object({
  sends: z.array(rehearsedSend).describe('The emails, newest first.'),
  unkept: z
    .number()
    .int()
    .describe(
      'How many of the last emails it could not be tried on, because their variables were not kept (they are kept with the content, up to 8 KB).',
    ),
});

const mostSends = z
  .number()
  .int()
  .min(1)
  .max(MOST_SENDS)
  .default(MOST_SENDS)
  .describe(`On how many of the last emails; ${MOST_SENDS} by default, which is the most.`);

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
    limit: mostSends,
  }),
  output: rehearsal,
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
      keyId: ownKey(caller),
    });
    return await rehearseOn(deps, messages, { version, draft }, via);
  },
});

/** Emails made from no template are among the latest, too. */
const LOOKED_THROUGH = 200;

export const rehearseBranding = operation({
  name: 'rehearse_branding',
  title: 'Rehearse a branding',
  summary:
    'Renders the account’s latest emails from templates as they would look if these values replaced its branding, and compares them with what sends use now. Says which would change or fail. Nothing is saved or sent.',
  effect: 'reads',
  scope: 'branding:read',
  input: z.strictObject({ branding: unsavedBranding, limit: mostSends }),
  output: rehearsal,
  rest: { method: 'POST', path: '/v1/branding/rehearse' },
  client: 'branding.rehearse',
  async run(deps, caller, { branding, limit }, via) {
    requireScope(caller, 'messages:read');
    const { accountId } = caller;
    const { fields } = await readBranding(deps.database, accountId);
    changeBranding(fields, branding, 'branding.');
    const { messages } = await searchMessages(deps.database, accountId, {
      limit: LOOKED_THROUGH,
      keyId: ownKey(caller),
    });
    const known = await knownTemplates(deps, accountId, messages);
    const ofTemplates = messages.filter(({ template }) => known.has(template)).slice(0, limit);
    return await rehearseOn(deps, ofTemplates, { branding }, via);
  },
});

/** Those that still exist. */
async function knownTemplates(
  { database, catalog }: OperationDeps,
  accountId: number,
  messages: readonly Message[],
): Promise<Set<string | null>> {
  const known = new Set<string | null>();
  for (const template of new Set(messages.map((message) => message.template))) {
    if (template === null) continue;
    const exists =
      catalog.templates.has(template) ||
      (await findAccountTemplate(database, accountId, template)) !== undefined;
    if (exists) known.add(template);
  }
  return known;
}

const ownKey = ({ limits, keyId }: Caller): string | null => (limits?.ownMessages ? keyId : null);

async function rehearseOn(
  deps: OperationDeps,
  messages: readonly Message[],
  change: Pick<PreviewRequest, 'version' | 'draft' | 'branding'>,
  via: Via,
): Promise<z.output<typeof rehearsal>> {
  const sends = [];
  for (const { message, variables, locale } of await withVariables(deps.database, messages, via)) {
    const now = { slug: message.template!, variables, locale };
    sends.push(await rehearse(deps, message, now, { ...now, ...change }));
  }
  return { sends, unkept: messages.length - sends.length };
}

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
    template: now.slug,
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
