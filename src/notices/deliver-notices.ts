// Mails the notices that the service owes its people (accounts/notices.ts): a sign-in from
// somewhere new, a new API key. Runs beside the API; several processes share the work. Without a
// sender that may write, a notice is dropped.
import { claimNotices, finishNotice, type Notice } from '../accounts/notices.ts';
import { Problem, type ProblemCode } from '../errors.ts';
import { listOwnAccounts } from '../people/sessions.ts';
import { recurringFault } from '../recurring-fault.ts';
import type { NoticeDeps } from './system-mail.ts';
import { type SystemMail, sendSystemMail } from './system-mail.ts';

const EVERY_MS = 1000;

/** After these it is tried again; nothing will change about the others. */
const PASSING: readonly ProblemCode[] = ['unavailable', 'relay-down', 'over-limit'];

export function startNotices(deps: NoticeDeps): { stop(): Promise<void> } {
  const couldNotMail = recurringFault(deps.log, 'warn', 'could not mail notices');
  let mailing: Promise<void> | undefined;
  const timer = setInterval(() => {
    mailing ??= mailDue(deps)
      .catch(couldNotMail)
      .finally(() => {
        mailing = undefined;
      });
  }, EVERY_MS);
  return {
    async stop() {
      clearInterval(timer);
      await mailing;
    },
  };
}

async function mailDue(deps: NoticeDeps): Promise<void> {
  for (const notice of await claimNotices(deps.database)) {
    try {
      await sendSystemMail(deps, await write(deps, notice));
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      deps.log.info({ notice: notice.kind, detail: error.detail }, 'a notice was not mailed');
      if (PASSING.includes(error.code)) continue;
    }
    await finishNotice(deps.database, notice.id);
  }
}

async function write(deps: NoticeDeps, notice: Notice): Promise<SystemMail> {
  const { id, user } = notice;
  const own = (await listOwnAccounts(deps.database, user.id)).map((account) => account.id);
  const about = notice.kind === 'new-key' ? [notice.detail.accountId] : [];
  return {
    to: user.email,
    tag: notice.kind,
    accountIds: [...about, ...own],
    idempotencyKey: `notice ${id}`,
    ...wordsOf(notice, deps.baseUrl()),
  };
}

function wordsOf(notice: Notice, baseUrl: string): Pick<SystemMail, 'template' | 'variables'> {
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

const inWords = (at: Date): string =>
  `${at.toLocaleString('en-GB', { timeZone: 'UTC', dateStyle: 'long', timeStyle: 'short' })} UTC`;
