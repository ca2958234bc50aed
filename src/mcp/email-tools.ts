// What agents see of the contract's four operations beyond what REST shows: protection against
// repeats, strangers' text marked, and advice after a refusal.
import { z } from 'zod';
import type { TimelineEvent } from '../events/timeline.ts';
import { getMessage, timelineOutput } from '../operations/get-message.ts';
import { getTemplate } from '../operations/get-template.ts';
import { operation } from '../operations/operation.ts';
import { sendEmail } from '../operations/send-email.ts';
import { acceptSend } from '../sending/accept.ts';
import { adviseOnTemplate } from './template-advice.ts';
import { type Tool, toolOf } from './tool.ts';
import { markings, markTimeline, untrustedFields } from './untrusted.ts';

const sendAsAgent = operation({
  ...sendEmail,
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
  async run(deps, caller, { idempotency_key, allow_duplicate, ...request }) {
    const guardRepeats = idempotency_key === undefined && allow_duplicate !== true;
    const { answer, repeated } = await acceptSend(deps, caller, request, {
      door: 'mcp',
      idempotencyKey: idempotency_key,
      guardRepeats,
    });
    return {
      ...answer,
      ...(guardRepeats && repeated ? { duplicate_of_recent: true as const } : {}),
      ...(caller.limits?.sandboxOnly ? { sandbox: true as const } : {}),
    };
  },
});

const getMessageAsAgent = operation({
  ...getMessage,
  output: timelineOutput(untrustedFields).extend(markings),
  async run(deps, caller, input, via) {
    const { events, ...timeline } = await getMessage.run(deps, caller, input, via);
    return { ...timeline, ...markTimeline(events as TimelineEvent[]) } as never;
  },
});

export const EMAIL_TOOLS: readonly Tool[] = [
  toolOf(getTemplate, ({ templates }, caller, { slug }, problem) =>
    adviseOnTemplate(templates, caller, { slug }, problem),
  ),
  toolOf(sendAsAgent, ({ templates }, caller, { template: slug, variables }, problem) =>
    adviseOnTemplate(templates, caller, { slug, variables }, problem),
  ),
  toolOf(getMessageAsAgent),
];
