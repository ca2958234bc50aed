// What agents see of sending and reading beyond what REST shows: protection against repeats, what
// is held, which recipients get nothing, each recipient's status, and advice after a refusal.
import { z } from 'zod';
import type { Caller } from '../accounts/directory.ts';
import { parseMailbox } from '../addresses.ts';
import { waitingAmong } from '../approvals/approvals.ts';
import { readMessageDetails } from '../delivery/message-details.ts';
import type { TimelineEvent } from '../events/timeline.ts';
import { readUuid } from '../ids.ts';
import { STATUSES } from '../messages/status.ts';
import { DEFAULT_STREAM } from '../messages/stream.ts';
import type { OperationDeps } from '../operations/deps.ts';
import { followOperations } from '../operations/follow-email.ts';
import { getMessage, timelineOutput } from '../operations/get-message.ts';
import { getTemplate } from '../operations/get-template.ts';
import { listTemplates } from '../operations/list-templates.ts';
import { messageUuid } from '../operations/message-lookup.ts';
import { listMessages } from '../operations/messages.ts';
import { type Operation, operation } from '../operations/operation.ts';
import { previewEmail } from '../operations/preview-email.ts';
import { recallOperations } from '../operations/recalls.ts';
import { runBatch, sendBatch } from '../operations/send-batch.ts';
import { sendEmail } from '../operations/send-email.ts';
import { acceptSend } from '../sending/accept.ts';
import type { Accepted } from '../sending/answer.ts';
import type { BatchAnswer, BatchRequest } from '../sending/batch-request.ts';
import { sendRequest } from '../sending/request.ts';
import { suppressedRecipients } from '../suppressions/suppressions.ts';
import { accountForAgents } from './account-tool.ts';
import { sayingWhetherItLeaves } from './captured.ts';
import { heldForAgents, heldOf, NOTHING_LEFT, stillHeld } from './held.ts';
import { mayManage, searchAsAgent } from './search-tool.ts';
import { adviseOnTemplate } from './template-advice.ts';
import { type Tool, toolOf } from './tool.ts';
import { boundTimeline, leftOut } from './untrusted.ts';

const sendAsAgent = operation({
  ...sendEmail,
  input: sendEmail.input.extend({
    idempotency_key: z
      .string()
      .optional()
      .describe('Makes a repeat safe: for 24 hours the same key gets the same answer.')
      .meta({ example: 'order-4711-receipt' }),
    allow_duplicate: z
      .boolean()
      .optional()
      .describe('Send it even if the same one was sent within 60 seconds.'),
  }),
  output: sendEmail.output.extend({
    duplicate_of_recent: z
      .literal(true)
      .optional()
      .describe('The same email was sent within 60 seconds: this is its id, nothing was sent now.'),
    held: heldForAgents.optional().describe('It waits for a person: nothing has been sent.'),
    suppressed: z.array(z.string()).optional().describe('Recipients who get no copy.'),
    sandbox: z.literal(true).optional().describe('It is captured, and nobody receives it.'),
    warnings: z
      .array(z.string())
      .optional()
      .describe('It was queued, but receivers may reject it: why, and what to do.'),
  }),
  async run(deps, caller, { idempotency_key, allow_duplicate, ...request }) {
    const alone = idempotency_key === undefined;
    const wanted = allow_duplicate === true;
    const accepted = await acceptSend(deps, caller, request, {
      door: 'mcp',
      idempotencyKey: idempotency_key,
      guardRepeats: alone && !wanted,
      askRepeats: !alone && !wanted,
      tellSuppressed: true,
    });
    const { id, status } = accepted.answer;
    return {
      id,
      status,
      ...(alone && !wanted && accepted.repeated ? { duplicate_of_recent: true as const } : {}),
      ...(await factsOf(deps, caller, accepted)),
      ...(isSandbox(deps, caller) ? { sandbox: true as const } : {}),
      ...(accepted.warnings.length > 0 ? { warnings: [...accepted.warnings] } : {}),
    };
  },
});

/** No agent should report "sent" when the email waits, or when a recipient gets no copy. */
async function factsOf(deps: OperationDeps, caller: Caller, accepted: Accepted) {
  const { answer, send, suppressed = [] } = accepted;
  if (send === undefined) return await stillHeld(deps, caller, answer.id);
  return {
    ...(send.approval === null ? {} : { held: await heldOf(deps, answer.id, send) }),
    ...(suppressed.length > 0 ? { suppressed: [...suppressed] } : {}),
  };
}

const isSandbox = (
  deps: Pick<OperationDeps, 'inSandbox'>,
  { limits }: { limits: { sandboxOnly: boolean } | null },
): boolean => limits?.sandboxOnly === true || deps.inSandbox();

const EACH = 'Each as {to, variables}.';

