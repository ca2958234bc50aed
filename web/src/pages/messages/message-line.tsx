// One message in a list, of which there may be thousands: each is redrawn only when it changes, and
// uses plain elements, because Mantine's took half of the time.
import { Badge } from '@mantine/core';
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
      <div className="cut message-subject">{row.subject || '(no subject)'}</div>
      <div className="cut message-to">
        {first}
        {others.length > 0 && ` +${others.length}`}
      </div>
      <div className="message-tags">
        {row.tags.slice(0, 2).map((tag) => (
          <Badge key={tag} color="gray">
            {tag}
          </Badge>
        ))}
      </div>
      <div className="message-time">
        <Time at={isScheduled(row) ? row.scheduled_at! : row.created_at} />
      </div>
    </Link>
  );
});
