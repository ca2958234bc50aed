// "Confirm it is you" before a change to how someone signs in. Ten minutes after the last password
// or passkey the server asks again; this dialog answers.
import { Button, Stack, Text } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { createContext, type ReactNode, useContext, useState } from 'react';
import type { Proof } from '../../../../src/dashboard/views/factors.ts';
import { call } from '../../api.ts';
import { Dialog } from '../../parts/dialog.tsx';
import { ActionForm } from '../../parts/form.tsx';
import { OwnPassword } from '../../parts/own-password.tsx';
import { passkeysWork, showPasskey } from '../../passkeys.ts';
import { useMe } from '../../session.ts';

const Ask = createContext<() => Promise<boolean>>(async () => false);

/**
 * Resolves to true once the server knows that it is them, and to false if they close the dialog.
 */
export const useProof = () => useContext(Ask);

export function ProofProvider({ children }: { children: ReactNode }) {
  const { user } = useMe();
  const [asked, setAsked] = useState<{ passkey: boolean; answer: (yes: boolean) => void }>();
  const reply = (yes: boolean) => {
    asked?.answer(yes);
    setAsked(undefined);
  };
  const prove = useMutation<unknown, Error, () => Promise<Proof>>({
    mutationFn: async (make) => call('prove', { body: await make() }),
    onSuccess: () => reply(true),
  });
  const ask = async (): Promise<boolean> => {
    const { fresh, passkeys } = await call('getFactors');
    if (fresh) return true;
    prove.reset();
    return await new Promise<boolean>((answer) =>
      setAsked({ passkey: passkeys.length > 0 && passkeysWork(), answer }),
    );
  };
  return (
    <Ask value={ask}>
      {children}
      <Dialog opened={asked !== undefined} onClose={() => reply(false)} title="Confirm it is you">
        <Stack>
          <Text size="sm">This changes how you sign in, so confirm that it is you.</Text>
          <ActionForm
            action={prove}
            act="Continue"
            onSend={(field) => prove.mutate(async () => ({ password: field('password') }))}
          >
            <OwnPassword email={user.email} />
          </ActionForm>
          {asked?.passkey && (
            <Button
              variant="default"
              onClick={() =>
                prove.mutate(async () => ({ passkey: await showPasskey(await call('askProof')) }))
              }
            >
              Use a passkey instead
            </Button>
          )}
        </Stack>
      </Dialog>
    </Ask>
  );
}
