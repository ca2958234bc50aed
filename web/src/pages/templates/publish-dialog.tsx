// Before a version goes live: what changes compared with what sends use now, and the new version
// beside the old one for the last emails that were really sent. Emails that would fail are named.
import { Button, Skeleton, Stack, Text } from '@mantine/core';
import { Suspense } from 'react';
import { useChange, useRead } from '../../operations.ts';
import { Dialog, DialogFoot } from '../../parts/dialog.tsx';
import { Fault } from '../../parts/fault.tsx';
import { later } from '../../parts/later.tsx';
import { BesideEachOther, failingIn, Rehearsal } from '../../parts/rehearsal.tsx';
import { tellDone } from '../../parts/results.ts';
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
  const failing = failingIn(rehearsal.data?.sends ?? []);
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
        <Rehearsal
          asked={rehearsal}
          ofWhat="from this template"
          sample={<Versions request={{ slug }} version={version} />}
          beside={({ sm_mail_id }) => (
            <Versions request={{ slug, variables_of: sm_mail_id }} version={version} />
          )}
        />
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

interface BesideProps {
  request: { slug: string; variables_of?: string };
  version: number;
}

function Versions({ request, version }: BesideProps) {
  const now = useRead('templates.render', request);
  const then = useRead('templates.render', { ...request, version });
  return (
    <BesideEachOther
      now={{ label: 'In use now', email: now.data, fault: now.error?.message }}
      then={{ label: `Version ${version}`, email: then.data, fault: then.error?.message }}
    />
  );
}
