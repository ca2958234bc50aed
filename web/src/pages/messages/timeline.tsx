// The story of a message, oldest first: each event with its time and what was said.
import { Text, Timeline } from '@mantine/core';
import type { MessageDetails } from '../../../../src/client/operations.ts';
import { capital, toneOfStatus } from '../../parts/status.tsx';
import { Time } from '../../parts/time.tsx';

/** What each kind of event tells beyond its time is shown by name. */
type TimelineEvent = { [field: string]: unknown };

interface StoryProps {
  createdAt?: string;
  events: MessageDetails['events'];
}

const shown: Record<string, string> = {
  recipients: 'Recipients',
  smtp_response: 'Response',
  remote_mta: 'Server',
  reporting_mta: 'Reported by',
  bounce_type: 'Kind',
  reason: 'Reason',
  url: 'Link',
  user_agent: 'Program',
  ip_address: 'From',
  feedback_type: 'Kind of report',
};

export function Story({ createdAt, events }: StoryProps) {
  const steps: { type: MessageDetails['status']; timestamp?: string; event?: TimelineEvent }[] = [
    { type: 'queued', ...(createdAt ? { timestamp: createdAt } : {}) },
    ...events.map((event) => ({
      type: event.type,
      timestamp: event.timestamp,
      event: { ...event },
    })),
  ];
  return (
    <div aria-live="polite">
      <Timeline active={steps.length} bulletSize={16} lineWidth={2} className="story">
        {steps.map(({ type, timestamp, event }, index) => (
          <Timeline.Item
            // biome-ignore lint/suspicious/noArrayIndexKey: the timeline only grows at its end
            key={index}
            data-tone={toneOfStatus[type]}
            data-event={type}
            title={
              <Text size="sm" fw={600} component="span">
                {capital(type)}
                {event?.machine === true && (
                  <Text span size="xs" c="dimmed" fw={400}>
                    {' '}
                    by a machine
                  </Text>
                )}
              </Text>
            }
          >
            {timestamp && (
              <Text size="xs" c="dimmed">
                <Time at={timestamp} />
              </Text>
            )}
            {event && <Fields event={event} />}
          </Timeline.Item>
        ))}
      </Timeline>
    </div>
  );
}

function Fields({ event }: { event: TimelineEvent }) {
  const fields = Object.entries(shown).filter(
    ([name]) => event[name] !== undefined && event[name] !== '' && event[name] !== null,
  );
  if (fields.length === 0) return null;
  return (
    <dl className="story-fields">
      {fields.map(([name, label]) => (
        <div key={name}>
          <dt>{label}</dt>
          <dd>{[event[name]].flat().join(', ')}</dd>
        </div>
      ))}
    </dl>
  );
}
