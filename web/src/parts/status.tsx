// A message's status and other states as a dot and a word: never by colour alone.
import { Group, Text } from '@mantine/core';
import type { MessageStatus } from '../../../src/dashboard/views/common.ts';

export type Tone = 'quiet' | 'busy' | 'good' | 'bright' | 'warn' | 'bad';

export const toneOfStatus: Record<MessageStatus, Tone> = {
  queued: 'quiet',
  sent: 'busy',
  delivered: 'good',
  opened: 'bright',
  clicked: 'bright',
  bounced: 'bad',
  complained: 'warn',
};

export const statuses = Object.keys(toneOfStatus) as MessageStatus[];

export function State({ tone, children }: { tone: Tone; children: string }) {
  return (
    <Group gap={8} wrap="nowrap" className="state" data-tone={tone}>
      <span className="state-dot" aria-hidden="true" />
      <Text span inherit fz="sm" fw={500} style={{ whiteSpace: 'nowrap' }}>
        {children}
      </Text>
    </Group>
  );
}

export const capital = (word: string): string => word.charAt(0).toUpperCase() + word.slice(1);

export function Status({ status }: { status: MessageStatus }) {
  return <State tone={toneOfStatus[status]}>{capital(status)}</State>;
}
