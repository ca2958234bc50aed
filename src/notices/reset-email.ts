// The email with the link to a new password. Sent after the answer, which is the same whether or
// not anyone has the address.

import { Problem } from '../errors.ts';
import { makeResetToken, type ResetDeps } from '../people/password-reset.ts';
import { membershipsOf } from '../people/sessions.ts';
import { mayEmailReset } from '../people/sign-in-throttle.ts';
import { findUser } from '../people/users.ts';
import { type NoticeDeps, sendSystemEmail } from './system-email.ts';

export async function emailResetLink(deps: NoticeDeps & ResetDeps, email: string): Promise<void> {
  try {
    const user = await findUser(deps.database, email);
    if (user === undefined || !(await mayEmailReset(deps.database, user.email))) return;
    const accounts = await membershipsOf(deps.database, user.id);
    const token = await makeResetToken(deps, user);
    await sendSystemEmail(deps, {
      to: user.email,
      words: {
        template: 'password-reset',
        variables: {
          name: user.name,
          reset_url: `${deps.baseUrl()}/new-password#${token}`,
          expires_in: 'one hour',
        },
      },
      tag: 'password-reset',
      accountIds: accounts.map(({ id }) => id),
    });
  } catch (error) {
    // Nobody is waiting any more, so only the log can report it.
    if (error instanceof Problem && error.code === 'invalid') return;
    deps.log.warn({ err: error }, 'a link for a new password could not be emailed');
  }
}
