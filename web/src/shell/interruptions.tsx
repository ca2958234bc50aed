// What can interrupt an open page: its session ends, or another tab switches accounts. The page
// stays as it is, and nothing that someone was writing is lost: a dialog over it asks for the
// password, or which account to use. Both dialogs are fetched when they are needed.
import { type QueryKey, useQuery } from '@tanstack/react-query';
import { OTHER_ACCOUNT_KEY, SESSION_ENDED_KEY } from '../api.ts';
import { later, OnceOpened } from '../parts/later.tsx';

const SignInAgainDialog = later(
  async () => (await import('./sign-in-again.tsx')).SignInAgainDialog,
);
const OtherAccountDialog = later(
  async () => (await import('./other-account.tsx')).OtherAccountDialog,
);

export function Interruptions() {
  const ended = useFlag(SESSION_ENDED_KEY);
  const other = useFlag(OTHER_ACCOUNT_KEY);
  return (
    <>
      <OnceOpened opened={ended}>
        <SignInAgainDialog opened={ended} />
      </OnceOpened>
      <OnceOpened opened={other}>
        <OtherAccountDialog opened={other} />
      </OnceOpened>
    </>
  );
}

/** Set when a call is refused (api.ts). */
const useFlag = (queryKey: QueryKey): boolean =>
  useQuery({
    queryKey,
    queryFn: () => false,
    initialData: false,
    staleTime: Number.POSITIVE_INFINITY,
  }).data;
