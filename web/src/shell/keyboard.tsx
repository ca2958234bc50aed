// The keyboard's part of the shell: ⌘K opens the palette (a chunk of its own), `?` the sheet. Until
// the palette is here a box stands in for it, so that no letter goes to the page.
import { useHotkeys, useWindowEvent } from '@mantine/hooks';
import { useCallback, useState } from 'react';
import { useFocusBack } from '../parts/focus-back.ts';
import { later, OnceOpened } from '../parts/later.tsx';
import { useShortcuts } from './shortcuts.ts';

const loadPalette = async () => (await import('./palette.tsx')).Palette;
const Palette = later(loadPalette);
const ShortcutSheet = later(async () => (await import('./shortcut-sheet.tsx')).ShortcutSheet);

export function Keyboard() {
  const [open, setOpen] = useState<'palette' | 'sheet' | null>(null);
  const [typed, setTyped] = useState('');
  const close = () => {
    setOpen(null);
    setTyped('');
  };
  const openSheet = useCallback(() => setOpen('sheet'), []);
  // Also while somebody types: it types nothing.
  useHotkeys([['mod+K', () => setOpen('palette')]], []);
  // The first half of ⌘K. What cannot be fetched now is told when it is opened.
  useWindowEvent('keydown', ({ key }) => {
    if (key === 'Meta' || key === 'Control') loadPalette().catch(() => undefined);
  });
  useShortcuts(openSheet);
  useFocusBack(open !== null);
  const box = { typed, onType: setTyped, onClose: close };
  return (
    <>
      <OnceOpened opened={open === 'palette'} meanwhile={<StandIn {...box} />}>
        <Palette opened={open === 'palette'} {...box} />
      </OnceOpened>
      <OnceOpened opened={open === 'sheet'}>
        <ShortcutSheet opened={open === 'sheet'} onClose={close} />
      </OnceOpened>
    </>
  );
}

interface StandInProps {
  typed: string;
  onType: (text: string) => void;
  onClose: () => void;
}

/** For the palette, which takes over what was typed. */
function StandIn({ typed, onType, onClose }: StandInProps) {
  return (
    <div role="dialog" aria-label="Go to" aria-busy="true" className="palette-stand-in">
      <input
        aria-label="Go to"
        autoComplete="off"
        spellCheck={false}
        ref={takeFocus}
        value={typed}
        onChange={(event) => onType(event.currentTarget.value)}
        onKeyDown={({ key }) => key === 'Escape' && onClose()}
      />
    </div>
  );
}

const takeFocus = (box: HTMLElement | null): void => box?.focus();
