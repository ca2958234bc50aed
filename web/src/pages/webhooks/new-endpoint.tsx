// The dialog that registers an endpoint and then shows its secret, once.
import { Alert, Button, Group, Stack } from '@mantine/core';
import { useState } from 'react';
import { type Output, useChange } from '../../operations.ts';
import { Secret } from '../../parts/copy.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { ActionForm } from '../../parts/form.tsx';
import { type EndpointChoice, EndpointFields } from './endpoint-fields.tsx';

type Made = Output<'webhooks.create'>;

export const SECRET_NOTE =
  'Your server verifies X-SM-Signature with it. Once you close this dialog it cannot be shown again, only replaced.';

export function NewEndpointDialog({ opened, onClose }: { opened: boolean; onClose: () => void }) {
  const [made, setMade] = useState<Made>();
  const close = () => {
    onClose();
    setMade(undefined);
  };
  return (
    <Dialog
      opened={opened}
      onClose={close}
      size="lg"
      title={made ? 'The signing secret' : 'Add an endpoint'}
      closeOnClickOutside={made === undefined}
      closeOnEscape={made === undefined}
    >
      {made === undefined ? (
        <NewEndpointForm onMade={setMade} />
      ) : (
        <Stack>
          <Secret value={made.secret} label="signing secret" note={SECRET_NOTE} />
          {made.warning && <Alert color="yellow">{made.warning}</Alert>}
          <Group justify="flex-end">
            <Button onClick={close}>Done</Button>
          </Group>
        </Stack>
      )}
    </Dialog>
  );
}

function NewEndpointForm({ onMade }: { onMade: (made: Made) => void }) {
  const [wish, setWish] = useState<EndpointChoice>({ url: '', event_types: [], fifo: false });
  const create = useChange('webhooks.create', {
    changes: ['webhooks.list'],
    onDone: onMade,
  });
  return (
    <ActionForm
      action={create}
      act="Add"
      onSend={() => {
        create.mutate(wish);
      }}
    >
      <EndpointFields value={wish} onChange={setWish} />
    </ActionForm>
  );
}
