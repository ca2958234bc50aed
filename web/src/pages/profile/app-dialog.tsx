// Sets up an authenticator app: a code to scan, and the first six digits back.
import '@mantine/core/styles/Image.css';
import { Anchor, Image, Skeleton, Stack, Text, TextInput } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { call, useAction } from '../../api.ts';
import { CopyLine } from '../../parts/copy.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { Fault } from '../../parts/fault.tsx';
import { ActionForm } from '../../parts/form.tsx';

interface AppDialogProps {
  opened: boolean;
  onClose: () => void;
  onDone: (codes: string[] | null) => void;
}

export function AppDialog({ opened, onClose, onDone }: AppDialogProps) {
  // Created again whenever the dialog opens, and never stored.
  const secret = useQuery({
    queryKey: ['startApp'],
    queryFn: () => call('startApp'),
    enabled: opened,
    gcTime: 0,
    staleTime: Number.POSITIVE_INFINITY,
  });
  const confirm = useAction('confirmApp', { onDone: ({ codes }) => onDone(codes) });
  return (
    <Dialog opened={opened} onClose={onClose} title="Set up an authenticator app">
      {secret.isError && <Fault fault={secret.error} retry={secret.refetch} />}
      <Stack>
        <Text size="sm">
          Scan this with your app (such as Aegis, 1Password or Google Authenticator), or{' '}
          <Anchor href={secret.data?.link} size="sm" className="plain-link">
            open it on this device
          </Anchor>
          .
        </Text>
        {secret.data ? (
          <Image src={secret.data.qr} alt="QR code for the app" w={200} h={200} mx="auto" />
        ) : (
          <Skeleton w={200} h={200} mx="auto" />
        )}
        <div>
          <Text size="sm" c="dimmed" mb={4}>
            Cannot scan it? Enter this:
          </Text>
          {secret.data ? (
            <CopyLine value={secret.data.secret} label="Copy the secret" />
          ) : (
            <Skeleton h={29} />
          )}
        </div>
        <ActionForm
          action={confirm}
          act="Turn it on"
          onSend={(field) => confirm.mutate({ body: { code: field('code') } })}
        >
          <TextInput
            label="Code"
            description="The six digits the app shows now"
            name="code"
            inputMode="numeric"
            autoComplete="one-time-code"
            required
            withAsterisk={false}
            maxLength={10}
          />
        </ActionForm>
      </Stack>
    </Dialog>
  );
}
