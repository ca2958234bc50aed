// Posts an example event now and shows what came back.
import { Alert, Button, Group, Select, Stack, Text } from '@mantine/core';
import { useState } from 'react';
import { EVENT_TYPES } from '../../../../src/client/operations.ts';
import { useChange } from '../../operations.ts';
import { CodeBlock } from '../../parts/copy.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { ActionFault } from '../../parts/fault.tsx';
import type { HookType } from './event-types.tsx';

interface TestProps {
  endpointId: string;
  opened: boolean;
  onClose: () => void;
}

export function TestEvent({ endpointId, opened, onClose }: TestProps) {
  const [eventType, setEventType] = useState<HookType>('delivery');
  const test = useChange('webhooks.test');
  const result = test.data;
  return (
    <Dialog opened={opened} onClose={onClose} title="Send a test event" size="lg">
      <Stack>
        <Group align="flex-end" wrap="nowrap">
          <Select
            flex={1}
            label="Event"
            data={EVENT_TYPES}
            value={eventType}
            onChange={(value) => setEventType((value ?? 'delivery') as HookType)}
            data-autofocus
          />
          <Button
            loading={test.isPending}
            onClick={() => test.mutate({ id: endpointId, event_type: eventType })}
          >
            Send
          </Button>
        </Group>
        <ActionFault fault={test.error} />
        {result && (
          <Alert
            color={result.ok ? 'martin' : 'red'}
            title={result.ok ? `Accepted with ${result.status}` : 'It failed'}
            role="status"
          >
            <Text size="sm">
              {result.error ?? (result.ok ? '' : `The endpoint answered ${result.status}.`)} After{' '}
              {result.duration_ms} ms.
            </Text>
          </Alert>
        )}
        {result && result.response_body !== '' && (
          <CodeBlock code={result.response_body} label="The endpoint's response" />
        )}
      </Stack>
    </Dialog>
  );
}
