// Before a version goes live: what changes compared with what sends use now, and the new version
// beside the old one for the last emails that were really sent. Emails that would fail are named.
import { Badge, Button, Group, Skeleton, Stack, Text, Title, UnstyledButton } from '@mantine/core';
import { Suspense, useState } from 'react';
import type { RehearsedSend } from '../../../../src/client/operations.ts';
import { useChange, useRead } from '../../operations.ts';
import { Dialog, DialogFoot } from '../../parts/dialog.tsx';
import { EmailPreview } from '../../parts/email-preview.tsx';
import { Fault } from '../../parts/fault.tsx';
import { later } from '../../parts/later.tsx';
import { tellDone } from '../../parts/results.ts';
import { Time } from '../../parts/time.tsx';
import { isStale, templateReads } from './reads.ts';

const Diff = later(async () => (await import('./diff.tsx')).Diff);

interface PublishProps {
  slug: string;
  version: number;
  /** The newest version that the person who publishes has seen. */
  newest: number;
  /** Someone saved a later one. */
  onStale: () => void;
  onClose: () => void;
}

export function PublishDialog({ slug, version, newest, onStale, onClose }: PublishProps) {
  const rehearsal = useRead('templates.rehearse', { slug, version }, { fresh: true });
  const failing = rehearsal.data?.sends.filter(({ faults }) => faults.length > 0).length ?? 0;
  const publish = useChange('templates.publish', {
    changes: templateReads,
    onDone: ({ published_version }) => {
      tellDone(`Version ${published_version} is in use`);
      onClose();
    },
  });
  const refused = (fault: Error) => {
    if (isStale(fault)) onStale();
  };
  return (
    <Dialog
      opened
      onClose={onClose}
      size="min(1180px, 94vw)"
      title={`Publish version ${version} of ${slug}?`}
    >
      <Stack gap="lg" className="tall-dialog">
        <WhatChanges slug={slug} version={version} />
        <section aria-label="Tested on real emails">
          <Title order={3} size="h4" mb="xs">
            Tested on the last emails
          </Title>
          {rehearsal.isError && <Fault fault={rehearsal.error} retry={rehearsal.refetch} />}
          {rehearsal.isPending && <Skeleton height={160} />}
          {rehearsal.data && <Rehearsal slug={slug} version={version} rehearsal={rehearsal.data} />}
        </section>
        <DialogFoot fault={publish.error}>
          <Button variant="default" onClick={onClose}>
            Not yet
          </Button>
          <Button
            color={failing > 0 ? 'red.8' : undefined}
            loading={publish.isPending}
            disabled={rehearsal.isPending}
            onClick={() =>
              publish.mutate({ slug, version, base_version: newest }, { onError: refused })
            }
          >
            {failing > 0 ? 'Publish anyway' : `Publish version ${version}`}
          </Button>
        </DialogFoot>
      </Stack>
    </Dialog>
  );
}

/**
 * Compared with what sends use now: the published version, else the system template, else nothing.
 */
function WhatChanges({ slug, version }: { slug: string; version: number }) {
  const next = useRead('templates.getVersion', { slug, version: String(version) });
  const state = next.data;
  const inUse =
    state === undefined || state.state === 'archived' || state.published_version === null
      ? state?.has_system
        ? 'system'
        : null
      : String(state.published_version);
  const now = useRead(
    'templates.getVersion',
    { slug, version: inUse ?? 'system' },
    { enabled: inUse !== null, fresh: true },
  );
  const fault = next.error ?? (inUse === null ? null : now.error);
  if (fault) return <Fault fault={fault} />;
  if (state === undefined || (inUse !== null && now.data === undefined)) {
    return <Skeleton height={240} />;
  }
  const before = inUse === null ? undefined : now.data;
  return (
    <section aria-label="What changes">
      <Text size="sm" mb="sm">
        {before === undefined
          ? 'Nothing is in use under this slug yet. From now on sends use this version.'
          : `Compared with ${inUse === 'system' ? 'the system template' : `version ${inUse}`}, which sends use now.`}
      </Text>
      {(['subject', 'preheader'] as const).map(
        (part) =>
          before?.[part] !== state[part] && (
            <Text key={part} size="sm" mb={6}>
              {part === 'subject' ? 'Subject' : 'Preheader'}: <del>{before?.[part]}</del>{' '}
              <ins>{state[part]}</ins>
            </Text>
          ),
      )}
      {(['html', 'text'] as const).map(
        (part) =>
          (before?.[part] ?? '') !== (state[part] ?? '') && (
            <Suspense key={part} fallback={<Skeleton height={240} />}>
              <Diff before={before?.[part] ?? ''} now={state[part] ?? ''} low />
            </Suspense>
          ),
      )}
    </section>
  );
}

interface RehearsalProps {
  slug: string;
  version: number;
  rehearsal: { sends: RehearsedSend[]; unkept: number };
}

function Rehearsal({ slug, version, rehearsal: { sends, unkept } }: RehearsalProps) {
  const worst = [...sends].sort((one, other) => weight(other) - weight(one));
  const [chosen, setChosen] = useState<string>();
  const shown = chosen ?? worst[0]?.sm_mail_id;
  if (shown === undefined) {
    return (
      <Stack>
        <Text size="sm" c="dimmed">
          {unkept > 0
            ? 'The variables of the last emails have been deleted. This is the sample.'
            : 'No email has been sent from this template yet. This is the sample.'}
        </Text>
        <BesideEachOther request={{ slug }} version={version} />
      </Stack>
    );
  }
  const failing = sends.filter(({ faults }) => faults.length > 0).length;
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
              aria-pressed={send.sm_mail_id === shown}
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
        <BesideEachOther request={{ slug, variables_of: shown }} version={version} />
      </div>
    </Stack>
  );
}

/** Those that fail are shown first, then those that change. */
const weight = ({ faults, changed }: RehearsedSend): number =>
  faults.length > 0 ? 100 : changed.length;

function Verdict({ send: { faults, changed } }: { send: RehearsedSend }) {
  if (faults.length > 0) return <Badge color="red">would fail</Badge>;
  if (changed.length === 0) return <Badge color="gray">the same</Badge>;
  return <Badge color="yellow">{changed.join(', ')}</Badge>;
}

interface BesideProps {
  request: { slug: string; variables_of?: string };
  version: number;
}

function BesideEachOther({ request, version }: BesideProps) {
  const now = useRead('templates.render', request);
  const then = useRead('templates.render', { ...request, version });
  return (
    <section
      className="columns columns-2 rehearsal-emails"
      aria-label="Before and after"
      // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, so it needs a place in the tab order (WCAG 2.1.1)
      tabIndex={0}
    >
      <div>
        <Text size="xs" c="dimmed" mb={4}>
          In use now
        </Text>
        <EmailPreview
          plain
          email={now.data}
          fault={now.error?.message}
          title="The email as it is"
        />
      </div>
      <div>
        <Text size="xs" c="dimmed" mb={4}>
          Version {version}
        </Text>
        <EmailPreview
          plain
          email={then.data}
          fault={then.error?.message}
          title="The email as it would be"
        />
      </div>
    </section>
  );
}
