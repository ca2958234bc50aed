// When something over the page closes, the focus goes back to where it was opened: whoever works by
// keyboard or screen reader goes on there, and not at the top of the page (WCAG 2.4.3).
import { useLayoutEffect } from 'react';

const FOCUSABLE = 'a[href], button, input, textarea, select, [tabindex], [contenteditable=true]';

/**
 * What last had the focus. The browser forgets it where a button is switched off while its answer
 * is on its way, and what then opens would find nothing to go back to.
 */
let last: HTMLElement | null = null;

function note({ target }: Event): void {
  last = target instanceof Element ? target.closest<HTMLElement>(FOCUSABLE) : null;
}
document.addEventListener('focusin', note, true);
document.addEventListener('pointerdown', note, true);

/** Also where it closes by no longer being there. */
export function useFocusBack(opened: boolean): void {
  useLayoutEffect(() => {
    if (!opened) return;
    const opener = last;
    // Once what closes has let go of it.
    return () => void setTimeout(giveBack, 0, opener);
  }, [opened]);
}

function giveBack(opener: HTMLElement | null): void {
  const at = document.activeElement;
  const isElsewhere = at !== null && at !== document.body && at.closest('[role=dialog]') === null;
  if (isElsewhere) return;
  opener?.focus();
  // It may be gone, or switched off.
  if (document.activeElement !== opener) document.getElementById('main')?.focus();
}
