// The second tool set, for keys with the scope `admin`: what the owner of an account manages. One definition is one tool.
import { z } from 'zod';
import type { Directory } from '../accounts/directory.ts';
import { Problem } from '../errors.ts';
import { readUuid, showUuid } from '../ids.ts';
import { searchMessages } from '../messages/search.ts';
import { STATUSES } from '../messages/status.ts';
import type { Database } from '../store/pool.ts';
import {
  addSuppression,
  type ListedSuppression,
  listSuppressions,
  removeSuppression,
  SUPPRESSION_REASONS,
} from '../suppressions/suppressions.ts';
import { readBranding, setBranding } from '../templates/account-branding.ts';
import { type Branding, brandingFields } from '../templates/branding.ts';
import { defineTool, READS, type Tool } from './tool.ts';

export interface AdminToolDeps {
  database: Database;
  /** Told of changes, so that this process need not find out by itself. */
  directory: Pick<Directory, 'forget'>;
}

const CHANGES = {
  readOnlyHint: false,
  destructiveHint: true,
  idempotentHint: true,
  openWorldHint: false,
} as const;

const limit = z
  .number()
  .int()
  .min(1)
  .max(100)
  .default(25)
  .describe('How many at most: 1 to 100, 25 unless told.');

// ---- Messages -----------------------------------------------------------------------------------------------------

const searchMessagesTool = defineTool({
  name: 'search_messages',
  title: 'Search messages',
  description:
    'The account’s mails, newest first, by recipient, subject, tag, status and time. One call looks through a bounded number of them: go on with `before` while it is not null. get_email_status tells the story of one.',
  scope: 'admin',
  input: z.strictObject({
    recipient: z
      .string()
      .optional()
      .describe('An address in to, cc or bcc, or a part of one.')
      .meta({ example: 'ada@example.com' }),
    subject: z.string().optional().describe('A part of the subject, in any case.'),
    tag: z.string().optional().describe('A tag, exactly.'),
    status: z.enum(STATUSES).optional().describe('The current status.'),
    from: z.string().optional().describe('Not before this time, ISO 8601.'),
    until: z.string().optional().describe('Before this time, ISO 8601.'),
    before: z.string().optional().describe('Where to go on: `before` of the last answer.'),
    limit,
  }),
  output: z.strictObject({
    messages: z
      .array(
        z.strictObject({
          id: z.string().describe('The message id; get_email_status takes it as sm_mail_id.'),
          status: z.enum(STATUSES).describe('The current status.'),
          from_email: z.string().describe('Sender.'),
          recipients: z.array(z.string()).describe('To, cc and bcc together.'),
          subject: z.string().describe('The subject as it went out.'),
          tags: z.array(z.string()).describe('Labels given when it was sent.'),
          template: z.union([z.string(), z.null()]).describe('The template it was made from.'),
          door: z.string().describe('Where it came in: rest, mcp or dashboard.'),
          created_at: z.string().describe('When it was accepted, ISO 8601.'),
        }),
      )
      .describe('What was found, newest first.'),
    before: z.union([z.string(), z.null()]).describe('Give it back to go on; null: all was seen.'),
  }),
  annotations: READS,
  async run(deps: AdminToolDeps, caller, wanted) {
    const { messages, beforeUuid } = await searchMessages(deps.database, caller.accountId, {
      recipient: wanted.recipient,
      subject: wanted.subject,
      tag: wanted.tag,
      status: wanted.status,
      fromMs: readTime('from', wanted.from),
      untilMs: readTime('until', wanted.until),
      beforeUuid: readCursor(wanted.before),
      limit: wanted.limit,
    });
    return {
      messages: messages.map(({ accountId: _own, from, createdAt, ...message }) => ({
        ...message,
        from_email: from,
        created_at: createdAt,
      })),
      before: beforeUuid && showUuid('msg_', beforeUuid),
    };
  },
});

function readTime(field: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const atMs = Date.parse(text);
  if (!Number.isNaN(atMs)) return atMs;
  throw new Problem('invalid', `${field}: write a time as 2026-11-15T10:00:00Z.`);
}

function readCursor(text: string | undefined): string | undefined {
  if (text === undefined) return undefined;
  const uuid = readUuid('msg_', text);
  if (uuid !== undefined) return uuid;
  throw new Problem('invalid', 'before: give back what the last answer said, or leave it out.');
}

// ---- Suppressions -------------------------------------------------------------------------------------------------

const suppression = z.strictObject({
  address: z.string().describe('The address, in the form it is compared in.'),
  reason: z.enum(SUPPRESSION_REASONS).describe('Why nobody writes to it any more.'),
  message_id: z.union([z.string(), z.null()]).describe('The mail that led to it.'),
  created_at: z.string().describe('Since when, ISO 8601.'),
});

const showSuppression = ({ address, reason, messageId, createdAt }: ListedSuppression) => ({
  address,
  reason,
  message_id: messageId,
  created_at: createdAt,
});

