// Components that are fetched when they are first shown: a dialog that few open should not weigh on
// its page.
import {
  type ComponentType,
  lazy,
  type ReactNode,
  Suspense,
  startTransition,
  useEffect,
  useState,
} from 'react';
import { tellFault } from './results.ts';

/** To be rendered inside a <Suspense>. */
export const later = <Props extends object>(load: () => Promise<ComponentType<Props>>) =>
  lazy(async () => ({ default: await load().catch((): ComponentType<Props> => Missing) }));

/**
 * The page goes on without it: what someone wrote there is worth more. If it is opened again, the
 * fault is reported again.
 */
function Missing({ opened = true, onClose }: { opened?: boolean; onClose?: () => void }) {
  // biome-ignore lint/correctness/useExhaustiveDependencies: closing is the same whenever it comes
  useEffect(() => {
    if (!opened) return;
    tellMissing();
    onClose?.();
  }, [opened]);
  return null;
}

/** After an update of the service, its chunks have other names. */
export function tellMissing(): void {
  tellFault(
    'A part of this page could not be loaded. Check your connection, then reload the page: the service may have been updated.',
  );
}

interface OnceOpenedProps {
  opened: boolean;
  /** A placeholder until it is fetched. */
  meanwhile?: ReactNode;
  children: ReactNode;
}

/**
 * A dialog, from the first time it opens. It stays mounted, so that it can fade out and return the
 * focus.
 */
export function OnceOpened({ opened, meanwhile, children }: OnceOpenedProps) {
  const [wasOpened, setWasOpened] = useState(opened);
  if (opened && !wasOpened) setWasOpened(true);
  return wasOpened && <Suspense fallback={opened && meanwhile}>{children}</Suspense>;
}

/** Something slow to draw, once the page around it is visible. `meanwhile` has the same height. */
export function AfterPaint({ meanwhile, children }: { meanwhile: ReactNode; children: ReactNode }) {
  return usePainted() ? <Suspense fallback={meanwhile}>{children}</Suspense> : meanwhile;
}

/** Whether what was drawn first is visible. */
export function usePainted(): boolean {
  const [isPainted, setPainted] = useState(false);
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout>;
    // A frame begins with its callbacks and is painted after them.
    const frame = requestAnimationFrame(() => {
      timer = setTimeout(() => startTransition(() => setPainted(true)));
    });
    return () => {
      cancelAnimationFrame(frame);
      clearTimeout(timer);
    };
  }, []);
  return isPainted;
}
