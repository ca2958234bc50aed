// The keyboard's part of the shell: ⌘K opens the palette (a chunk of its own), `?` the sheet.
import { useHotkeys } from '@mantine/hooks';
import { useCallback, useState } from 'react';
import { later, OnceOpened } from '../parts/later.tsx';
import { useShortcuts } from './shortcuts.ts';

const Palette = later(async () => (await import('./palette.tsx')).Palette);
const ShortcutSheet = later(async () => (await import('./shortcut-sheet.tsx')).ShortcutSheet);

export function Keyboard() {
  const [open, setOpen] = useState<'palette' | 'sheet' | null>(null);
  const close = () => setOpen(null);
  const openSheet = useCallback(() => setOpen('sheet'), []);
  // Also while somebody types: it types nothing.
  useHotkeys([['mod+K', () => setOpen('palette')]], []);
  useShortcuts(openSheet);
  return (
    <>
      <OnceOpened opened={open === 'palette'}>
        <Palette opened={open === 'palette'} onClose={close} />
      </OnceOpened>
      <OnceOpened opened={open === 'sheet'}>
        <ShortcutSheet opened={open === 'sheet'} onClose={close} />
      </OnceOpened>
    </>
  );
}
