// The settings of an endpoint, when it is added and when it is changed.
import { Switch, TextInput } from '@mantine/core';
import type { WebhookEndpoint } from '../../../../src/client/operations.ts';
import { EventTypes } from './event-types.tsx';

export type EndpointChoice = Pick<WebhookEndpoint, 'url' | 'event_types' | 'fifo'>;

interface FieldsProps {
  value: EndpointChoice;
  onChange: (value: EndpointChoice) => void;
}

export function EndpointFields({ value, onChange }: FieldsProps) {
  const change = (part: Partial<EndpointChoice>) => onChange({ ...value, ...part });
  return (
    <>
      <TextInput
        label="Address"
        placeholder="https://example.com/hooks/mail"
        value={value.url}
        onChange={(event) => change({ url: event.currentTarget.value.trim() })}
        required
        withAsterisk={false}
        data-autofocus
      />
      <EventTypes value={value.event_types} onChange={(event_types) => change({ event_types })} />
      <Switch
        label="In order, one at a time"
        description="In the order they happened; a failing event holds back the others"
        checked={value.fifo}
        onChange={(event) => change({ fifo: event.currentTarget.checked })}
      />
    </>
  );
}
