// One message in a list.
import { Badge, Group, Text } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import type { MessageSummary } from '../../../../src/client/operations.ts';
import { isScheduled, MessageState } from '../../parts/status.tsx';
import { Time } from '../../parts/time.tsx';

export function MessageLine({ row }: { row: MessageSummary }) {
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
}
