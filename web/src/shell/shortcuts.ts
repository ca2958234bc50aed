// Keys of the whole app: which there are, and what each does. The sheet (`?`) shows this list;
// palette.tsx answers ⌘K. None works while somebody types, and none takes a key of the browser's.
import { useNavigate } from '@tanstack/react-router';
import { useEffect } from 'react';

export const SHORTCUTS: { keys: string[]; what: string }[] = [
  { keys: ['⌘ K', 'Ctrl K'], what: 'Find a page, a template or an action' },
  { keys: ['/'], what: 'Search on this page, otherwise in messages' },
  { keys: ['j', 'k'], what: 'The next and the previous row of a list' },
  { keys: ['Enter'], what: 'Open the row' },
  { keys: ['?'], what: 'This list' },
];

/** Rows that lead somewhere, in the order they are shown. */
const ROWS = '#main .row-link, #main tbody tr a[href]:first-of-type';
const SEARCH = '#main [data-page-search], #main input[type=search]';

export function useShortcuts(openSheet: () => void): void {
  const navigate = useNavigate();
  useEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      if (event.metaKey || event.ctrlKey || event.altKey || isTyping(event)) return;
      if (document.querySelector('[role=dialog]')) return;
      const act = {
        '/': () => toSearch(() => void navigate({ to: '/messages' })),
        j: () => step(1),
        k: () => step(-1),
        '?': openSheet,
      }[event.key];
      if (act === undefined) return;
      event.preventDefault();
      act();
    };
    document.addEventListener('keydown', onKey);
    return () => document.removeEventListener('keydown', onKey);
  }, [openSheet, navigate]);
}

function isTyping({ target }: KeyboardEvent): boolean {
  const at = target as HTMLElement | null;
  return at?.closest?.('input, textarea, select, [contenteditable=true], [role=menu]') != null;
}

function toSearch(elsewhere: () => void): void {
  const box = document.querySelector<HTMLInputElement>(SEARCH);
  if (box === null) elsewhere();
  box?.focus();
  box?.select();
}

/** Focus itself is the mark, so that Enter, screen readers and the mouse agree on it. */
function step(by: number): void {
  const rows = [...document.querySelectorAll<HTMLElement>(ROWS)];
  const at = rows.indexOf(document.activeElement as HTMLElement);
  const next = at === -1 ? (by > 0 ? 0 : rows.length - 1) : at + by;
  rows[next]?.focus();
}
