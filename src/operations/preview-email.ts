// preview-email: everything a send does except queueing it: the content, who would get no copy,
// whether a person would have to approve it, and what is left of the quota.
import { z } from 'zod';
import { getAccount } from '../accounts/accounts.ts';
import { readQuota } from '../accounts/usage.ts';
import { Problem } from '../errors.ts';
import { prepareSend, requireNotPaused } from '../sending/accept.ts';
import { withoutCopy } from '../sending/answer.ts';
import { EITHER_BODY, sendRequest } from '../sending/request.ts';
import { finding, findingsIn } from './lint.ts';
import { operation } from './operation.ts';

const output = z
  .object({
    subject: z.string().describe('The subject as it would be sent.'),
    text: z.string().nullable().describe('The plain text as it would be sent; null: none.'),
    recipients: z.array(z.string()).describe('Who would get it: to, cc and bcc.'),
    suppressed: z.array(z.string()).describe('Those of them who would get no copy.'),
    needs_approval: z
      .enum(['always', 'first_contact', 'outside_domain'])
      .nullable()
      .describe('The rule by which a person would have to approve it; null: it would be sent.'),
    findings: z.array(finding).describe('What receivers and readers would object to (lint_email).'),
    size: z.number().int().describe('Bytes of bodies and files.'),
    quota_left: z.number().int().describe('Recipients that are left today, before it.'),
    sandbox: z.boolean().describe('Whether it would be captured and not delivered.'),
  })
  .meta({ id: 'EmailPreview' });

export const previewEmail = operation({
  name: 'preview_email',
  title: 'Preview an email',
  summary:
    'Checks and renders an email exactly as a send would, and queues nothing: its subject and text, who would get no copy, whether a person would have to approve it, what receivers would object to, and the quota left.',
  effect: 'reads',
  scope: 'email:send',
  input: sendRequest,
  output,
  rest: { method: 'POST', path: '/v1/send/preview', oneOf: EITHER_BODY },
  client: 'sendPreview',
  tool: {
    brief: 'Checks and renders an email as send_email would, and queues nothing.',
    idempotent: true,
  },
  async run(deps, caller, input, { door }) {
    requireNotPaused(caller, { door });
    const send = await prepareSend(deps, caller, input, { door });
    if ('answer' in send) throw new Problem('conflict', 'This email was already sent.');
    const { accountId } = caller;
    const { database } = deps;
    const [suppressed, quota, findings] = await Promise.all([
      withoutCopy(deps, send),
      readQuota(deps, await getAccount(database, accountId)),
      findingsIn(deps, accountId, send, send.stream),
    ]);
    return {
      subject: send.subject,
      text: send.text === null ? null : send.text.toString(),
      recipients: [...send.envelope],
      suppressed,
      needs_approval: (send.approval?.split(' ')[0] ?? null) as z.output<
        typeof output
      >['needs_approval'],
      findings,
      size: send.size,
      quota_left: quota.left,
      sandbox: caller.limits?.sandboxOnly === true || deps.inSandbox(),
    };
  },
});
