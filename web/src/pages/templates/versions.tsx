// The versions of an account's template: which is used, what changed, publish and roll back.
import { Badge, Button, Group, Modal, Paper, Skeleton, Stack, Text, Title } from '@mantine/core';
import { lazy, Suspense, useState } from 'react';
import type {
  TemplateDetail,
  TemplateVersionRow,
} from '../../../../src/dashboard/views/templates.ts';
import { useAction, useApi } from '../../api.ts';
import { useConfirm } from '../../parts/confirm.tsx';
import { Fault } from '../../parts/fault.tsx';
import { HistoryIcon } from '../../parts/icons.tsx';
import { tellDone, tellFault } from '../../parts/results.ts';
import { Time } from '../../parts/time.tsx';
import { useMay } from '../../session.ts';

const Diff = lazy(async () => ({ default: (await import('./diff.tsx')).Diff }));
const changes = [
  'getTemplate',
  'listTemplates',
  'listTemplateVersions',
  'previewTemplate',
  'previewTemplates',
] as const;

export function Versions({ template }: { template: TemplateDetail }) {
  const { slug } = template;
  const may = useMay('developer');
  const confirm = useConfirm();
  const versions = useApi('listTemplateVersions', { params: { slug } });
  const [compared, setCompared] = useState<TemplateVersionRow>();
  const publish = useAction('publishTemplate', {
    changes: [...changes],
    onDone: ({ publishedVersion }) => tellDone(`Version ${publishedVersion} is in use`),
  });
  const rollBack = useAction('rollBackTemplate', {
    changes: [...changes],
    onDone: ({ publishedVersion }) => tellDone(`Back to version ${publishedVersion}`),
  });
  if (versions.isError) return <Fault fault={versions.error} retry={versions.refetch} />;
  const rows = versions.data?.versions ?? [];
  const canRollBack = rows.filter((row) => row.publishedAt !== null).length > 1;
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
                body: 'Sends use the version that was in use before this one. Mails that are queued keep what they were rendered with.',
                act: 'Roll back',
                harmless: true,
              });
              if (yes) rollBack.mutate({ params: { slug } }, { onError: tellFault });
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
                {row.publishedAt === null && <Badge color="yellow">draft</Badge>}
              </Group>
              <Text size="xs" c="dimmed">
                <Time at={row.createdAt} />
                {row.clonedFrom && ` · from ${row.clonedFrom}`}
              </Text>
            </div>
            <Group gap={4} wrap="nowrap">
              <Button
                size="compact-xs"
                variant="subtle"
                color="gray"
                aria-label={`Diff of version ${row.version}`}
                onClick={() => setCompared(row)}
              >
                Diff
              </Button>
              {may && !row.published && (
                <Button
                  size="compact-xs"
                  variant="default"
                  aria-label={`Publish version ${row.version}`}
                  onClick={() =>
                    publish.mutate(
                      { params: { slug }, body: { version: row.version } },
                      { onError: tellFault },
                    )
                  }
                >
                  Publish
                </Button>
              )}
            </Group>
          </Group>
        ))}
      </Stack>
      <Modal
        opened={compared !== undefined}
        onClose={() => setCompared(undefined)}
        size="xl"
        title={compared && `What version ${compared.version} changed`}
      >
        {compared && <Comparison slug={slug} row={compared} hasSystem={template.hasSystem} />}
      </Modal>
    </Paper>
  );
}

interface ComparisonProps {
  slug: string;
  row: TemplateVersionRow;
  hasSystem: boolean;
}

/** Against what it was made from: a version, or the system template behind it. */
function Comparison({ slug, row, hasSystem }: ComparisonProps) {
  const base = row.basedOn !== null ? String(row.basedOn) : hasSystem ? 'system' : null;
  const now = useApi('getTemplate', { params: { slug }, query: { version: String(row.version) } });
  const before = useApi('getTemplate', {
    params: { slug },
    query: { version: base ?? String(row.version) },
  });
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
      {before.data.content.subject !== now.data.content.subject && (
        <Text size="sm">
          Subject: <del>{before.data.content.subject}</del> <ins>{now.data.content.subject}</ins>
        </Text>
      )}
      <Suspense fallback={<Skeleton height={420} />}>
        <Diff before={base === null ? '' : before.data.content.html} now={now.data.content.html} />
      </Suspense>
    </Stack>
  );
}
