// Who is signed in, and what they may do. The server decides; the pages only hide or disable what it would refuse.
import { queryOptions, useQuery } from '@tanstack/react-query';
import type { Me, Role } from '../../src/dashboard/views.ts';
import { call, SESSION_KEY } from './api.ts';

export const sessionQuery = queryOptions({
  queryKey: SESSION_KEY,
  queryFn: () => call('getSession'),
  staleTime: Number.POSITIVE_INFINITY,
});

export function useMe(): Me {
  const { data } = useQuery(sessionQuery);
  if (!data?.me) throw new Error('Pages with useMe are shown to signed-in users only.');
  return data.me;
}

const rank: Record<Role, number> = { viewer: 0, developer: 1, owner: 2 };

/** Whether the user's role in this account includes `role`. */
export function useMay(role: Role): boolean {
  const { account } = useMe();
  return account !== null && rank[account.role] >= rank[role];
}
