// A message's timeline as it happens, for places that know only its id.
import { Group, Paper, Text } from '@mantine/core';
import { useState } from 'react';
import type { MessageDetails } from '../../../../src/client/operations.ts';
import { urlOf } from '../../api.ts';
import { useLive } from '../../live.ts';
import { Status } from '../../parts/status.tsx';
import { Story } from './timeline.tsx';

export function LiveStory({ id, subject }: { id: string; subject: string }) {
  const [state, setState] = useState<MessageDetails>();
  useLive<MessageDetails>(urlOf('liveMessage', { params: { id } }), 'message', setState);
  return (
    <Paper p="lg" bg="var(--ground)">
      <Group justify="space-between" mb="md">
        <Text size="sm" fw={600} truncate>
          {subject}
        </Text>
        <Status status={state?.status ?? 'queued'} />
      </Group>
      <Story events={state?.events ?? []} />
    </Paper>
  );
}
