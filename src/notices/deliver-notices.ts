// Emails the notices that the service owes its people (accounts/notices.ts): a sign-in from a new
// place, a new API key, a second factor. Runs beside the API; several processes share the work. If
// no sender is available, a notice is dropped.
import { claimNotices, finishNotice, type Notice } from '../accounts/notices.ts';
import { APPROVAL_PATH, makeApprovalLink, tellApprovers } from '../approvals/approval-links.ts';
import { Problem, type ProblemCode } from '../errors.ts';
import { findOwnMessage } from '../messages/message.ts';
import { membershipsOf } from '../people/sessions.ts';
import { recurringFault } from '../process/recurring-fault.ts';
import { repeatedly } from '../process/repeatedly.ts';
import {
  type NoticeDeps,
  type SystemEmail,
  type SystemWords,
  sendSystemEmail,
} from './system-email.ts';

const EVERY_MS = 1000;

/** After these it is retried; the others would only fail again. */
const PASSING: readonly ProblemCode[] = ['unavailable', 'relay-down', 'over-limit'];

export function startNotices(deps: NoticeDeps): { stop(): Promise<void> } {
  const couldNotEmail = recurringFault(deps.log, 'warn', 'could not email notices');
  return repeatedly(EVERY_MS, () => emailDue(deps), couldNotEmail);
}

async function emailDue(deps: NoticeDeps): Promise<void> {
  await tellApprovers(deps.database);
  for (const notice of await claimNotices(deps.database)) {
    try {
      const email = await write(deps, notice);
      if (email !== undefined) await sendSystemEmail(deps, email);
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      deps.log.info({ notice: notice.kind, detail: error.detail }, 'a notice was not emailed');
      if (PASSING.includes(error.code)) continue;
    }
    await finishNotice(deps.database, notice.id);
  }
}

/** Undefined: there is nothing left to say. */
async function write(deps: NoticeDeps, notice: Notice): Promise<SystemEmail | undefined> {
  const { id, user } = notice;
  const own = (await membershipsOf(deps.database, user.id)).map((account) => account.id);
  const about = 'accountId' in notice.detail ? [notice.detail.accountId] : [];
  const words =
    notice.kind === 'approval'
      ? await wordsOfApproval(deps, notice)
      : wordsOf(notice, deps.baseUrl());
  if (words === undefined) return undefined;
  return {
    to: user.email,
    tag: notice.kind,
    accountIds: [...about, ...own],
    idempotencyKey: `notice ${id}`,
    words,
  };
}

async function wordsOfApproval(
  { database, baseUrl }: NoticeDeps,
  { user, detail }: Extract<Notice, { kind: 'approval' }>,
): Promise<SystemWords | undefined> {
  const message = await findOwnMessage(database, detail.accountId, detail.uuid);
  const token = await makeApprovalLink(database, detail.accountId, detail.uuid, user.id);
  if (message === undefined || token === undefined) return undefined;
  const link = `${baseUrl()}${APPROVAL_PATH}${token}`;
  return {
    template: 'approval-request',
    variables: {
      name: user.name,
      requester_name: 'An agent',
      title: `the email “${message.subject}”`,
      details: [
        { label: 'From', value: message.from },
        { label: 'To', value: message.recipients.join(', ') },
      ],
      // Both lead to the page: opening a link must not decide.
      ...{ approve_url: link, decline_url: link },
    },
  };
}

function wordsOf(notice: Exclude<Notice, { kind: 'approval' }>, baseUrl: string): SystemWords {
  const { name } = notice.user;
  if (notice.kind === 'new-sign-in') {
    const { device, ipAddress } = notice.detail;
    return {
      template: 'new-device-login',
      variables: {
        ...{ name, device, ip_address: ipAddress },
        signed_in_at: inWords(notice.at),
        secure_url: `${baseUrl}/profile`,
      },
    };
  }
  if (notice.kind === 'factor-added') {
    return {
      template: 'two-factor-enabled',
      variables: {
        ...{ name, method: capital(notice.detail.factor), enabled_at: inWords(notice.at) },
        settings_url: `${baseUrl}/profile`,
      },
    };
  }
  if (notice.kind === 'factor-removed' || notice.kind === 'recovery-code-used') {
    return wordsOfLoss(notice, baseUrl);
  }
  const { keyName, prefix, scopes, createdBy } = notice.detail;
  return {
    template: 'api-key-created',
    variables: {
      ...{ name, scopes },
      key_name: keyName ?? 'without a name',
      key_prefix: `${prefix}…`,
      created_at: inWords(notice.at),
      created_by: createdBy ?? 'the operator of the service',
      keys_url: `${baseUrl}/keys`,
    },
  };
}

/** No template of the catalogue says this, and it must be clear without one. */
function wordsOfLoss(
  notice: Extract<Notice, { kind: 'factor-removed' | 'recovery-code-used' }>,
  baseUrl: string,
): SystemWords {
  const [subject, what] =
    notice.kind === 'factor-removed'
      ? [
          `Removed from your sign-in: ${notice.detail.factor}`,
          `On ${inWords(notice.at)} the following was removed from your sign-in: ${notice.detail.factor}.`,
        ]
      : [
          'A recovery code was used to sign in',
          `On ${inWords(notice.at)} someone signed in as you with a recovery code. You have ${notice.detail.left} left.`,
        ];
  return {
    subject,
    text: `Hello ${notice.user.name},\n\n${what}\n\nIf this was you, you do not need to do anything. If not, choose a new password and check your sign-in settings now:\n${baseUrl}/profile\n`,
  };
}

const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

const inWords = (at: Date): string =>
  `${at.toLocaleString('en-GB', { timeZone: 'UTC', dateStyle: 'long', timeStyle: 'short' })} UTC`;
