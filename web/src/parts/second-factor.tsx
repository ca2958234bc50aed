// The second question when someone signs in: a code from their app, a recovery code, or a passkey.
// Before it: the password (or a link in its place) was right. Used on the sign-in pages and where a
// session ended under a page.
import { Button, Stack, Text, TextInput } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import type { Entered, Me, SecondFactorNeeded } from '../../../src/dashboard/views/session.ts';
import { call, useAction } from '../api.ts';
import { passkeysWork, showPasskey } from '../passkeys.ts';
import { ActionForm } from './form.tsx';

type Need = SecondFactorNeeded['secondFactor'];

/** The result of a sign-in: `enter` is called once nothing more has to be asked. */
export function useEntered(enter: (me: Me) => void) {
  const [need, setNeed] = useState<Need | null>(null);
  return {
    need,
    enter,
    entered: (answer: Entered) =>
      'secondFactor' in answer ? setNeed(answer.secondFactor) : enter(answer),
    startAgain: () => setNeed(null),
  };
}

export function usePasskeySignIn(enter: (me: Me) => void, accountId?: number | null) {
  return useMutation<Me, Error, void>({
    mutationFn: async () => {
      const assertion = await showPasskey(await call('askPasskey'));
      return await call('signInWithPasskey', {
        body: { assertion, ...(accountId ? { accountId } : {}) },
      });
    },
    onSuccess: enter,
  });
}

interface SecondFactorProps {
  need: Need;
  enter: (me: Me) => void;
  startAgain: () => void;
}

export function SecondFactor({ need, enter, startAgain }: SecondFactorProps) {
  const give = useAction('signInWithCode', { onDone: enter });
  const show = usePasskeySignIn(enter, need.accountId);
  const passkey = need.passkey && passkeysWork();
  return (
    <Stack>
      {passkey && (
        <Button loading={show.isPending} onClick={() => show.mutate()} data-autofocus>
          Use a passkey
        </Button>
      )}
      {show.error && (
        <Text size="sm" c="red.8" role="alert">
          {show.error.message}
        </Text>
      )}
      <ActionForm
        action={give}
        act="Continue"
        onSend={(field) =>
          give.mutate({ body: { ticket: need.ticket, code: field('code').trim() } })
        }
      >
        <TextInput
          label={need.app ? 'Code' : 'Recovery code'}
          description={
            need.app
              ? 'The six digits your authenticator app shows, or one of your recovery codes'
              : 'One of the codes you saved when you added the passkey'
          }
          name="code"
          autoComplete="one-time-code"
          spellCheck={false}
          required
          withAsterisk={false}
          maxLength={40}
          {...(!passkey && { 'data-autofocus': true })}
        />
      </ActionForm>
      <Button variant="subtle" color="gray" size="compact-sm" onClick={startAgain}>
        Start again
      </Button>
    </Stack>
  );
}
