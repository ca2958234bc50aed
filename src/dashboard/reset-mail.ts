// The mail with the link to a new password. Sent after the answer, which is the same whether or not anybody has the address.
import { makeResetToken } from '../accounts/password-reset.ts';
import { listOwnAccounts } from '../accounts/sessions.ts';
import { mayMailReset } from '../accounts/sign-in-throttle.ts';
import { findUser } from '../accounts/users.ts';
import { Problem } from '../errors.ts';
import type { DashboardDeps } from './deps.ts';
import { sendSystemMail } from './system-mail.ts';

export async function mailResetLink(deps: DashboardDeps, email: string): Promise<void> {
  try {
    const user = await findUser(deps.database, email);
    if (user === undefined || !(await mayMailReset(deps.database, user.email))) return;
    const accounts = await listOwnAccounts(deps.database, user.id);
    const token = await makeResetToken(deps, user);
    await sendSystemMail(deps, {
      to: user.email,
      template: 'password-reset',
      variables: {
        name: user.name,
        reset_url: `${deps.baseUrl()}/new-password#${token}`,
        expires_in: 'one hour',
      },
      tag: 'password-reset',
      accountIds: accounts.map(({ id }) => id),
    });
  } catch (error) {
    // Nobody waits for it any more, so the log is where it can be told.
    if (error instanceof Problem && error.code === 'invalid') return;
    deps.log.warn({ err: error }, 'a link for a new password could not be mailed');
  }
}