/** One email for many recipients; different emails take one call of send_email each. */
const sendToManyAsAgent = operation({
  ...sendBatch,
  title: 'Send to many',
  summary:
    'Queue one email for up to 100 people: each gets their own and sees nobody else. Other fields are those of send_email.',
  input: sendBatch.input
    .omit({ emails: true })
    .required({ recipients: true, from_email: true })
    .extend({ recipients: sendBatch.input.shape.recipients.unwrap().describe(EACH) }),
  output: sendBatch.output.extend({
    held: z
      .object({
        note: z.string().describe('What that means.'),
        waiting: z.number().int().describe('How many of them wait for a person.'),
        approval_url: z.string().describe('Where a person who is signed in decides.'),
      })
      .optional()
      .describe('Some are waiting for a person: none of these has been sent.'),
    suppressed: z.array(z.string()).optional().describe('Recipients who get no copy.'),
    sandbox: z.literal(true).optional().describe('Everything is captured, and nobody receives it.'),
  }),
  async run(deps, caller, input, via) {
    const answer = await runBatch(deps, caller, input, via, { guardRepeats: true });
    return { ...answer, ...(await factsOfMany(deps, caller, input, answer)) };
  },
});

async function factsOfMany(
  deps: OperationDeps,
  caller: Caller,
  { recipients = [], stream }: BatchRequest,
  { data }: BatchAnswer,
) {
  const { database, baseUrl } = deps;
  const { accountId } = caller;
  const uuids = data.map(({ id }) => readUuid('msg_', id)!);
  const { size: waiting } = await waitingAmong(database, accountId, uuids);
  const people = recipients
    .flatMap((it) => (it as { to: string | string[] }).to)
    .flatMap((written) => {
      const mailbox = parseMailbox(written);
      return 'address' in mailbox ? [mailbox.address] : [];
    });
  const heeded = stream ?? DEFAULT_STREAM;
  const suppressed = await suppressedRecipients(database, accountId, people, heeded);
  return {
    ...(waiting > 0 && {
      held: { note: NOTHING_LEFT, waiting, approval_url: `${baseUrl()}/approvals` },
    }),
    ...(suppressed.length > 0 && { suppressed }),
    ...(isSandbox(deps, caller) && { sandbox: true as const }),
  };
}

const recipientStatus = z.object({
  address: z.string().describe('The recipient.'),
  status: z.enum(STATUSES).describe('What happened to their copy.'),
});

const { after: _, ...ofMessages } = getMessage;

const getMessageAsAgent = operation({
  ...ofMessages,
  output: timelineOutput({}).extend({
    ...leftOut,
    recipient_status: z.array(recipientStatus).describe('What happened to each copy.'),
    sandbox: z.literal(true).optional().describe('It was captured, and nobody receives it.'),
  }),
  async run(deps, caller, input, via) {
    const { events, ...timeline } = await getMessage.run(deps, caller, input, via);
    const uuid = messageUuid(input.sm_mail_id);
    const details = await readMessageDetails(deps, caller.accountId, uuid);
    return {
      ...timeline,
      ...(details?.sandbox || deps.inSandbox() ? { sandbox: true } : {}),
      recipient_status: (details?.recipientStates ?? []).map(({ address, status }) => ({
        ...{ address, status },
      })),
      ...boundTimeline(events as TimelineEvent[]),
    } as never;
  },
});

const OF_SENDS: ReadonlySet<string> = new Set(Object.keys(sendRequest.shape));
const TOLD_OF_BATCHES: ReadonlySet<string> = new Set([...OF_SENDS].filter((it) => it !== 'to'));

const OF_SEARCHES: ReadonlySet<string> = new Set(
  Object.keys(listMessages.input.shape).filter((name) => name !== 'after' && name !== 'before'),
);

const ABOUT_ONE = [
  ...followOperations,
  ...recallOperations,
] as readonly object[] as readonly Operation[];
const TOLD_OF_ONE: ReadonlySet<string> = new Set(['sm_mail_id', 'scheduled_at']);

/** The catalogue's templates are our own text. */
const ofCatalogue = (part: Record<string, unknown>): boolean =>
  'slug' in part && 'description' in part && part.own !== true;

export const EMAIL_TOOLS: readonly Tool[] = [
  { ...toolOf(listTemplates), ours: ofCatalogue },
  {
    ...toolOf(getTemplate, ({ templates }, caller, { slug }, problem) =>
      adviseOnTemplate(templates, caller, { slug }, problem),
    ),
    ours: ofCatalogue,
  },
  toolOf(sendAsAgent, ({ templates }, caller, { template: slug, variables }, problem) =>
    adviseOnTemplate(templates, caller, { slug, variables }, problem),
  ),
  toolOf(
    sendToManyAsAgent,
    ({ templates }, caller, { template: slug, variables }, problem) =>
      adviseOnTemplate(templates, caller, { slug, variables }, problem),
    TOLD_OF_BATCHES,
  ),
  toolOf(
    previewEmail,
    ({ templates }, caller, { template: slug, variables }, problem) =>
      adviseOnTemplate(templates, caller, { slug, variables }, problem),
    OF_SENDS,
  ),
  toolOf(getMessageAsAgent),
  {
    ...toolOf(searchAsAgent, undefined, OF_SEARCHES),
    isFor: (caller) => mayManage(caller) || caller.scopes.has('email:read'),
  },
  toolOf(accountForAgents),
  ...ABOUT_ONE.map((of) => toolOf(sayingWhetherItLeaves(of), undefined, TOLD_OF_ONE)),
];
