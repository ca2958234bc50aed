// The frame of a page: its heading with actions, sections, empty states and placeholder rows while
// it loads. Plain elements where every page has them: a component of Mantine's takes ten times as
// long.
import { Center, Paper, Skeleton, Stack, Text } from '@mantine/core';
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
    <div className="page" data-wide={wide || undefined}>
      <div className="page-head">
        <div>
          {back && <div className="page-back">{back}</div>}
          <h1 className="page-title" tabIndex={-1}>
            {title}
          </h1>
          {lead && <div className="lead">{lead}</div>}
        </div>
        {actions && <div className="page-actions">{actions}</div>}
      </div>
      {children}
    </div>
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
    <section className="section">
      <div className="section-head">
        <div>
          <h2 className="section-title">{title}</h2>
          {lead && <div className="lead">{lead}</div>}
        </div>
        {actions}
      </div>
      {children}
    </section>
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
          {icon && <div className="empty-icon">{icon}</div>}
          <Text fw={600}>{title}</Text>
          <Text c="dimmed" size="sm" component="div">
            {children}
          </Text>
          {action && <div className="empty-action">{action}</div>}
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
    <div className="fact">
      <div className="fact-label">{label}</div>
      <div className="fact-value">{children}</div>
    </div>
  );
}
