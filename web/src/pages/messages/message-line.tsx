// One message in a list, of which there may be thousands: each is drawn again only when it changes.
import { Badge, Group, Text } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { memo } from 'react';
import type { MessageSummary } from '../../../../src/client/operations.ts';
import { isScheduled, MessageState } from '../../parts/status.tsx';
import { Time } from '../../parts/time.tsx';

export const MessageLine = memo(function MessageLine({ row }: { row: MessageSummary }) {
  const [first, ...others] = row.recipients;
  return (
    <Link to="/messages/$id" params={{ id: row.id }} className="row-link message-line">
      <MessageState message={row} />
      <div className="cut">
        <Text size="sm" fw={500} truncate>
          {row.subject || '(no subject)'}
        </Text>
      </div>
      <Text size="sm" c="dimmed" truncate className="message-to">
        {first}
        {others.length > 0 && ` +${others.length}`}
      </Text>
      <Group gap={6} wrap="nowrap" className="message-tags">
        {row.tags.slice(0, 2).map((tag) => (
          <Badge key={tag} color="gray">
            {tag}
          </Badge>
        ))}
      </Group>
      <Text size="xs" c="dimmed" ta="right" className="message-time">
        <Time at={isScheduled(row) ? row.scheduled_at! : row.created_at} />
      </Text>
    </Link>
  );
});
