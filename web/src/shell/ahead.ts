// Loads and evaluates the code of every page while nobody waits for anything, so that a page opened
// for the first time only has to be drawn. A page's data is fetched when its link is pointed at
// (router.tsx): fetched now, it would be out of date by then.
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

/** One after the other: what someone asks for in the meantime waits for one page at most. */
async function loadPages(router: AnyRouter, queries: QueryClient): Promise<void> {
  for (const route of Object.values(router.routesById)) {
    if (route.parentRoute?.id !== '/inside') continue;
    await atRest(queries);
    if (isMetered()) return;
    await router.loadRouteChunk(route);
  }
}

/** The page that is shown has its data, and the browser has nothing left to draw. */
async function atRest(queries: QueryClient): Promise<void> {
  do await idle();
  while (queries.isFetching() > 0);
}

/** People who pay for each byte get what they open, and nothing else. */
const isMetered = (): boolean =>
  (navigator as { connection?: { saveData?: boolean } }).connection?.saveData === true;
