// The last emails that were really sent, tried with a change that is not live yet: which would look
// different or fail, and the chosen one before and after.
import { Badge, Group, Skeleton, Stack, Text, Title, UnstyledButton } from '@mantine/core';
import type { UseQueryResult } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import type { RehearsedSend } from '../../../src/client/operations.ts';
import { EmailPreview } from './email-preview.tsx';
import { Fault } from './fault.tsx';
import { Time } from './time.tsx';

interface Rehearsed {
  sends: RehearsedSend[];
  unkept: number;
}

interface Shown {
  /** Shown if there is no email to try it on. */
  sample: ReactNode;
  /** What "no email has been sent" is about, such as "from this template". */
  ofWhat: string;
  beside: (send: RehearsedSend) => ReactNode;
}

export function Rehearsal({ asked, ...shown }: Shown & { asked: UseQueryResult<Rehearsed> }) {
  return (
    <section aria-label="Tested on real emails">
      <Title order={3} size="h4" mb="xs">
        Tested on the last emails
      </Title>
      {asked.isError && <Fault fault={asked.error} retry={asked.refetch} />}
      {asked.isPending && <Skeleton height={160} />}
      {asked.data && <LastEmails {...shown} {...asked.data} />}
    </section>
  );
}

function LastEmails({ sends, unkept, sample, ofWhat, beside }: Shown & Rehearsed) {
  const worst = [...sends].sort((one, other) => weight(other) - weight(one));
  const [chosen, setChosen] = useState<string>();
  const shown = worst.find(({ sm_mail_id }) => sm_mail_id === chosen) ?? worst[0];
  if (shown === undefined) {
    return (
      <Stack>
        <Text size="sm" c="dimmed">
          {unkept > 0
            ? 'The variables of the last emails have been deleted. This is the sample.'
            : `No email has been sent ${ofWhat} yet. This is the sample.`}
        </Text>
        {sample}
      </Stack>
    );
  }
  const failing = failingIn(sends);
  const changing = sends.filter(({ faults, changed }) => faults.length === 0 && changed.length > 0);
  const parts = [
    ...(failing > 0 ? [`${failing} would fail`] : []),
    `${changing.length} would look different`,
    `${sends.length - failing - changing.length} would stay the same`,
  ];
  return (
    <Stack>
      <Text size="sm" role="status" fw={500}>
        Of the last {sends.length} {sends.length === 1 ? 'email' : 'emails'}: {parts.join(', ')}.
        {unkept > 0 && ` The variables of ${unkept} more are no longer stored.`}
      </Text>
      <div className="rehearsal">
        <div className="rehearsal-list">
          {worst.map((send) => (
            <UnstyledButton
              key={send.sm_mail_id}
              className="rehearsal-line"
              aria-pressed={send === shown}
              onClick={() => setChosen(send.sm_mail_id)}
            >
              <Group gap={8} wrap="nowrap" justify="space-between">
                <Text size="sm" truncate>
                  {send.recipients[0]}
                </Text>
                <Verdict send={send} />
              </Group>
              <Text size="xs" c="dimmed" truncate>
                <Time at={send.created_at} /> · {send.subject ?? send.subject_now}
              </Text>
              {send.faults.map(({ path, message }) => (
                <Text key={path} size="xs" c="var(--tone-bad)">
                  {message}
                </Text>
              ))}
            </UnstyledButton>
          ))}
        </div>
        {beside(shown)}
      </div>
    </Stack>
  );
}

export const failingIn = (sends: readonly RehearsedSend[]): number =>
  sends.filter(({ faults }) => faults.length > 0).length;

/** Those that fail are shown first, then those that change. */
const weight = ({ faults, changed }: RehearsedSend): number =>
  faults.length > 0 ? 100 : changed.length;

function Verdict({ send: { faults, changed } }: { send: RehearsedSend }) {
  if (faults.length > 0) return <ShortBadge color="red">would fail</ShortBadge>;
  if (changed.length === 0) return <ShortBadge color="gray">the same</ShortBadge>;
  // HTML and text are what people read of it, in one form or the other.
  const read = new Set(changed.map((part) => (part === 'subject' ? part : 'content')));
  return <ShortBadge color="yellow">{[...read].join(', ')}</ShortBadge>;
}

/** Whole: the address beside it is cut instead. */
const ShortBadge = (props: { color: string; children: string }) => <Badge flex="none" {...props} />;

interface Side {
  label: string;
  email: { html: string; text: string; subject: string } | undefined;
  fault: string | undefined;
}

export function BesideEachOther({ now, then }: { now: Side; then: Side }) {
  return (
    <section
      className="columns columns-2 rehearsal-emails"
      aria-label="Before and after"
      // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, so it needs a place in the tab order (WCAG 2.1.1)
      tabIndex={0}
    >
      {[
        { ...now, title: 'The email as it is' },
        { ...then, title: 'The email as it would be' },
      ].map(({ label, title, email, fault }) => (
        <div key={title}>
          <Text size="xs" c="dimmed" mb={4}>
            {label}
          </Text>
          <EmailPreview plain email={email} fault={fault} title={title} />
        </div>
      ))}
    </section>
  );
}
