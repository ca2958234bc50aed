// Where the focus goes when what had it is gone: whoever works by keyboard or screen reader goes on
// there, and not at the top of the page (WCAG 2.4.3). What closes gives it back to where it was
// opened; a row that was removed leaves it to the next one.
import { useLayoutEffect } from 'react';
import { ROW } from './row.ts';

const FOCUSABLE = 'a[href], button, input, textarea, select, [tabindex], [contenteditable=true]';

/**
 * What last had the focus. The browser forgets it where a button is switched off while its answer
 * is on its way, and what then opens would find nothing to go back to.
 */
let last: HTMLElement | null = null;

function note({ target }: Event): void {
  // What stands in for a dialog goes when that comes: nothing leads back to it.
  if (target instanceof Element && target.closest('[role=dialog][aria-busy]')) return;
  last = target instanceof Element ? target.closest<HTMLElement>(FOCUSABLE) : null;
}
document.addEventListener('focusin', note, true);
document.addEventListener('pointerdown', note, true);

/** Of each row that was removed: the one that stands in its place since. */
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
  if (document.activeElement !== opener) goOnFrom(opener);
}

/** At its row or the one that took its place, otherwise at the heading of the page. */
function goOnFrom(place: HTMLElement | null): void {
  let row: Node | null | undefined = place?.closest(ROW);
  while (row && !row.isConnected) row = heirs.get(row);
  const next =
    row instanceof HTMLElement && row.matches(ROW)
      ? row
      : (document.querySelector<HTMLElement>('#main h1') ?? document.getElementById('main'));
  if (next) focusOn(next);
}

/** Also what the Tab key passes by. */
export function focusOn(place: HTMLElement): void {
  if (!place.matches(FOCUSABLE)) place.tabIndex = -1;
  place.focus();
}
