// The versions of an account's template: which one is in use and what changed; publish and roll
// back.
import { Badge, Button, Group, Paper, Skeleton, Stack, Text, Title } from '@mantine/core';
import { Suspense, useState } from 'react';
import type { OwnTemplate, TemplateVersionEntry } from '../../../../src/client/operations.ts';
import { useChange, useRead } from '../../operations.ts';
import { useConfirm } from '../../parts/confirm.tsx';
import { Dialog, DialogFoot } from '../../parts/dialog.tsx';
import { Fault } from '../../parts/fault.tsx';
import { HistoryIcon } from '../../parts/icons.tsx';
import { later } from '../../parts/later.tsx';
import { tellDone, tellFault } from '../../parts/results.ts';
import { Time } from '../../parts/time.tsx';
import { useMay } from '../../session.ts';
import { PublishDialog } from './publish-dialog.tsx';
import { templateReads } from './reads.ts';

const Diff = later(async () => (await import('./diff.tsx')).Diff);

interface Compared {
  row: TemplateVersionEntry;
  /** The version that someone saved before this one could be published. */
  insteadOf?: number;
}

export function Versions({ template }: { template: OwnTemplate }) {
  const { slug } = template;
  const may = useMay('developer');
  const confirm = useConfirm();
  const versions = useRead('templates.listVersions', { slug });
  const [compared, setCompared] = useState<Compared>();
  const [publishing, setPublishing] = useState<number>();
  const rollBack = useChange('templates.rollBack', {
    changes: templateReads,
    onDone: ({ published_version }) => tellDone(`Back to version ${published_version}`),
  });
  if (versions.isError && !versions.data) {
    return <Fault fault={versions.error} retry={versions.refetch} />;
  }
  const rows = versions.data?.data ?? [];
  /** What was saved while someone was about to publish another version. */
  const showLater = async (late: number) => {
    const { data } = await versions.refetch();
    setPublishing(undefined);
    if (data?.data[0]) setCompared({ row: data.data[0], insteadOf: late });
  };
  const canRollBack = rows.filter((row) => row.published_at !== null).length > 1;
  const comparisonOf = (row: TemplateVersionEntry) => (
    <Comparison slug={slug} row={row} hasSystem={template.has_system} />
  );
  return (
    <Paper p="lg">
      <Group justify="space-between" mb="md">
        <Title order={2}>Versions</Title>
        {may && canRollBack && (
          <Button
            size="xs"
            variant="default"
            leftSection={<HistoryIcon size={14} />}
            loading={rollBack.isPending}
            onClick={async () => {
              const yes = await confirm({
                title: 'Roll back?',
                body: 'Sends use the previously published version again. Queued emails stay as they were rendered.',
                act: 'Roll back',
                harmless: true,
              });
              const live = template.published_version ?? undefined;
              if (yes) rollBack.mutate({ slug, published_version: live }, { onError: tellFault });
            }}
          >
            Roll back
          </Button>
        )}
      </Group>
      {versions.isPending && <Skeleton height={80} />}
      <Stack gap="sm">
        {rows.map((row) => (
          <Group key={row.version} justify="space-between" wrap="nowrap">
            <div>
              <Group gap={8}>
                <Text size="sm" fw={500}>
                  Version {row.version}
                </Text>
                {row.published && <Badge color="martin">in use</Badge>}
                {row.published_at === null && <Badge color="yellow">draft</Badge>}
              </Group>
              <Text size="xs" c="dimmed">
                <Time at={row.created_at} />
                {row.cloned_from && ` · from ${row.cloned_from}`}
              </Text>
            </div>
            <Group gap={4} wrap="nowrap">
              <Button
                size="compact-xs"
                variant="subtle"
                color="gray"
                aria-label={`Diff of version ${row.version}`}
                onClick={() => setCompared({ row })}
              >
                Diff
              </Button>
              {may && !row.published && (
                <Button
                  size="compact-xs"
                  variant="default"
                  aria-label={`Publish version ${row.version}`}
                  onClick={() => setPublishing(row.version)}
                >
                  Publish…
                </Button>
              )}
            </Group>
          </Group>
        ))}
      </Stack>
      {publishing !== undefined && (
        <PublishDialog
          slug={slug}
          version={publishing}
          newest={rows[0]!.version}
          onStale={() => void showLater(publishing)}
          onClose={() => setPublishing(undefined)}
        />
      )}
      <Dialog
        opened={compared !== undefined}
        onClose={() => setCompared(undefined)}
        size="xl"
        title={compared && `What version ${compared.row.version} changed`}
      >
        {compared?.insteadOf === undefined ? (
          compared && comparisonOf(compared.row)
        ) : (
          <Stack className="tall-dialog">
            <Text size="sm">
              Someone saved version {compared.row.version} while you were looking, so version{' '}
              {compared.insteadOf} was not published. Publish the one you want.
            </Text>
            {comparisonOf(compared.row)}
            <DialogFoot fault={null}>
              {[compared.insteadOf, compared.row.version].map((version) => (
                <Button
                  key={version}
                  variant="default"
                  onClick={() => {
                    setCompared(undefined);
                    setPublishing(version);
                  }}
                >
                  Publish version {version}…
                </Button>
              ))}
            </DialogFoot>
          </Stack>
        )}
      </Dialog>
    </Paper>
  );
}

interface ComparisonProps {
  slug: string;
  row: TemplateVersionEntry;
  hasSystem: boolean;
}

/** Compared with what it was made from: a version, or the system template. */
function Comparison({ slug, row, hasSystem }: ComparisonProps) {
  const base = row.based_on !== null ? String(row.based_on) : hasSystem ? 'system' : null;
  const now = useRead('templates.getVersion', { slug, version: String(row.version) });
  const before = useRead('templates.getVersion', { slug, version: base ?? String(row.version) });
  const fault = now.error ?? before.error;
  if (fault) return <Fault fault={fault} />;
  if (!now.data || !before.data) return <Skeleton height={420} />;
  return (
    <Stack>
      <Text size="sm" c="dimmed">
        {base === null
          ? 'The first version: there is nothing to compare it with.'
          : `Compared with ${base === 'system' ? 'the system template' : `version ${base}`}.`}
      </Text>
      {before.data.subject !== now.data.subject && (
        <Text size="sm">
          Subject: <del>{before.data.subject}</del> <ins>{now.data.subject}</ins>
        </Text>
      )}
      <Suspense fallback={<Skeleton height={420} />}>
        <Diff before={base === null ? '' : before.data.html} now={now.data.html} />
      </Suspense>
    </Stack>
  );
}
