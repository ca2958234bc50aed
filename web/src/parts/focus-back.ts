// Where the focus goes when the element that had it disappears: people who use a keyboard or a
// screen reader continue there, not at the top of the page (WCAG 2.4.3). What closes returns it to
// where it was opened; a removed row passes it to the next one.
import { useLayoutEffect } from 'react';
import { ROW } from './row.ts';

const FOCUSABLE = 'a[href], button, input, textarea, select, [tabindex], [contenteditable=true]';

/**
 * What last had the focus. The browser forgets it when a button is disabled while its call is under
 * way, and what then opens would have nothing to return to.
 */
let last: HTMLElement | null = null;

function note({ target }: Event): void {
  // A placeholder for a dialog disappears when the dialog is loaded: nothing can return to it.
  if (target instanceof Element && target.closest('[role=dialog][aria-busy]')) return;
  last = target instanceof Element ? target.closest<HTMLElement>(FOCUSABLE) : null;
}
document.addEventListener('focusin', note, true);
document.addEventListener('pointerdown', note, true);

/** For each removed row: the row that has taken its place. */
const heirs = new WeakMap<Node, Node | null>();

new MutationObserver((changes) => {
  for (const { removedNodes, nextSibling, previousSibling } of changes) {
    for (const gone of removedNodes) {
      if (gone instanceof Element && gone.matches(ROW)) {
        heirs.set(gone, nextSibling ?? previousSibling);
      }
    }
  }
  const wasInRow = last !== null && !last.isConnected && last.closest(ROW) !== null;
  if (wasInRow && document.activeElement === document.body) goOnFrom(last);
}).observe(document.body, { childList: true, subtree: true });

/** Also if it closes by being unmounted. */
export function useFocusBack(opened: boolean): void {
  useLayoutEffect(() => {
    if (!opened) return;
    const opener = last;
    // Once the closing element has released it.
    return () => void setTimeout(giveBack, 0, opener);
  }, [opened]);
}

function giveBack(opener: HTMLElement | null): void {
  const at = document.activeElement;
  const isElsewhere = at !== null && at !== document.body && at.closest('[role=dialog]') === null;
  if (isElsewhere) return;
  opener?.focus();
  // It may be gone, or disabled.
  if (document.activeElement !== opener) goOnFrom(opener);
}

/** To its row or the one that took its place, otherwise to the heading of the page. */
function goOnFrom(place: HTMLElement | null): void {
  let row: Node | null | undefined = place?.closest(ROW);
  while (row && !row.isConnected) row = heirs.get(row);
  const next =
    row instanceof HTMLElement && row.matches(ROW)
      ? row
      : (document.querySelector<HTMLElement>('#main h1') ?? document.getElementById('main'));
  if (next) focusOn(next);
}

/** Including elements that the Tab key skips. */
export function focusOn(place: HTMLElement): void {
  if (!place.matches(FOCUSABLE)) place.tabIndex = -1;
  place.focus();
}
