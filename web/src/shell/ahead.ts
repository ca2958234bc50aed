// The code of every page, loaded and evaluated while nobody waits for anything: a page that is
// opened for the first time has only to be drawn. What a page shows is read when its link is
// pointed at (router.tsx), since it would be old by then.
import type { QueryClient } from '@tanstack/react-query';
import { useQueryClient } from '@tanstack/react-query';
import { type AnyRouter, useRouter } from '@tanstack/react-router';
import { useEffect } from 'react';
import { idle } from '../idle.ts';

export function useCodeAhead(): void {
  const router = useRouter();
  const queries = useQueryClient();
  useEffect(() => void loadPages(router, queries), [router, queries]);
}

/** One after the other: what somebody asks for meanwhile waits for one page at most. */
async function loadPages(router: AnyRouter, queries: QueryClient): Promise<void> {
  for (const route of Object.values(router.routesById)) {
    if (route.parentRoute?.id !== '/inside') continue;
    await atRest(queries);
    if (isMetered()) return;
    await router.loadRouteChunk(route);
  }
}

/** The page that is shown has what it asked for, and the browser nothing left to draw. */
async function atRest(queries: QueryClient): Promise<void> {
  do await idle();
  while (queries.isFetching() > 0);
}

/** Whoever pays for each byte gets what they open, and nothing else. */
const isMetered = (): boolean =>
  (navigator as { connection?: { saveData?: boolean } }).connection?.saveData === true;
