// Creates a stream, or changes what recipients read about it.
import { Select, Switch, Textarea, TextInput } from '@mantine/core';
import { useState } from 'react';
import type { Stream } from '../../../../src/client/operations.ts';
import { STREAM_KINDS, type StreamKind } from '../../../../src/messages/stream.ts';
import { useChange } from '../../operations.ts';
import { Dialog } from '../../parts/dialog.tsx';
import { ActionForm } from '../../parts/form.tsx';
import { tellDone } from '../../parts/results.ts';
import { capital } from '../../parts/status.tsx';

interface StreamDialogProps {
  /** Null: a new one. Undefined: the dialog is closed. */
  stream: Stream | null | undefined;
  onClose: () => void;
}

export function StreamDialog({ stream, onClose }: StreamDialogProps) {
  return (
    <Dialog
      opened={stream !== undefined}
      onClose={onClose}
      title={stream ? `Change ${stream.title}` : 'New stream'}
    >
      {stream !== undefined && (
        <StreamForm key={stream?.name ?? ''} stream={stream} onClose={onClose} />
      )}
    </Dialog>
  );
}

function StreamForm({ stream, onClose }: { stream: Stream | null; onClose: () => void }) {
  const [kind, setKind] = useState<StreamKind>(stream?.kind ?? 'broadcast');
  const [leavable, setLeavable] = useState(stream?.unsubscribe ?? false);
  const put = useChange('streams.put', {
    changes: ['streams.list'],
    onDone: ({ title }) => {
      onClose();
      tellDone(stream ? `${title} is saved.` : `${title} is ready.`);
    },
  });
  return (
    <ActionForm
      action={put}
      act={stream ? 'Save' : 'Create it'}
      onSend={(field) => {
        const title = field('title').trim();
        put.mutate({
          name: stream?.name ?? field('name').trim(),
          kind,
          ...(title !== '' && { title }),
          description: field('description').trim(),
          ...(kind === 'transactional' && { unsubscribe: leavable }),
        });
      }}
    >
      {stream === null && (
        <>
          <TextInput
            name="name"
            label="Name"
            description="What a send gives as stream: lowercase letters, digits and hyphens"
            placeholder="product-news"
            required
            withAsterisk={false}
            data-autofocus
          />
          <Select
            label="Kind"
            description="Broadcast: sent to many, everyone can leave it, and it waits behind other emails. You cannot change this later."
            data={STREAM_KINDS.map((value) => ({ value, label: capital(value) }))}
            value={kind}
            onChange={(value) => setKind(value as StreamKind)}
            allowDeselect={false}
          />
        </>
      )}
      <TextInput
        name="title"
        label="Title"
        description="Its name on the recipients' preference page"
        defaultValue={stream?.title ?? ''}
        maxLength={100}
      />
      <Textarea
        name="description"
        label="Description"
        description="What they will receive"
        defaultValue={stream?.description ?? ''}
        maxLength={500}
      />
      {kind === 'transactional' && (
        <Switch
          label="Recipients can leave it"
          description="List-Unsubscribe in every email of the stream, except those about signing in"
          checked={leavable}
          onChange={(event) => setLeavable(event.currentTarget.checked)}
        />
      )}
    </ActionForm>
  );
}
