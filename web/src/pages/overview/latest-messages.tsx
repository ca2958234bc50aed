// The newest messages of the account, kept up to date by a stream.
import { Paper, Text } from '@mantine/core';
import { useThrottledCallback } from '@mantine/hooks';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { urlOf } from '../../api.ts';
import { useLive } from '../../live.ts';
import type { Output } from '../../operations.ts';
import { LoadingRows } from '../../parts/page.tsx';
import { MessageLine } from '../messages/message-line.tsx';

export function LatestMessages() {
  const [items, setItems] = useState<Output<'messages.list'>['data']>();
  const queries = useQueryClient();
  // The figures above follow, but not with every email of a busy account.
  const refresh = useThrottledCallback(() => {
    for (const read of ['usage.get', 'usage.statistics']) {
      void queries.invalidateQueries({ queryKey: [read] });
    }
  }, 3000);
  useLive<Output<'messages.list'>>(urlOf('live'), 'messages', ({ data }) => {
    setItems(data);
    refresh();
  });
  if (items === undefined) return <LoadingRows rows={5} />;
  return (
    <Paper style={{ overflow: 'hidden' }}>
      {items.slice(0, 8).map((row) => (
        <MessageLine key={row.id} row={row} />
      ))}
      {items.length === 0 && (
        <Text p="lg" size="sm" c="dimmed">
          No messages lately.
        </Text>
      )}
    </Paper>
  );
}