const address = z.string().describe('An address.').meta({ example: 'ada@example.com' });

const listSuppressionsTool = defineTool({
  name: 'list_suppressions',
  title: 'List suppressed addresses',
  description:
    'Addresses this account must not write to any more, because mail to them bounced, because they complained or unsubscribed, or by hand. By address.',
  scope: 'admin',
  input: z.strictObject({
    search: z.string().optional().describe('A part of the address.'),
    after: z.string().optional().describe('Where to go on: `after` of the last answer.'),
    limit,
  }),
  output: z.strictObject({
    suppressions: z.array(suppression).describe('What was found.'),
    after: z.union([z.string(), z.null()]).describe('Give it back to go on; null: that was all.'),
  }),
  annotations: READS,
  async run(deps: AdminToolDeps, caller, wanted) {
    const found = await listSuppressions(deps.database, caller.accountId, wanted);
    return {
      suppressions: found.map(showSuppression),
      after: found.length === wanted.limit ? (found.at(-1)?.address ?? null) : null,
    };
  },
});

const addSuppressionTool = defineTool({
  name: 'add_suppression',
  title: 'Suppress an address',
  description: 'From now on the account writes no more to this address.',
  scope: 'admin',
  input: z.strictObject({ address }),
  output: suppression,
  annotations: { ...CHANGES, destructiveHint: false },
  run: async (deps: AdminToolDeps, caller, wanted) =>
    showSuppression(await addSuppression(deps.database, caller.accountId, wanted.address)),
});

const removeSuppressionTool = defineTool({
  name: 'remove_suppression',
  title: 'Allow an address again',
  description:
    'Takes an address off the list. Do it only when its owner asked for mail again or the mailbox works again: writing to who complained harms the account’s reputation.',
  scope: 'admin',
  input: z.strictObject({ address }),
  output: suppression,
  annotations: { ...CHANGES, idempotentHint: false },
  run: async (deps: AdminToolDeps, caller, wanted) =>
    showSuppression(await removeSuppression(deps.database, caller.accountId, wanted.address)),
});

// ---- Branding -----------------------------------------------------------------------------------------------------

const brandingShape = {
  brand_name: z.string().optional().describe('Sender name in the footer.'),
  logo_url: z.string().optional().describe('Header logo. Without it the header is text.'),
  primary_color: z.string().optional().describe('Buttons and accents, hex. #00a071 unless set.'),
  accent_color: z.string().optional().describe('Second accent, hex. #00e5a0 unless set.'),
  support_email: z.string().optional().describe('Footer contact.'),
  support_url: z.string().optional().describe('Footer help link.'),
  footer_html: z.string().optional().describe('HTML in the footer, such as a postal address.'),
  button_radius: z
    .number()
    .int()
    .optional()
    .describe('Corners of buttons, 0 to 24 px. 8 unless set.'),
  privacy_policy_url: z.string().optional().describe('Adds a Privacy Policy link to every footer.'),
  terms_url: z.string().optional().describe('Adds a Terms & Conditions link to every footer.'),
} satisfies Record<keyof Branding, z.ZodType>;

const brandingAnswer = z.strictObject({
  version: z.number().int().describe('Raised by every change; 0: nothing was ever set.'),
  branding: z.strictObject(brandingShape).describe('The fields that have a value.'),
});

const getBrandingTool = defineTool({
  name: 'get_branding',
  title: 'Read the branding',
  description: 'Colours, logo, names and links that every template of the account shows.',
  scope: 'admin',
  input: z.strictObject({}),
  output: brandingAnswer,
  annotations: READS,
  async run(deps: AdminToolDeps, caller) {
    const { version, fields } = await readBranding(deps.database, caller.accountId);
    return { version, branding: fields };
  },
});

const setBrandingTool = defineTool({
  name: 'set_branding',
  title: 'Change the branding',
  description:
    'Sets the fields that are given and leaves the others. Every mail sent from a template from now on looks like it.',
  scope: 'admin',
  input: z.strictObject({
    ...brandingShape,
    reset: z
      .array(z.enum(brandingFields as [keyof Branding]))
      .optional()
      .describe('Fields to take back to their default.'),
  }),
  output: brandingAnswer,
  annotations: CHANGES,
  async run(deps: AdminToolDeps, caller, { reset = [], ...set }) {
    const cleared = Object.fromEntries(reset.map((field) => [field, null]));
    const { version, fields } = await setBranding(deps.database, caller.accountId, {
      ...cleared,
      ...set,
    });
    deps.directory.forget(caller.accountId);
    return { version, branding: fields };
  },
});

export const ADMIN_TOOLS: readonly Tool<AdminToolDeps>[] = [
  searchMessagesTool,
  listSuppressionsTool,
  addSuppressionTool,
  removeSuppressionTool,
  getBrandingTool,
  setBrandingTool,
];
