// The timeline of a message, oldest first: when each thing happened, how long after it was
// accepted, and to how many recipients. For a message to many, equal events are one step; deferred
// attempts are steps too.
import '@mantine/core/styles/Timeline.css';
import { Text, Timeline } from '@mantine/core';
import type { DeliveryAttempt, MessageDetails } from '../../../../src/client/operations.ts';
import { capital, type Tone, toneOfStatus } from '../../parts/status.tsx';
import { asDate, sayDuration, sayMoment } from '../../parts/time.tsx';

/** What each kind of event has besides its time, shown by name. */
type Told = { [field: string]: unknown; timestamp: string; recipients?: string[] };
type Kind = MessageDetails['status'] | 'deferred';

interface Step {
  kind: Kind;
  /** In the order in which they happened; the first represents the step. */
  told: Told[];
}

interface StoryProps {
  createdAt?: string;
  events: MessageDetails['events'];
  attempts?: DeliveryAttempt[];
  /** How many it goes to. */
  recipients?: number;
}

const shown: Record<string, string> = {
  smtp_response: 'Response',
  remote_mta: 'Server',
  reporting_mta: 'Reported by',
  bounce_type: 'Kind',
  reason: 'Reason',
  url: 'Link',
  user_agent: 'Program',
  ip_address: 'From',
  feedback_type: 'Kind of report',
  next_at: 'Next try',
};

export function Story({ createdAt, events, attempts = [], recipients = 1 }: StoryProps) {
  const steps = stepsOf(events, attempts, recipients > 1);
  return (
    <div aria-live="polite">
      <Timeline active={steps.length + 1} bulletSize={16} lineWidth={2} className="story">
        <Timeline.Item data-tone="quiet" data-event="queued" title={<Name>Accepted</Name>}>
          {createdAt && <When at={createdAt} />}
        </Timeline.Item>
        {steps.map(({ kind, told }) => (
          <Timeline.Item
            key={`${kind} ${told[0]!.timestamp}`}
            data-tone={toneOf(kind)}
            data-event={kind}
            title={
              <Name>
                {nameOf(kind, told, recipients > 1)}
                {told.every(({ machine }) => machine === true) && (
                  <Text span size="xs" c="dimmed" fw={400}>
                    {' '}
                    by a machine
                  </Text>
                )}
              </Name>
            }
          >
            <When at={told[0]!.timestamp} until={told.at(-1)!.timestamp} since={createdAt} />
            <WhatWasTold told={told} many={recipients > 1} />
          </Timeline.Item>
        ))}
      </Timeline>
    </div>
  );
}

const toneOf = (kind: Kind): Tone => (kind === 'deferred' ? 'warn' : toneOfStatus[kind]);

const Name = ({ children }: { children: React.ReactNode }) => (
  <Text size="sm" fw={600} component="span">
    {children}
  </Text>
);

/** The timeline does not say who opened or clicked, so these are not counted. */
function nameOf(kind: Kind, told: readonly Told[], many: boolean): string {
  const people = peopleOf(told).length;
  return many && people > 0 ? `${people} ${kind}` : capital(kind);
}

const peopleOf = (told: readonly Told[]): string[] => [
  ...new Set(told.flatMap(({ recipients = [] }) => recipients)),
];

/** For one recipient, each event is a step; for many, each kind of event. */
function stepsOf(
  events: MessageDetails['events'],
  attempts: readonly DeliveryAttempt[],
  byKind: boolean,
): Step[] {
  const all = [
    ...events.map((event) => ({ kind: event.type as Kind, told: { ...event } as unknown as Told })),
    ...attempts.flatMap(deferralsOf),
  ].sort((one, other) => +asDate(one.told.timestamp) - +asDate(other.told.timestamp));
  const steps: Step[] = [];
  for (const { kind, told } of all) {
    const alike = byKind
      ? steps.find((step) => step.kind === kind)
      : steps.at(-1)?.kind === kind
        ? steps.at(-1)
        : undefined;
    if (alike) alike.told.push(told);
    else steps.push({ kind, told: [told] });
  }
  return steps;
}

const deferralsOf = ({ at, server, recipients, next_at }: DeliveryAttempt) =>
  recipients.map(({ recipient, reply }) => ({
    kind: 'deferred' as const,
    told: {
      timestamp: at,
      recipients: [recipient],
      smtp_response: reply,
      remote_mta: server,
      next_at: next_at && sayMoment(next_at),
    } as Told,
  }));

interface WhenProps {
  at: string;
  until?: string;
  since?: string | undefined;
}

function When({ at, until = at, since }: WhenProps) {
  const spread = +asDate(until) - +asDate(at);
  return (
    <Text size="xs" c="dimmed">
      <time dateTime={asDate(at).toISOString()}>{sayMoment(at)}</time>
      {spread >= 1000 && ` to ${sayMoment(until)}`}
      {since && ` · ${sayDuration(+asDate(at) - +asDate(since))} after it was accepted`}
    </Text>
  );
}

const MOST_OPEN = 1;

/** Equal replies are shown once, with the recipients they are about. */
function WhatWasTold({ told, many }: { told: Told[]; many: boolean }) {
  const said = new Map<string, { about: Told[]; fields: [label: string, value: string][] }>();
  for (const one of told) {
    const fields = fieldsOf(one);
    const key = JSON.stringify(fields);
    const known = said.get(key);
    if (known) known.about.push(one);
    else said.set(key, { about: [one], fields });
  }
  const groups = [...said.entries()].map(([key, { about, fields }]) => (
    <dl key={key} className="story-fields">
      {many && peopleOf(about).length > 0 && (
        <div>
          <dt>About</dt>
          <dd>{shorten(peopleOf(about))}</dd>
        </div>
      )}
      {!many && about.length > 1 && (
        <div>
          <dt>Times</dt>
          <dd>{about.map(({ timestamp }) => sayMoment(timestamp)).join(', ')}</dd>
        </div>
      )}
      {fields.map(([label, value]) => (
        <div key={label}>
          <dt>{label}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  ));
  if (groups.length <= MOST_OPEN) return groups;
  return (
    <details className="story-details">
      <summary>What was said ({groups.length} different)</summary>
      {groups}
    </details>
  );
}

const fieldsOf = (told: Told): [string, string][] =>
  Object.entries(shown)
    .filter(([name]) => told[name] !== undefined && told[name] !== '' && told[name] !== null)
    .map(([name, label]) => [label, String(told[name])]);

const MOST_NAMED = 3;

const shorten = (people: string[]): string =>
  people.length <= MOST_NAMED
    ? people.join(', ')
    : `${people.slice(0, MOST_NAMED).join(', ')} and ${people.length - MOST_NAMED} more`;
