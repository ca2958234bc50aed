// The shell's keyboard handling: ⌘K opens the palette (a chunk of its own), `?` the list of
// shortcuts. Until the palette is loaded, a placeholder box takes the typed letters, so that none
// goes to the page.
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
  const [entered, setEntered] = useState(false);
  const close = () => {
    setOpen(null);
    type('');
  };
  const type = (text: string) => {
    setTyped(text);
    setEntered(false);
  };
  const openSheet = useCallback(() => setOpen('sheet'), []);
  // Also while someone types: it produces no letter.
  useHotkeys([['mod+K', () => setOpen('palette')]], []);
  // The first half of ⌘K. If something cannot be fetched now, opening the palette reports it.
  useWindowEvent('keydown', ({ key }) => {
    if (key === 'Meta' || key === 'Control') loadPalette().catch(() => undefined);
  });
  useShortcuts(openSheet);
  useFocusBack(open !== null);
  const box = { typed, onType: type, onEnter: setEntered, onClose: close };
  return (
    <>
      <OnceOpened opened={open === 'palette'} meanwhile={<StandIn {...box} />}>
        <Palette opened={open === 'palette'} entered={entered} {...box} />
      </OnceOpened>
      <OnceOpened opened={open === 'sheet'}>
        <ShortcutSheet opened={open === 'sheet'} onClose={close} />
      </OnceOpened>
    </>
  );
}

export interface BoxProps {
  typed: string;
  onType: (text: string) => void;
  onEnter: (entered: boolean) => void;
  onClose: () => void;
}

/** For the palette, which takes over what was typed, and Enter. */
function StandIn({ typed, onType, onEnter, onClose }: BoxProps) {
  return (
    <div role="dialog" aria-label="Go to" aria-busy="true" className="palette-stand-in">
      <input
        aria-label="Go to"
        autoComplete="off"
        spellCheck={false}
        ref={takeFocus}
        value={typed}
        onChange={(event) => onType(event.currentTarget.value)}
        onKeyDown={({ key }) => {
          if (key === 'Escape') onClose();
          if (key === 'Enter') onEnter(true);
        }}
      />
    </div>
  );
}

const takeFocus = (box: HTMLElement | null): void => box?.focus();
