// Posts past events again: first counted, then sent.
import { Alert, Button, Group, Stack, Switch, TextInput } from '@mantine/core';
import { useState } from 'react';
import { useChange } from '../../operations.ts';
import { Dialog } from '../../parts/dialog.tsx';
import { tellDone } from '../../parts/results.ts';
import { EventTypes, type HookType } from './event-types.tsx';

interface ReplayProps {
  endpointId: string;
  opened: boolean;
  onClose: () => void;
}

const local = (at: number): string =>
  new Date(at - new Date(at).getTimezoneOffset() * 60_000).toISOString().slice(0, 16);

export function ReplayDialog({ endpointId, opened, onClose }: ReplayProps) {
  const [from, setFrom] = useState(() => local(Date.now() - 24 * 3_600_000));
  const [until, setUntil] = useState(() => local(Date.now() + 60_000));
  const [eventTypes, setEventTypes] = useState<HookType[]>([]);
  const [abandoned, setAbandoned] = useState(true);
  const count = useChange('webhooks.replay');
  const send = useChange('webhooks.replay', {
    changes: ['webhooks.listDeliveries', 'webhooks.get'],
    onDone: (answer) => {
      onClose();
      tellDone(
        answer.count === 1
          ? 'One event is being posted again'
          : `${answer.count} events are being posted again`,
      );
    },
  });
  const request = (dry_run: boolean) => ({
    id: endpointId,
    dry_run,
    ...(abandoned
      ? { abandoned }
      : {
          from: new Date(from).toISOString(),
          until: new Date(until).toISOString(),
          event_types: eventTypes,
        }),
  });
  // A count is valid only for the settings it was made with.
  const changed =
    <Value,>(set: (value: Value) => void) =>
    (value: Value) => {
      count.reset();
      set(value);
    };
  const fault = count.error ?? send.error;
  return (
    <Dialog opened={opened} onClose={onClose} title="Replay events" size="lg">
      <Stack>
        {fault && (
          <Alert color="red" role="alert">
            {fault.message}
          </Alert>
        )}
        <Switch
          label="Only abandoned events"
          description="From any time; otherwise every event in a period"
          checked={abandoned}
          onChange={(event) => changed(setAbandoned)(event.currentTarget.checked)}
        />
        {!abandoned && (
          <>
            <Group grow>
              <TextInput
                label="From"
                type="datetime-local"
                value={from}
                onChange={(event) => changed(setFrom)(event.currentTarget.value)}
              />
              <TextInput
                label="Until"
                type="datetime-local"
                value={until}
                onChange={(event) => changed(setUntil)(event.currentTarget.value)}
              />
            </Group>
            <EventTypes value={eventTypes} onChange={changed(setEventTypes)} />
          </>
        )}
        {count.data && (
          <Alert color={count.data.count > 0 ? 'martin' : 'gray'} role="status">
            {count.data.count === 1 ? 'One event' : `${count.data.count} events`} would be posted.
            Events keep their ids, so a receiver can recognise repeats.
          </Alert>
        )}
        <Group justify="flex-end">
          <Button
            variant="default"
            loading={count.isPending}
            disabled={!abandoned && (!from || !until)}
            onClick={() => count.mutate(request(true))}
          >
            Count first
          </Button>
          <Button
            loading={send.isPending}
            disabled={!count.data || count.data.count === 0}
            onClick={() => send.mutate(request(false))}
          >
            Replay
          </Button>
        </Group>
      </Stack>
    </Dialog>
  );
}
