// The four tools every agent sees, made from the operations that REST runs too.
import { z } from 'zod';
import type { Caller } from '../accounts/directory.ts';
import type { Problem } from '../errors.ts';
import type { TimelineEvent } from '../events/timeline.ts';
import type { Log } from '../log.ts';
import type { Metrics } from '../metrics.ts';
import { getMessage, timelineOutput } from '../operations/get-message.ts';
import { getTemplate } from '../operations/get-template.ts';
import { listTemplates, type TemplateCatalog } from '../operations/list-templates.ts';
import { sendEmail } from '../operations/send-email.ts';
import type { AcceptDeps } from '../sending/accept.ts';
import type { Database } from '../store/pool.ts';
import { adviseOnTemplate } from './template-advice.ts';
import { defineTool, READS, type Tool } from './tool.ts';
import { markings, markTimeline, untrustedFields } from './untrusted.ts';

export interface EmailToolDeps extends AcceptDeps {
  database: Database;
  templates: TemplateCatalog;
  metrics: Metrics;
  log: Log;
}

const listTemplatesTool = defineTool({
  ...listTemplates,
  description: `${listTemplates.summary} Start here when you want to send a mail; then read the one you choose with get_template.`,
  annotations: READS,
  run: listTemplates.run,
});

const getTemplateTool = defineTool({
  ...getTemplate,
  description: `${getTemplate.summary} Copy the sample, put in your own values, and pass it to send_email as variables.`,
  annotations: READS,
  run: getTemplate.run,
  advise: (deps: EmailToolDeps, caller: Caller, wanted, problem: Problem) =>
    adviseOnTemplate(deps.templates, caller, { slug: wanted.slug }, problem),
});

const sendEmailTool = defineTool({
  ...sendEmail,
  description: `${sendEmail.summary} Real people receive it, so send only what you were asked to send. An identical call within 60 seconds is taken for a repeat and mails nobody twice.`,
  input: sendEmail.input.extend({
    idempotency_key: z
      .string()
      .optional()
      .describe(
        'A key of your choice (1 to 255 characters) that makes it safe to call again: for 24 hours the same key with the same mail answers as the first call did.',
      )
      .meta({ example: 'order-4711-receipt' }),
    allow_duplicate: z
      .boolean()
      .optional()
      .describe(
        'Send although an identical mail was sent through this key within the last 60 seconds. Only without idempotency_key.',
      ),
  }),
  output: sendEmail.output.extend({
    duplicate_of_recent: z
      .literal(true)
      .optional()
      .describe(
        'An identical mail was sent through this key within the last 60 seconds. This is its id; nothing was sent now.',
      ),
    sandbox: z
      .literal(true)
      .optional()
      .describe('This key is for the sandbox: the mail is captured and nobody receives it.'),
  }),
  annotations: {
    readOnlyHint: false,
    // A mail cannot be called back, but it destroys nothing that was there.
    destructiveHint: false,
    idempotentHint: false,
    openWorldHint: true,
  },
  async run(deps: EmailToolDeps, caller, { idempotency_key, allow_duplicate, ...request }) {
    const guardRepeats = idempotency_key === undefined && allow_duplicate !== true;
    const { answer, repeated } = await sendEmail.run(deps, caller, request, {
      door: 'mcp',
      idempotencyKey: idempotency_key,
      guardRepeats,
    });
    deps.metrics.accepted.inc();
    if (deps.log.isLevelEnabled('info')) {
      deps.log.info({ door: 'mcp', account: caller.accountId, message: answer.id }, 'accepted');
    }
    return {
      ...answer,
      ...(guardRepeats && repeated ? { duplicate_of_recent: true as const } : {}),
      ...(caller.limits?.sandboxOnly ? { sandbox: true as const } : {}),
    };
  },
  advise: (deps, caller, wanted, problem) =>
    adviseOnTemplate(
      deps.templates,
      caller,
      { slug: wanted.template, variables: wanted.variables },
      problem,
    ),
});

const getEmailStatusTool = defineTool({
  ...getMessage,
  description: `${getMessage.summary} Delivery takes seconds to minutes: ask again later while it is queued or sent, rather than sending again.`,
  output: timelineOutput(untrustedFields).extend(markings),
  annotations: READS,
  async run(deps: EmailToolDeps, caller, input) {
    const { events, ...timeline } = await getMessage.run(deps, caller, input);
    return { ...timeline, ...markTimeline(events as TimelineEvent[]) };
  },
});

export const EMAIL_TOOLS: readonly Tool<EmailToolDeps>[] = [
  listTemplatesTool,
  getTemplateTool,
  sendEmailTool,
  getEmailStatusTool,
];
