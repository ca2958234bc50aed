// Going on as someone, or in another account: after every way to sign in, and the switch of the
// account. Apart from the shell, which the entrance does not load.
import { useQueryClient } from '@tanstack/react-query';
import type { Me, SessionState } from '../../src/dashboard/views/session.ts';
import { SESSION_KEY } from './api.ts';

/** Goes on as `me`: whatever was read before was another user's or account's. */
export function useEnter(): (me: Me) => void {
  const queries = useQueryClient();
  return (me) => {
    queries.setQueryData<SessionState>(SESSION_KEY, { state: 'signed-in', me });
    void queries.resetQueries({ predicate: ({ queryKey }) => queryKey[0] !== SESSION_KEY[0] });
  };
}
