// Changes an endpoint's address, events and order.
import { useState } from 'react';
import type { WebhookEndpoint } from '../../../../src/client/operations.ts';
import { useChange } from '../../operations.ts';
import { Dialog } from '../../parts/dialog.tsx';
import { ActionForm } from '../../parts/form.tsx';
import { tellDone } from '../../parts/results.ts';
import { type EndpointChoice, EndpointFields } from './endpoint-fields.tsx';

interface EditProps {
  endpoint: WebhookEndpoint;
  opened: boolean;
  onClose: () => void;
}

export function EditEndpoint({ endpoint, opened, onClose }: EditProps) {
  return (
    <Dialog opened={opened} onClose={onClose} title="Edit the endpoint">
      <EditForm endpoint={endpoint} onClose={onClose} />
    </Dialog>
  );
}

function EditForm({ endpoint, onClose }: Omit<EditProps, 'opened'>) {
  const { id, url, event_types, fifo } = endpoint;
  const [wish, setWish] = useState<EndpointChoice>({ url, event_types, fifo });
  const change = useChange('webhooks.update', {
    changes: ['webhooks.list', 'webhooks.get'],
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
        change.mutate({ id, ...wish });
      }}
    >
      <EndpointFields value={wish} onChange={setWish} />
    </ActionForm>
  );
}
