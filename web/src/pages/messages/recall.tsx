// Recalling an email that is still queued: send it at another time, now, or never.
import { Button, Group, Stack, Text, TextInput } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useState } from 'react';
import type { MessageDetails } from '../../../../src/client/operations.ts';
import { useChange } from '../../operations.ts';
import { useConfirm } from '../../parts/confirm.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { tellDone, tellFault } from '../../parts/results.ts';
import { localInput, readLocalInput } from '../../parts/time.tsx';
import { useMay } from '../../session.ts';

const STALE = ['messages.details', 'messages.list'] as const;

export function Recall({ message }: { message: MessageDetails }) {
  const may = useMay('developer');
  const confirm = useConfirm();
  const cancel = useChange('messages.cancel', {
    changes: [...STALE],
    onDone: () => tellDone('Cancelled. It will not be sent'),
  });
  if (!may || !isRecallable(message)) return null;
  return (
    <>
      <Reschedule message={message} />
      <Button
        variant="default"
        loading={cancel.isPending}
        onClick={async () => {
          const yes = await confirm({
            title: 'Cancel this email?',
            body: `It will not be sent to ${message.recipients.join(', ')}. This cannot be undone, but you can send it again.`,
            act: 'Cancel the email',
          });
          if (yes) cancel.mutate({ sm_mail_id: message.id }, { onError: tellFault });
        }}
      >
        Cancel the email
      </Button>
    </>
  );
}

/** The service decides; this only hides buttons that could not work. */
const isRecallable = ({ status, pending, door }: MessageDetails): boolean =>
  status === 'queued' &&
  door !== 'system' &&
  pending !== null &&
  pending.set_aside === null &&
  pending.unknown.length === 0;

function Reschedule({ message }: { message: MessageDetails }) {
  const [opened, { open, close }] = useDisclosure(false);
  const [at, setAt] = useState('');
  const move = useChange('messages.reschedule', {
    changes: [...STALE],
    onDone: () => {
      close();
      tellDone('The time was changed');
    },
  });
  const to = (scheduled_at: string) =>
    move.mutate({ sm_mail_id: message.id, scheduled_at }, { onError: tellFault });
  return (
    <>
      <Button
        variant="default"
        onClick={() => {
          setAt(localInput(message.scheduled_at ?? new Date().toISOString()));
          open();
        }}
      >
        Change the time
      </Button>
      <Dialog opened={opened} onClose={close} title="When should it be sent?">
        <form
          onSubmit={(event) => {
            event.preventDefault();
            to(readLocalInput(at));
          }}
        >
          <Stack>
            <TextInput
              label="Date and time"
              description="In your time zone, at most 30 days after it was accepted."
              type="datetime-local"
              required
              value={at}
              onChange={(event) => setAt(event.currentTarget.value)}
              data-autofocus
            />
            <Text size="sm" c="dimmed">
              Its content stays as it was accepted.
            </Text>
            <Group justify="flex-end" gap="xs">
              <Button variant="default" loading={move.isPending} onClick={() => to('now')}>
                Send it now
              </Button>
              <Button type="submit" loading={move.isPending}>
                Change the time
              </Button>
            </Group>
          </Stack>
        </form>
      </Dialog>
    </>
  );
}
