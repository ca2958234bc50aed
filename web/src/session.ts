// Who is signed in, and what they may do. The server decides; the pages only hide or disable what
// it would refuse.
import { queryOptions } from '@tanstack/react-query';
import { createContext, useContext } from 'react';
import type { Role } from '../../src/dashboard/views/common.ts';
import type { Me } from '../../src/dashboard/views/session.ts';
import { call, SESSION_KEY } from './api.ts';

export const sessionQuery = queryOptions({
  queryKey: SESSION_KEY,
  queryFn: () => call('getSession'),
  staleTime: Number.POSITIVE_INFINITY,
});

/**
 * Passed down by the shell, not read from the query: when a session ends, pages disappear with the
 * shell and never see an empty user.
 */
export const MeContext = createContext<Me | null>(null);

export function useMe(): Me {
  const me = useContext(MeContext);
  if (me === null) throw new Error('useMe is for what stands inside the shell.');
  return me;
}

const rank: Record<Role, number> = { viewer: 0, developer: 1, owner: 2 };

/** Whether the user's role in this account includes `role`. */
export function useMay(role: Role): boolean {
  const { account } = useMe();
  return account !== null && rank[account.role] >= rank[role];
}
