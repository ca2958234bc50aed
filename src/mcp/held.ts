// A held email as agents see it: that nothing has been sent, what it says and to whom, and where a
// person decides. Before it: sending/accept.ts held it. After it: asking.ts, or the App of
// held-email-app.ts, shows it to a person.
import { z } from 'zod';
import type { Caller } from '../accounts/directory.ts';
import { findApproval } from '../approvals/approvals.ts';
import { readInFull } from '../operations/approvals.ts';
import type { OperationDeps } from '../operations/deps.ts';
import { heldOutput } from '../operations/get-message.ts';
import { finding, findingsIn } from '../operations/lint.ts';
import { requireMessage } from '../operations/message-lookup.ts';
import type { PackedSend } from '../sending/packed-send.ts';

export const NOTHING_LEFT =
  'Nothing has been sent. A person has to approve it; tell them, and do not send it another way.';

export const heldForAgents = heldOutput.extend({
  note: z.string().describe('What that means.'),
  approval_url: z.string().describe('Where a person who is signed in approves or declines it.'),
  recipients: z.array(z.string()).describe('Who would get it.'),
  subject: z.string().describe('Its subject.'),
  text: z.string().nullable().describe('Its plain text.'),
  findings: z
    .array(finding)
    .nullable()
    .describe('What receivers and readers would object to; null: nobody could tell in time.'),
});

type HeldDeps = Pick<OperationDeps, 'database' | 'baseUrl' | 'lint'>;
type ReadDeps = HeldDeps & Pick<OperationDeps, 'wholeEmails'>;

const DAY_MS = 86_400_000;

export async function heldOf(
  deps: HeldDeps & Pick<OperationDeps, 'clock'>,
  id: string,
  send: PackedSend,
): Promise<z.output<typeof heldForAgents>> {
  const [reason, sha256] = send.approval!.split(' ');
  const { accountId, stream } = send;
  return {
    note: NOTHING_LEFT,
    approval_url: `${deps.baseUrl()}/approvals/${id}`,
    reason: reason as z.output<typeof heldOutput>['reason'],
    sha256: sha256!,
    expires_at: new Date(deps.clock.nowMs() + DAY_MS).toISOString(),
    recipients: [...send.envelope],
    subject: send.subject,
    text: send.text === null ? null : send.text.toString(),
    findings: await findingsOn(deps, accountId, send, stream),
  };
}

/** The email is already held, and the answer says so even if checking its content fails. */
const findingsOn = (...email: Parameters<typeof findingsIn>) =>
  findingsIn(...email).catch(() => null);

/** A repeated send gets the same answer as the first one. */
export async function stillHeld(
  deps: ReadDeps,
  caller: Caller,
  id: string,
): Promise<{ held?: z.output<typeof heldForAgents>; suppressed?: string[] }> {
  const { accountId } = caller;
  const message = await requireMessage(deps.database, accountId, id);
  const approval = await findApproval(deps.database, accountId, message.uuid);
  if (approval?.state !== 'waiting') return {};
  const email = await deps.wholeEmails.inTurn(accountId, {}, () =>
    readInFull(deps.database, caller, message, approval),
  );
  const { reason, sha256, expires_at, recipients, subject, text, suppressed } = email;
  const findings = await findingsOn(deps, accountId, email, message.stream);
  const told = { reason, sha256, expires_at, recipients, subject, text, findings };
  return {
    held: { note: NOTHING_LEFT, approval_url: `${deps.baseUrl()}/approvals/${id}`, ...told },
    ...(suppressed.length > 0 ? { suppressed } : {}),
  };
}
