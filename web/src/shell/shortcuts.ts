// Keyboard shortcuts of the whole app, and what each does. The sheet (`?`) shows this list;
// palette.tsx handles ⌘K. None works while someone types, and none overrides a key of the browser.
import { useNavigate } from '@tanstack/react-router';
import { useEffect } from 'react';
import { focusOn } from '../parts/focus-back.ts';
import { ROW, ROWS } from '../parts/row.ts';

export const SHORTCUTS: { keys: string[]; what: string }[] = [
  { keys: ['⌘ K', 'Ctrl K'], what: 'Find a page, an action or anything with a name' },
  { keys: ['/'], what: 'Search on this page, otherwise in messages' },
  { keys: ['j', 'k'], what: 'The next and the previous row of a list' },
  { keys: ['Enter'], what: 'Open the row' },
  { keys: ['?'], what: 'This list' },
];

/** What a table row leads to. */
const OPENS = 'a[href], [aria-haspopup], [aria-expanded]';
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
        Enter: wayIn(event.target),
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

/** The focus itself marks the row, so that Enter, screen readers and the mouse agree. */
function step(by: number): void {
  const rows = [...document.querySelectorAll<HTMLElement>(ROWS)];
  const at = rows.indexOf(document.activeElement?.closest<HTMLElement>(ROW) as HTMLElement);
  const next = rows[at === -1 ? (by > 0 ? 0 : rows.length - 1) : at + by];
  if (next) focusOn(next);
}

/** Links and buttons handle Enter themselves; any other row opens the link inside it. */
function wayIn(at: EventTarget | null): (() => void) | undefined {
  if (!(at instanceof HTMLElement) || !at.matches(ROWS) || at.matches('a, button'))
    return undefined;
  const way = at.querySelector<HTMLElement>(OPENS);
  return way ? () => way.click() : undefined;
}
