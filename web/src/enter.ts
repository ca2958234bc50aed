// Entering as a person or in an account: after every way to sign in, and when the account is
// switched. Separate from the shell, which the sign-in pages do not load.
import { useQueryClient } from '@tanstack/react-query';
import type { Me, SessionState } from '../../src/dashboard/views/session.ts';
import { SESSION_KEY } from './api.ts';

/** Continues as `me`: whatever was read before belonged to another user or account. */
export function useEnter(): (me: Me) => void {
  const queries = useQueryClient();
  return (me) => {
    queries.setQueryData<SessionState>(SESSION_KEY, { state: 'signed-in', me });
    void queries.resetQueries({ predicate: ({ queryKey }) => queryKey[0] !== SESSION_KEY[0] });
  };
}
