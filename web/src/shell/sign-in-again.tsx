// Asks for the password over a page whose session ended (interruptions.tsx).
import { Button, Group, Text } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import type { Me, SessionState } from '../../../src/dashboard/views/session.ts';
import {
  call,
  isRead,
  OTHER_ACCOUNT_KEY,
  SESSION_ENDED_KEY,
  SESSION_KEY,
  useAction,
} from '../api.ts';
import { Dialog } from '../parts/dialog.tsx';
import { ActionForm } from '../parts/form.tsx';
import { OwnPassword } from '../parts/own-password.tsx';
import { SecondFactor, useEntered } from '../parts/second-factor.tsx';
import { useMe } from '../session.ts';

export function SignInAgainDialog({ opened }: { opened: boolean }) {
  const { user, account } = useMe();
  const queries = useQueryClient();
  const navigate = useNavigate();
  const goOn = async (signedIn: Me) => {
    const me = await backTo(account?.id, signedIn);
    // The page still belongs to its account, and asks (other-account.tsx): what is written in it
    // must not go into another one.
    if (me === undefined) queries.setQueryData(OTHER_ACCOUNT_KEY, true);
    else queries.setQueryData<SessionState>(SESSION_KEY, { state: 'signed-in', me });
    queries.setQueryData(SESSION_ENDED_KEY, false);
    void queries.invalidateQueries({ predicate: isRead });
  };
  const step = useEntered((me) => void goOn(me));
  const signIn = useAction('signIn', { onDone: step.entered });
  const leave = () => {
    queries.setQueryData(SESSION_ENDED_KEY, false);
    queries.setQueryData<SessionState>(SESSION_KEY, { state: 'signed-out', me: null });
    void navigate({ to: '/sign-in', ignoreBlocker: true });
  };
  return (
    <Dialog
      opened={opened}
      onClose={() => undefined}
      // Over a dialog of the page, which may be open.
      zIndex={300}
      withCloseButton={false}
      closeOnEscape={false}
      closeOnClickOutside={false}
      title="Your session has ended"
    >
      <Text size="sm" mb="md">
        Sign in again as <b>{user.email}</b> to continue where you are. What you have written is
        still here.
      </Text>
      {step.need ? (
        <SecondFactor {...step} need={step.need} />
      ) : (
        <ActionForm
          action={signIn}
          act="Sign in"
          onSend={(field) =>
            signIn.mutate({ body: { email: user.email, password: field('password') } })
          }
        >
          <OwnPassword email={user.email} />
        </ActionForm>
      )}
      <Group mt="md">
        <Button variant="subtle" color="gray" size="compact-sm" onClick={leave}>
          Sign in as someone else
        </Button>
      </Group>
    </Dialog>
  );
}

/**
 * A new session begins in the user's first account, but the open page belongs to this one.
 * Undefined: it cannot be entered.
 */
async function backTo(accountId: number | undefined, me: Me): Promise<Me | undefined> {
  if (accountId === undefined || me.account?.id === accountId) return me;
  return await call('switchAccount', { body: { accountId } }).catch(() => undefined);
}
