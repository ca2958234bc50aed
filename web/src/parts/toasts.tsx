// The result of an action, in a corner for a few seconds (results.ts). A screen reader announces a
// fault at once, a success at the next pause. A toast stays while someone points at it or focuses
// it.
import { CloseButton, Text } from '@mantine/core';
import { useEffect, useState, useSyncExternalStore } from 'react';

interface Toast {
  title?: string;
  message: string;
  isFault: boolean;
  staysMs: number;
}

const MOST_TOASTS = 4;

let shown: readonly (Toast & { id: number })[] = [];
let last = 0;
const watchers = new Set<() => void>();

function change(next: typeof shown): void {
  shown = next;
  for (const watcher of watchers) watcher();
}

export function toast(one: Toast): void {
  change([...shown, { ...one, id: ++last }].slice(-MOST_TOASTS));
}

function watch(watcher: () => void): () => void {
  watchers.add(watcher);
  return () => watchers.delete(watcher);
}

/** Once, in the shell. */
export function Toasts() {
  const toasts = useSyncExternalStore(watch, () => shown);
  return (
    <div className="toasts">
      {toasts.map(({ id, ...one }) => (
        <OneToast
          key={id}
          {...one}
          onClose={() => change(shown.filter((other) => other.id !== id))}
        />
      ))}
    </div>
  );
}

function OneToast({ title, message, isFault, staysMs, onClose }: Toast & { onClose: () => void }) {
  const [isKept, keep] = useState(false);
  // biome-ignore lint/correctness/useExhaustiveDependencies: closing is the same whenever it comes
  useEffect(() => {
    if (isKept) return;
    const timer = setTimeout(onClose, staysMs);
    return () => clearTimeout(timer);
  }, [isKept, staysMs]);
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: pointing at it does nothing but keep it
    <div
      role={isFault ? 'alert' : 'status'}
      className="toast"
      data-fault={isFault || undefined}
      onPointerEnter={() => keep(true)}
      onPointerLeave={() => keep(false)}
      onFocus={() => keep(true)}
      onBlur={() => keep(false)}
    >
      <div className="toast-words">
        {title && (
          <Text size="sm" fw={600}>
            {title}
          </Text>
        )}
        <Text size="sm" c={title ? 'dimmed' : undefined}>
          {message}
        </Text>
      </div>
      <CloseButton aria-label="Dismiss" onClick={onClose} />
    </div>
  );
}
