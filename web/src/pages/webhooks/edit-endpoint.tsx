// Changes an endpoint's address, events and order.
import { Modal, Switch, TextInput } from '@mantine/core';
import { useState } from 'react';
import type { WebhookEndpoint } from '../../../../src/dashboard/views/webhooks.ts';
import { useAction } from '../../api.ts';
import { ActionForm } from '../../parts/form.tsx';
import { tellDone } from '../../parts/results.ts';
import { EventTypes } from './event-types.tsx';

interface EditProps {
  endpoint: WebhookEndpoint;
  opened: boolean;
  onClose: () => void;
}

export function EditEndpoint({ endpoint, opened, onClose }: EditProps) {
  return (
    <Modal opened={opened} onClose={onClose} title="Edit the endpoint">
      <EditForm endpoint={endpoint} onClose={onClose} />
    </Modal>
  );
}

function EditForm({ endpoint, onClose }: Omit<EditProps, 'opened'>) {
  const [url, setUrl] = useState(endpoint.url);
  const [eventTypes, setEventTypes] = useState(endpoint.eventTypes);
  const [fifo, setFifo] = useState(endpoint.fifo);
  const change = useAction('changeWebhook', {
    changes: ['listWebhooks'],
    onDone: () => {
      onClose();
      tellDone('Saved');
    },
  });
  return (
    <ActionForm
      action={change}
      act="Save"
      onSend={() => {
        change.mutate({ params: { id: endpoint.id }, body: { url: url.trim(), eventTypes, fifo } });
      }}
    >
      <TextInput
        label="Address"
        value={url}
        onChange={(event) => setUrl(event.currentTarget.value)}
        required
        withAsterisk={false}
        data-autofocus
      />
      <EventTypes value={eventTypes} onChange={setEventTypes} />
      <Switch
        label="In order, one at a time"
        checked={fifo}
        onChange={(event) => setFifo(event.currentTarget.checked)}
      />
    </ActionForm>
  );
}
