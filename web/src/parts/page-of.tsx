// The frame of a page about one thing: while it loads, and when it could not be loaded. What was
// loaded once stays if it cannot be loaded again: someone may be working on it.
import { Skeleton } from '@mantine/core';
import type { ReactNode } from 'react';
import { Fault } from './fault.tsx';
import { LOADING, Page, type PageProps } from './page.tsx';

interface PageOfProps<Data> extends Omit<PageProps, 'children'> {
  asked: { data: Data | undefined; isError: boolean; error: unknown; refetch: () => unknown };
  /** The space it will take, so that nothing jumps. */
  height?: number;
  children: (data: Data) => ReactNode;
}

export function PageOf<Data>({ asked, height = 520, children, ...page }: PageOfProps<Data>) {
  if (asked.data !== undefined) return children(asked.data);
  return (
    <Page {...page}>
      {asked.isError ? (
        <Fault fault={asked.error} retry={asked.refetch} />
      ) : (
        <Skeleton height={height} {...LOADING} />
      )}
    </Page>
  );
}
