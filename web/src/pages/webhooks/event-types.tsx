// Which events an endpoint is told of: all (also those to come), or a choice.
import { Chip, Group, Stack, Switch } from '@mantine/core';
import type { WebhookDelivery } from '../../../../src/client/operations.ts';

export type HookType = WebhookDelivery['event_type'];

/** A new one does not compile until it stands here. */
const order: Record<HookType, number> = {
  delivery: 1,
  bounce: 2,
  open: 3,
  click: 4,
  complaint: 5,
  subscription: 6,
};

export const hookTypes = Object.keys(order) as HookType[];

/** What an endpoint gets that names none. */
const aboutMessages = hookTypes.filter((type) => type !== 'subscription');

interface EventTypesProps {
  /** Empty: all about messages. */
  value: HookType[];
  onChange: (value: HookType[]) => void;
}

export function EventTypes({ value, onChange }: EventTypesProps) {
  return (
    <Stack gap="xs">
      <Switch
        label="All events of messages"
        checked={value.length === 0}
        onChange={(event) => onChange(event.currentTarget.checked ? [] : aboutMessages)}
      />
      {value.length > 0 && (
        <Chip.Group multiple value={value} onChange={(chosen) => onChange(chosen as HookType[])}>
          <Group gap={6} role="group" aria-label="Events">
            {hookTypes.map((type) => (
              <Chip key={type} value={type} size="xs">
                {type}
              </Chip>
            ))}
          </Group>
        </Chip.Group>
      )}
    </Stack>
  );
}
