// The timeline as an agent can read it: a limited number of events, and what strangers wrote on one
// line of limited length. It is marked as theirs as everywhere (fence.ts).
import { z } from 'zod';
import type { TimelineEvent } from '../events/timeline.ts';

const MOST_CHARS = 300;
const MOST_EVENTS_AT_EACH_END = 50;
const WRITTEN_BY_STRANGERS = [
  'smtp_response',
  'reporting_mta',
  'remote_mta',
  'user_agent',
  'feedback_type',
];

export const leftOut = {
  events_left_out: z
    .number()
    .int()
    .optional()
    .describe('How many events between the oldest and the newest are not shown.'),
};

export function boundTimeline(all: readonly TimelineEvent[]): {
  events: TimelineEvent[];
  events_left_out?: number;
} {
  const missing = Math.max(0, all.length - 2 * MOST_EVENTS_AT_EACH_END);
  const shown =
    missing === 0
      ? all
      : [...all.slice(0, MOST_EVENTS_AT_EACH_END), ...all.slice(-MOST_EVENTS_AT_EACH_END)];
  return { ...(missing > 0 ? { events_left_out: missing } : {}), events: shown.map(boundEvent) };
}

function boundEvent(event: TimelineEvent): TimelineEvent {
  const long = WRITTEN_BY_STRANGERS.filter((name) => typeof event[name] === 'string');
  const bounded = Object.fromEntries(long.map((name) => [name, bound(event[name] as string)]));
  return { ...event, ...bounded };
}

/** One line without control or invisible formatting characters, cut if it is too long. */
export function bound(text: string): string {
  const line = text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu, ' ').trim();
  return line.length > MOST_CHARS ? `${line.slice(0, MOST_CHARS)}… (cut)` : line;
}
