// What someone has written and not saved, kept in their browser: a closed tab, a crash or the end
// of a session loses nothing. Before it: the editor and the branding page. Stored by user and
// account, so that nobody finds another person's draft.
import { useBlocker } from '@tanstack/react-router';
import { useMemo } from 'react';
import { useConfirm } from './parts/confirm.tsx';
import { useMe } from './session.ts';

export interface KeptDraft<Draft> {
  draft: Draft;
  /** The version it started from. */
  base: number;
  /** When it was last written: ISO 8601, UTC. */
  at: string;
  /** Which tab wrote it: another tab that is done with its own draft must not remove it. */
  tab: string;
}

const TAB = crypto.getRandomValues(new Uint32Array(2)).join('-');
const PREFIX = 'sandmartin draft';

export interface DraftKeeper<Draft> {
  find(): KeptDraft<Draft> | undefined;
  keep(draft: Draft, base: number): void;
  forget(): void;
}

/** `what` names the thing that is edited, such as `template welcome`. */
export function useDraftKeeper<Draft>(what: string): DraftKeeper<Draft> {
  const { user, account } = useMe();
  const key = `${PREFIX} ${user.id} ${account?.id} ${what}`;
  return useMemo(() => {
    const find = () => read<Draft>(key);
    return {
      find,
      keep: (draft, base) =>
        write(key, { draft, base, at: new Date().toISOString(), tab: TAB } as KeptDraft<Draft>),
      forget: () => {
        if (find()?.tab === TAB) write(key, undefined);
      },
    };
  }, [key]);
}

/** After signing out, the machine may be used by someone else. */
export function forgetDrafts(userId: string): void {
  try {
    for (const key of Object.keys(localStorage)) {
      if (key.startsWith(`${PREFIX} ${userId} `)) localStorage.removeItem(key);
    }
  } catch {
    // A browser that stores nothing has nothing to delete.
  }
}

function read<Draft>(key: string): KeptDraft<Draft> | undefined {
  try {
    return JSON.parse(localStorage.getItem(key) ?? 'null') ?? undefined;
  } catch {
    return undefined;
  }
}

/** A browser may refuse to store anything, or have no room: then only the guard below helps. */
function write(key: string, value: object | undefined): void {
  try {
    if (value === undefined) localStorage.removeItem(key);
    else localStorage.setItem(key, JSON.stringify(value));
  } catch {
    localStorage.removeItem(key);
  }
}

/** Asks before leaving the page with unsaved changes. */
export function useLeaveGuard(dirty: boolean): void {
  const confirm = useConfirm();
  useBlocker({
    shouldBlockFn: async () =>
      dirty &&
      !(await confirm({
        title: 'Leave without saving?',
        body: 'Your changes are not saved yet. They stay in this browser and will be here when you come back.',
        act: 'Leave',
        harmless: true,
      })),
    enableBeforeUnload: () => dirty,
  });
}
