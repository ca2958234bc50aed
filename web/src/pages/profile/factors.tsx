// How someone signs in besides the password: passkeys, an authenticator app, recovery codes.
import { ActionIcon, Button, Group, Paper, Stack, Text, TextInput } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import type { FactorsView } from '../../../../src/dashboard/views/factors.ts';
import { call, SESSION_KEY, useApi } from '../../api.ts';
import { useConfirm } from '../../parts/confirm.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { Fault } from '../../parts/fault.tsx';
import { ActionForm } from '../../parts/form.tsx';
import { TrashIcon } from '../../parts/icons.tsx';
import { LoadingRows, Section } from '../../parts/page.tsx';
import { tellDone, tellFault } from '../../parts/results.ts';
import { Time } from '../../parts/time.tsx';
import { makePasskey, passkeysWork } from '../../passkeys.ts';
import { AppDialog } from './app-dialog.tsx';
import { ProofProvider, useProof } from './proof.tsx';
import { RecoveryCodesDialog } from './recovery-codes.tsx';

export function Factors() {
  const factors = useApi('getFactors');
  return (
    <Section
      title="Second factor"
      lead="With a second factor, a stolen password is not enough. A passkey also replaces the password."
    >
      {factors.isError && !factors.data && <Fault fault={factors.error} retry={factors.refetch} />}
      {factors.isPending && <LoadingRows rows={2} height={39} />}
      {factors.data && (
        <ProofProvider>
          <FactorList factors={factors.data} />
        </ProofProvider>
      )}
    </Section>
  );
}

function FactorList({ factors }: { factors: FactorsView }) {
  const [codes, setCodes] = useState<string[] | null>(null);
  const [settingUp, setSettingUp] = useState(false);
  const [naming, setNaming] = useState(false);
  const changed = useChanged();
  const added = (made: string[] | null) => {
    setSettingUp(false);
    setNaming(false);
    setCodes(made);
    tellDone('Added');
    void changed();
  };
  const change = useGrave();
  const hasOne = factors.app || factors.passkeys.length > 0;
  return (
    <Paper p="lg" maw={640}>
      <Stack gap="lg">
        <Line
          name="Passkeys"
          what={
            passkeysWork()
              ? 'Your fingerprint, face or PIN, or a security key'
              : 'Only available over https with a host name (or on localhost)'
          }
        >
          <Button
            variant="default"
            disabled={!passkeysWork()}
            onClick={() => change(async () => setNaming(true))}
          >
            Add a passkey
          </Button>
        </Line>
        {factors.passkeys.map((one) => (
          <PasskeyLine key={one.id} passkey={one} />
        ))}
        <Line
          name="Authenticator app"
          what={factors.app ? 'Set up' : 'A six-digit code that changes'}
        >
          {factors.app ? (
            <RemoveApp />
          ) : (
            <Button variant="default" onClick={() => change(async () => setSettingUp(true))}>
              Set up an app
            </Button>
          )}
        </Line>
        {hasOne && (
          <Line name="Recovery codes" what={`${factors.recoveryCodes} of 10 left`}>
            <Button
              variant="default"
              onClick={() =>
                change(async () => {
                  setCodes((await call('makeRecoveryCodes')).codes);
                  void changed();
                })
              }
            >
              Create new codes
            </Button>
          </Line>
        )}
      </Stack>
      <AppDialog opened={settingUp} onClose={() => setSettingUp(false)} onDone={added} />
      <NewPasskeyDialog opened={naming} onClose={() => setNaming(false)} onDone={added} />
      <RecoveryCodesDialog codes={codes} onClose={() => setCodes(null)} />
    </Paper>
  );
}

function Line({ name, what, children }: { name: string; what: ReactNode; children: ReactNode }) {
  return (
    <Group justify="space-between" gap="xs">
      <div>
        <Text size="sm" fw={600}>
          {name}
        </Text>
        <Text size="sm" c="dimmed" component="div">
          {what}
        </Text>
      </div>
      {children}
    </Group>
  );
}

function PasskeyLine({ passkey }: { passkey: FactorsView['passkeys'][number] }) {
  const confirm = useConfirm();
  const change = useGrave();
  const changed = useChanged();
  const { id, name, createdAt, lastUsedAt } = passkey;
  const remove = async () => {
    const yes = await confirm({
      title: `Remove ${name}?`,
      body: 'You can no longer sign in with it. Remove it from the device as well.',
      act: 'Remove the passkey',
    });
    if (!yes) return;
    await change(async () => {
      await call('removePasskey', { params: { id } });
      await changed();
      tellDone(`${name} was removed`);
    });
  };
  return (
    <Group justify="space-between" gap="xs" pl="md" wrap="nowrap">
      <div className="cut">
        <Text size="sm" truncate>
          {name}
        </Text>
        <Text size="xs" c="dimmed">
          Added <Time at={createdAt} />
          {lastUsedAt ? (
            <>
              , used <Time at={lastUsedAt} />
            </>
          ) : (
            ', never used'
          )}
        </Text>
      </div>
      <ActionIcon aria-label={`Remove ${name}`} onClick={() => void remove()}>
        <TrashIcon size={16} />
      </ActionIcon>
    </Group>
  );
}

function RemoveApp() {
  const confirm = useConfirm();
  const change = useGrave();
  const changed = useChanged();
  const remove = async () => {
    const yes = await confirm({
      title: 'Remove the authenticator app?',
      body: 'Its codes stop working. Without another factor, your password alone is enough to sign in.',
      act: 'Remove the app',
    });
    if (!yes) return;
    await change(async () => {
      await call('removeApp');
      await changed();
      tellDone('The app was removed');
    });
  };
  return (
    <Button variant="default" onClick={() => void remove()}>
      Remove
    </Button>
  );
}

interface DialogProps {
  opened: boolean;
  onClose: () => void;
  onDone: (codes: string[] | null) => void;
}

function NewPasskeyDialog({ opened, onClose, onDone }: DialogProps) {
  const add = useMutation<{ codes: string[] | null }, Error, string>({
    mutationFn: async (name) => {
      const response = await makePasskey(await call('startPasskey'));
      return await call('addPasskey', { body: { name, response } });
    },
    onSuccess: ({ codes }) => onDone(codes),
  });
  return (
    <Dialog opened={opened} onClose={onClose} title="Add a passkey">
      <ActionForm action={add} act="Continue" onSend={(field) => add.mutate(field('name').trim())}>
        <TextInput
          label="Name"
          description="So you recognise it, such as “Work laptop”"
          name="name"
          required
          withAsterisk={false}
          maxLength={100}
          data-autofocus
        />
      </ActionForm>
    </Dialog>
  );
}

/** Runs an action that the server allows only to someone who has just confirmed their identity. */
function useGrave() {
  const prove = useProof();
  return async (act: () => Promise<void>): Promise<void> => {
    try {
      if (await prove()) await act();
    } catch (fault) {
      tellFault(fault);
    }
  };
}

/** The list, and whether this session is strong enough for the account. */
function useChanged() {
  const queries = useQueryClient();
  return async () => {
    await queries.invalidateQueries({ queryKey: ['getFactors'] });
    queries.setQueryData(SESSION_KEY, await call('getSession'));
  };
}
