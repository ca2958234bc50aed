// A message's story as it happens, for places that know only its id.
import { Group, Paper, Text } from '@mantine/core';
import { useState } from 'react';
import type { LiveTimeline } from '../../../../src/dashboard/views/messages.ts';
import { urlOf } from '../../api.ts';
import { useLive } from '../../live.ts';
import { Status } from '../../parts/status.tsx';
import { Story } from './timeline.tsx';

export function LiveStory({ id, subject }: { id: string; subject: string }) {
  const [state, setState] = useState<LiveTimeline>();
  useLive<LiveTimeline>(urlOf('liveMessage', { params: { id } }), 'timeline', setState);
  return (
    <Paper p="lg" bg="var(--ground)">
      <Group justify="space-between" mb="md">
        <Text size="sm" fw={600} truncate>
          {subject}
        </Text>
        <Status status={state?.status ?? 'queued'} />
      </Group>
      <Story timeline={state?.timeline ?? []} />
    </Paper>
  );
}
