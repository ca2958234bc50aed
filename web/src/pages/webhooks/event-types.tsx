// Which events an endpoint receives: all (including future types), or a selection.
import '@mantine/core/styles/Chip.css';
import { Chip, Group, Stack, Switch } from '@mantine/core';
import { EVENT_TYPES } from '../../../../src/client/operations.ts';

export type HookType = (typeof EVENT_TYPES)[number];

/** What an endpoint receives if it names none. */
const aboutMessages = EVENT_TYPES.filter((type) => type !== 'subscription');

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
            {EVENT_TYPES.map((type) => (
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
