// The frame of a page: its heading with actions, sections, empty states and placeholder rows while
// it loads.
import { Box, Center, Group, Paper, Skeleton, Stack, Text, Title } from '@mantine/core';
import { type ReactNode, useEffect } from 'react';

export interface PageProps {
  title: string;
  /** One sentence on what this page is for. */
  lead?: ReactNode;
  /** A way back to the list, above the title. */
  back?: ReactNode;
  actions?: ReactNode;
  /** The whole width, for editors. */
  wide?: boolean;
  children: ReactNode;
}

export function Page({ title, lead, back, actions, wide, children }: PageProps) {
  useEffect(() => {
    document.title = `${title} · Sandmartin`;
  }, [title]);
  return (
    <Box className="page" data-wide={wide || undefined}>
      <Box className="page-head">
        <Box miw={0}>
          {back && <Box mb={6}>{back}</Box>}
          <Title order={1} className="page-title" tabIndex={-1}>
            {title}
          </Title>
          {lead && (
            <Text c="dimmed" size="sm" mt={4} maw={680} component="div">
              {lead}
            </Text>
          )}
        </Box>
        {actions && <Group gap="xs">{actions}</Group>}
      </Box>
      {children}
    </Box>
  );
}

interface SectionProps {
  title: string;
  lead?: ReactNode;
  actions?: ReactNode;
  children: ReactNode;
}

export function Section({ title, lead, actions, children }: SectionProps) {
  return (
    <Box component="section" mb={36}>
      <Group justify="space-between" align="flex-end" mb="sm" gap="xs">
        <Box>
          <Title order={2}>{title}</Title>
          {lead && (
            <Text c="dimmed" size="sm" mt={2} maw={680} component="div">
              {lead}
            </Text>
          )}
        </Box>
        {actions}
      </Group>
      {children}
    </Box>
  );
}

export interface EmptyProps {
  icon?: ReactNode;
  title: string;
  children?: ReactNode;
  action?: ReactNode;
}

export function Empty({ icon, title, children, action }: EmptyProps) {
  return (
    <Paper className="empty">
      <Center>
        <Stack align="center" gap={6} maw={440} ta="center">
          {icon && <Box className="empty-icon">{icon}</Box>}
          <Text fw={600}>{title}</Text>
          <Text c="dimmed" size="sm" component="div">
            {children}
          </Text>
          {action && <Box mt="sm">{action}</Box>}
        </Stack>
      </Center>
    </Paper>
  );
}

/** A placeholder for what is not there yet. */
export const LOADING = { role: 'progressbar', 'aria-label': 'Loading', 'aria-busy': true } as const;

/** Rows of the height that the list will have, so that nothing jumps. */
export function LoadingRows({ rows = 6, height = 20 }: { rows?: number; height?: number }) {
  return (
    <Paper p="md" {...LOADING}>
      <Stack gap={28}>
        {Array.from({ length: rows }, (_, row) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: the rows are all alike
          <Skeleton key={row} height={height} width={`${92 - ((row * 13) % 30)}%`} />
        ))}
      </Stack>
    </Paper>
  );
}

/**
 * A table. If there is little room, each row is a card, and cells with a `data-label` show it
 * beside them.
 */
export function TableBox({ children, label }: { children: ReactNode; label: string }) {
  return (
    <Paper className="table-box" role="region" aria-label={label} tabIndex={0}>
      {children}
    </Paper>
  );
}

/** A label above its value. */
export function Fact({ label, children }: { label: string; children: ReactNode }) {
  return (
    <Box className="fact" miw={0} maw="100%">
      <Text size="xs" c="dimmed" mb={2}>
        {label}
      </Text>
      <Text component="div" size="sm" style={{ overflowWrap: 'anywhere' }}>
        {children}
      </Text>
    </Box>
  );
}
